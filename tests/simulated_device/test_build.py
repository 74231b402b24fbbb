"""The builder's cache, lock and errors, with a script in the compiler's place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from . import build

COMPILER = """#!/bin/sh
if [ "$1" = --version ]; then echo "compiler ${FAKE_VERSION:-1}"; exit 0; fi
echo "$@" >> "$(dirname "$0")/calls"
while [ "$1" != -o ]; do shift; done
sleep 0.3
echo library > "$2"
"""


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and a compiler that writes each call into this file."""
    compiler = tmp_path / "compiler"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("DCU_ASV_SIM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "calls"


def test_a_library_is_built_once_for_each_form(calls: Path) -> None:
    sim, cuda = build.build("sim"), build.build("cuda")
    assert sim.read_text() == "library\n" and sim != cuda
    assert build.build("sim") == sim
    first, second = calls.read_text().splitlines()
    assert "-DSIM_AS_CUDA" not in first and "-DSIM_AS_CUDA" in second


def test_a_change_of_source_compiler_or_flags_builds_anew(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "src"
    sources.mkdir()
    (sources / "simdev.cpp").write_text("int one;")
    monkeypatch.setattr(build, "SOURCES", sources)
    keys = {build.fingerprint("sim")}
    (sources / "part.h").write_text("int two;")
    keys.add(build.fingerprint("sim"))
    monkeypatch.setenv("FAKE_VERSION", "2")
    keys.add(build.fingerprint("sim"))
    monkeypatch.setattr(build, "FLAGS", (*build.FLAGS, "-O2"))
    keys.add(build.fingerprint("sim"))
    torch = tmp_path / "torch"
    torch.mkdir()
    (torch / "version.py").write_text("__version__ = '9'")
    monkeypatch.setattr(build, "torch_folder", lambda: torch)
    keys.add(build.fingerprint("sim"))
    assert len(keys) == 5
    assert build.fingerprint("sim") in keys and not calls.exists()


def test_two_processes_build_it_once(calls: Path) -> None:
    command = [sys.executable, str(Path(build.__file__)), "sim"]
    builders = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    said = {builder.communicate(timeout=30)[0] for builder in builders}
    assert len(said) == 1 and Path(said.pop().strip()).exists()
    assert len(calls.read_text().splitlines()) == 1


def test_a_failing_build_raises_with_the_compiler_s_words_and_leaves_nothing(
    calls: Path, tmp_path: Path
) -> None:
    (tmp_path / "compiler").write_text(
        '#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "simdev.cpp:1: no good" >&2; exit 1\n'
    )
    with pytest.raises(build.BuildError, match=r"\(sim\) does not build:\n.*simdev.cpp -o(.|\n)*: no good"):
        build.build("sim")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["sim.lock"]


def test_without_a_compiler_it_says_what_to_install(calls: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler -O0")
    with pytest.raises(build.BuildError, match="there is no 'no-such-compiler': install g"):
        build.build("sim")


def test_the_command_line_reports_errors(
    calls: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build.main(["sim"]) == 0
    assert capsys.readouterr().out.strip() == str(build.build("sim"))
    assert build.main(["rocm"]) == 1
    assert "no form 'rocm'" in capsys.readouterr().err
