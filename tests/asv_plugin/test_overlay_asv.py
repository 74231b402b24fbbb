"""asv's own commands in the overlay environment, on real small repositories."""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import pytest
from asv.util import UserError

from dcu_asv_ext.asv_plugin import overlay_startup
from dcu_asv_ext.asv_plugin.overlay import OverlayEnvironment, platform_entries, running_python

from .overlay_project import SETUPTOOLS, Project, valued, write

pytestmark = pytest.mark.e2e

SUITE = """
    import os, tinyproj

    def track_value():
        return tinyproj.value()

    def track_environment():
        here = os.path.dirname(os.path.dirname(tinyproj.__file__))
        inside = here.startswith(os.environ["ASV_ENV_DIR"]) and os.environ["ASV_COMMIT"][:12] in here
        return 1 if inside and os.environ["COLOUR"] == "red" and os.environ["SHADE"] == "dark" else 0
"""
MATRIX = {"env": {"COLOUR": ["red"]}, "env_nobuild": {"SHADE": ["dark"]}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, str, str]:
    """Two commits of a setuptools project, run once."""
    project = Project(tmp_path_factory.mktemp("shared"))
    project.commit({"readme.md": "the root, so that a range reaches the first"})
    one, two = project.commit(valued(1)), project.commit(valued(2))
    project.benchmarks(SUITE)
    project.configure(matrix=MATRIX)
    project.asv("run", f"{one}^..{two}")
    return project, one, two


def test_each_commit_is_measured_and_filed_with_its_platform(shared: tuple[Project, str, str]) -> None:
    project, one, two = shared
    first, second = project.results(one), project.results(two)
    assert (first["track_value"], second["track_value"]) == (1, 2)
    assert (first["track_environment"], second["track_environment"]) == (1, 1)
    entries = platform_entries()
    assert entries
    assert first["requirements"] == entries
    assert {**first["params"], **entries, "python": running_python()} == first["params"]
    assert all(f"{name}{value}" in first["env_name"] for name, value in entries.items())


def test_an_installed_commit_is_not_installed_again(shared: tuple[Project, str, str]) -> None:
    project, one, two = shared
    before = {c: (project.env(c) / "installed.json").stat().st_mtime_ns for c in (one, two)}
    project.asv("run", f"{one}^..{two}", "--interleave-rounds", "-a", "rounds=2")
    assert before == {c: (project.env(c) / "installed.json").stat().st_mtime_ns for c in (one, two)}
    assert (project.results(one)["track_value"], project.results(two)["track_value"]) == (1, 2)


def test_parallel_builds_are_measured_where_they_were_built(shared: tuple[Project, str, str]) -> None:
    """asv builds in worker processes and measures in its own."""
    project, one, two = shared
    project.configure(matrix=MATRIX, env_dir="env_parallel", results_dir="results/parallel")
    try:
        project.asv("run", f"{one}^..{two}", "--parallel", "2")
    finally:
        project.configure(matrix=MATRIX)
    project_results = project.suite / "results" / "parallel" / "box"
    values = {p.name[:8]: p.read_text() for p in project_results.glob("*-*.json")}
    assert '"suite.track_value": [[1]' in values[one[:8]]
    assert '"suite.track_value": [[2]' in values[two[:8]]
    assert not list((project.suite / "env_parallel").glob("*/.active-*"))


def test_find_check_and_profile(shared: tuple[Project, str, str]) -> None:
    project, one, two = shared
    assert two[:8] in project.asv("find", f"{one}..{two}", "suite.track_value", "--skip-save")
    assert "No problems found" in project.asv("check")
    assert "track_value" in project.asv("profile", "suite.track_value", one)


def test_an_interrupted_install_is_redone(tmp_path: Path, shared: tuple[Project, str, str]) -> None:
    project, one, _ = shared
    (project.env(one) / "installed.json").unlink()
    module = next(project.env(one).glob("lib/*/site-packages/tinyproj/__init__.py"))
    module.write_text("def value(): return 99\n")
    (project.base() / "project" / ".git" / "index.lock").write_text("")  # killed during the checkout
    project.asv("run", f"{one}^!")
    assert project.results(one)["track_value"] == 1


def test_two_runs_at_once_share_one_checkout(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.commit({"readme.md": ""})
    commits = [project.commit({"tinyproj.py": f"def value(): return {value}\n"}) for value in (1, 2)]
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    project.configure()
    (project.suite / "results" / "box").mkdir(parents=True)
    runs = []
    for commit in commits:
        # Two asv that share a home, or make the results folder together, trip over each other before they come here.
        home = shutil.copytree(project.home, tmp_path / f"home-{commit}")
        runs.append(project.start("run", "--dry-run", "-v", f"{commit}^!", HOME=str(home)))
    outs = [run.communicate(timeout=120)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], "\n".join(outs)
    for out, value in zip(outs, (1, 2), strict=True):
        assert any("track_value" in line and line.split()[-1] == str(value) for line in out.splitlines()), out


def test_hatchling_and_a_subfolder(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    project = Project(tmp_path)
    build = """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [project]
        name = "tinyproj"
        version = "0.1"
    """
    commit = project.commit(
        {"python/pyproject.toml": build, "python/src/tinyproj/__init__.py": "def value(): return 7\n"}
    )
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    project.configure(repo_subdir="python")
    project.asv("run")
    assert project.results(commit)["track_value"] == 7


def test_sources_without_packaging_flat_and_in_src(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.commit({"readme.md": ""})
    flat = project.commit(
        {"pyproject.toml": "[tool.ruff]\n", "tinyproj/__init__.py": "def value(): return 1\n"}
    )
    inner = project.commit({"src/tinyproj.py": "def value(): return 2\n"}, remove=("tinyproj",))
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    project.configure()
    project.asv("run", f"{flat}^..{inner}")
    assert [project.results(c)["track_value"] for c in (flat, inner)] == [1, 2]
    assert not (project.env(flat) / "sources" / ".git").exists()


def test_a_commit_that_cannot_be_built_fails_alone_with_a_sentence(tmp_path: Path) -> None:
    project = Project(tmp_path)
    build = "[build-system]\nrequires = ['no-such-builder>=3']\nbuild-backend = 'no_such_builder.api'\n"
    bad = project.commit({"pyproject.toml": build})
    good = project.commit({"tinyproj.py": "def value(): return 5\n"}, remove=("pyproject.toml",))
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    project.configure()
    out = project.asv("run", "ALL", code=2)
    assert f"commit {bad[:8]} is built by 'no_such_builder.api', which is not installed beside asv" in out
    assert "pip install 'no-such-builder>=3'" in out
    assert project.results(good)["track_value"] == 5
    assert project.results(bad)["track_value"] is None


def test_commands_of_the_configuration_win(tmp_path: Path) -> None:
    project = Project(tmp_path)
    commit = project.commit(
        {"tool.py": "import sys; open(sys.argv[1] + '/' + sys.argv[2], 'w').write('def value(): return 3')"}
    )
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    place = f"{{env_dir}}/lib/python{running_python()}/site-packages"
    project.configure(install_command=[f"python tool.py {place} tinyproj.py"])
    project.asv("run")
    assert project.results(commit)["track_value"] == 3


def test_an_editable_install_command_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.commit(valued(1))
    project.benchmarks("def track_one(): return 1")
    project.configure(
        install_command=["python -m pip install -q --no-deps --no-build-isolation --no-index -e {build_dir}"]
    )
    out = project.asv("run", code=1)
    assert "take -e (--editable) out of install_command" in out


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"matrix": {"req": {"numpy": ["1.26"]}}}, 'asks for numpy, but the overlay environment installs nothing'),
        ({"matrix": {"numpy": []}}, '"matrix" asks for numpy'),
        ({"pythons": ["2.7"]}, "cannot offer '2.7': set \"pythons\""),
        ({"dcu": {"keep_environments": 0}}, '"keep_environments" must be'),
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_refused(tmp_path: Path, settings: dict[str, object], sentence: str) -> None:
    project = Project(tmp_path)
    project.commit(valued(1))
    project.benchmarks("def track_one(): return 1")
    project.configure(**settings)
    out = project.asv("run", code=1)
    assert sentence in out
    assert "Traceback" not in out
    assert not (project.suite / "results" / "box").exists() or not list(
        project.suite.glob("results/box/*-*.json")
    )


def test_a_copy_in_front_of_the_commits_own_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.commit({"tinyproj.py": "def value(): return 1\n"})
    write(tmp_path / "copy", {"tinyproj.py": "def value(): return 99\n"})
    project.benchmarks("import tinyproj\ndef track_value(): return tinyproj.value()")
    project.configure()
    out = project.asv("run", code=1, ASV_PYTHONPATH=str(tmp_path / "copy"))
    assert (
        f"would be imported from {tmp_path / 'copy' / 'tinyproj.py'}, not from the commit's own environment"
        in out
    )


def test_a_project_that_is_this_package_is_measured_from_its_commit(tmp_path: Path) -> None:
    project = Project(tmp_path)
    build = SETUPTOOLS.replace('"tinyproj"', '"dcu_asv_ext"', 2).replace(
        'name = "dcu_asv_ext"', 'name = "dcu-asv-ext"'
    )
    commit = project.commit({"pyproject.toml": build, "dcu_asv_ext/__init__.py": "def value(): return 4\n"})
    project.benchmarks("""
        import dcu_asv_ext

        def track_value():
            return dcu_asv_ext.value()

        def track_other_modules():
            try:
                import dcu_asv_ext.metrics
            except ModuleNotFoundError:
                return 0
            return 1
    """)
    project.configure()
    project.asv("run")
    found = project.results(commit)
    assert (found["track_value"], found["track_other_modules"]) == (4, 0)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="parent death is told by Linux only")
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_no_benchmark_survives_a_killed_asv(
    tmp_path: Path, shared: tuple[Project, str, str], method: str
) -> None:
    project, one, _ = shared
    note = tmp_path / "pid"
    project.benchmarks(f"""
        import os, time

        def track_long():
            with open({str(note)!r} + ".new", "w") as file:
                file.write(str(os.getpid()))
            os.rename({str(note)!r} + ".new", {str(note)!r})
            time.sleep(60)
    """)
    process = project.start("run", f"{one}^!", "--dry-run", "--launch-method", method, "-b", "long")
    try:
        deadline = time.monotonic() + 60
        while not note.exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.02)
    finally:
        process.kill()
        process.communicate(timeout=60)
        project.benchmarks(SUITE)
    pid = int(note.read_text())
    deadline = time.monotonic() + 10
    while overlay_startup._alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    alive = overlay_startup._alive(pid)
    if alive:
        os.kill(pid, 9)
    assert not alive


def test_activating_an_installed_commit_is_quick(
    shared: tuple[Project, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from asv.config import Config
    from asv.repo import get_repo

    project, one, two = shared
    monkeypatch.chdir(project.suite)
    monkeypatch.setenv("PYTHONPATH", project.environ["PYTHONPATH"])
    conf = Config.load("asv.conf.json")
    env = OverlayEnvironment(
        conf, running_python(), {}, {("build", "COLOUR"): "red", ("nobuild", "SHADE"): "dark"}
    )
    repo = get_repo(conf)
    assert OverlayEnvironment(conf, "same", {}, {}).python == env.python == running_python()
    with pytest.raises(OSError, match="python"):
        env.find_executable("python")
    env.install_project(conf, repo, one)  # its checks, and a start-up module as this interpreter wants it
    assert env.find_executable("python").startswith(str(project.env(one)))
    times = []
    for commit in (two, one) * 4:
        begin = time.perf_counter()
        env.install_project(conf, repo, commit)
        times.append(time.perf_counter() - begin)
        assert env.installed_commit_hash == commit
    assert min(times) < 0.02, times


def test_a_configuration_without_requirements_only() -> None:
    class Conf:
        env_dir, repo, repo_subdir, project = "env", "", "", "x"

    with pytest.raises(UserError, match="asks for scipy"):
        OverlayEnvironment(Conf(), running_python(), {"scipy": ""}, {})
