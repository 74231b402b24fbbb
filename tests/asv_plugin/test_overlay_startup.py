"""The start-up module, in interpreters of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcu_asv_ext.asv_plugin import install, overlay_startup
from dcu_asv_ext.asv_plugin.overlay_startup import ProjectFinder

from .overlay_project import write

SOURCE = Path(overlay_startup.__file__).read_text()
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="parent death is told by Linux only")

FRONT_HOOK = """
    import sys
    from importlib.util import spec_from_file_location

    class Hook:
        def find_spec(self, name, path=None, target=None):
            if name in {names!r}:
                return spec_from_file_location(name, {folder!r} + "/" + name.rpartition(".")[2] + ".py")

    sys.meta_path.insert(0, Hook())
"""


def run(tmp_path: Path, arguments: str, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """`code` after `start(arguments)`, in a process that sees `tmp_path/site` as its first site-packages."""
    site = tmp_path / "site"
    site.mkdir(exist_ok=True)
    (site / "_dcu_overlay.py").write_text(f"{SOURCE}\n\nstart({arguments})\n")
    program = f"import sys; sys.path.append({str(site)!r})\nimport _dcu_overlay\n{code}"
    return subprocess.run(
        [sys.executable, "-S", "-I", "-c", program],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_parents_pth_files_count_and_its_packages_stand_behind(tmp_path: Path) -> None:
    write(
        tmp_path, {"site/both.py": "WHO = 'commit'", "parent/both.py": "WHO = 'parent'", "parent/only.py": ""}
    )
    write(tmp_path, {"elsewhere/editable_one.py": "", "parent/e.pth": f"{tmp_path}/elsewhere\n"})
    out = run(
        tmp_path,
        f"parents=({str(tmp_path / 'parent')!r},)",
        "import both, only, editable_one; print(both.WHO)",
    )
    assert (out.stdout, out.stderr) == ("commit\n", "")


def test_a_front_import_hook_of_the_parent_does_not_lend_the_project(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    write(tmp_path, {"site/proj/__init__.py": "", "site/proj/old.py": "WHO = 'commit'"})
    write(tree, {"proj.py": "WHO = 'tree'", "old.py": "WHO = 'tree'", "new.py": "WHO = 'tree'"})
    hook = FRONT_HOOK.format(names={"proj", "proj.old", "proj.new"}, folder=str(tree))
    write(tmp_path, {"parent/_hook.py": hook, "parent/h.pth": "import _hook\n"})
    code = """
import proj.old
print(proj.old.WHO)
try:
    import proj.new
except ModuleNotFoundError as error:
    print("absent", error.name)
"""
    out = run(tmp_path, f"parents=({str(tmp_path / 'parent')!r},), own=('proj',)", code)
    assert (out.stdout, out.stderr) == ("commit\nabsent proj.new\n", "")


def test_a_front_import_hook_stands_behind_the_normal_finders_for_any_name(tmp_path: Path) -> None:
    write(tmp_path, {"site/other.py": "WHO = 'commit'", "tree/other.py": "WHO = 'tree'", "tree/extra.py": ""})
    hook = FRONT_HOOK.format(names={"other", "extra"}, folder=str(tmp_path / "tree"))
    write(tmp_path, {"parent/_hook.py": hook, "parent/h.pth": "import _hook\n"})
    out = run(tmp_path, f"parents=({str(tmp_path / 'parent')!r},)", "import other, extra; print(other.WHO)")
    assert (out.stdout, out.stderr) == ("commit\n", "")


def test_the_distutils_of_setuptools_stays_in_front(tmp_path: Path) -> None:
    hack = "import sys\nclass Finder:\n    def find_spec(self, name, path=None, target=None): return None\n"
    write(tmp_path, {"parent/_distutils_hack.py": hack + "sys.meta_path.insert(0, Finder())\n"})
    write(tmp_path, {"parent/d.pth": "import _distutils_hack\n"})
    code = "print([type(f).__name__ for f in sys.meta_path[:2]])"
    out = run(tmp_path, f"parents=({str(tmp_path / 'parent')!r},)", code)
    assert out.stdout == "['ProjectFinder', 'Finder']\n", out.stderr


def test_names_that_only_the_parents_copy_has_are_not_importable(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"site/proj.py": "", "parent/gone.py": "", "parent/ns/gone.py": "", "parent/ns/stays.py": ""},
    )
    code = """
import ns.stays
for name in ("gone", "ns.gone"):
    try:
        __import__(name)
        print("found", name)
    except ModuleNotFoundError as error:
        print("absent", error.name)
"""
    arguments = f"parents=({str(tmp_path / 'parent')!r},), own=('proj',), withheld=('gone', 'ns.gone')"
    assert run(tmp_path, arguments, code).stdout == "absent gone\nabsent ns.gone\n"


def test_a_pth_that_imports_a_withheld_module_does_not_complain(tmp_path: Path) -> None:
    write(tmp_path, {"parent/gone.py": "", "parent/g.pth": "import gone\n"})
    out = run(tmp_path, f"parents=({str(tmp_path / 'parent')!r},), withheld=('gone',)", "print('fine')")
    assert (out.stdout, out.stderr) == ("fine\n", "")


def test_folders_of_the_parents_editable_install_leave_the_path(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"tree/leftover.py": "", "other/kept.py": "", "parent/x.pth": f"{tmp_path}/tree\n{tmp_path}/other\n"},
    )
    arguments = f"parents=({str(tmp_path / 'parent')!r},), dropped=({str(tmp_path / 'tree')!r},)"
    out = run(tmp_path, arguments, "import kept, leftover")
    assert "No module named 'leftover'" in out.stderr


def test_order_sources_then_pythonpath_then_parent(tmp_path: Path) -> None:
    for folder in ("sources", "given", "parent"):
        write(tmp_path, {f"{folder}/{name}.py": f"WHO = {folder!r}" for name in ("a", "b", "c")})
    (tmp_path / "sources" / "b.py").unlink()
    (tmp_path / "sources" / "c.py").unlink()
    (tmp_path / "given" / "c.py").unlink()
    arguments = ", ".join(
        f"{name}=({str(tmp_path / folder)!r},)"
        for name, folder in (("sources", "sources"), ("inherited", "given"), ("parents", "parent"))
    )
    out = run(tmp_path, arguments, "import a, b, c; print(a.WHO, b.WHO, c.WHO)")
    assert out.stdout == "sources given parent\n", out.stderr


def test_a_project_may_add_finders_of_its_own_later(tmp_path: Path) -> None:
    write(tmp_path, {"site/proj/__init__.py": "", "late/made.py": "WHO = 'late'"})
    hook = FRONT_HOOK.format(names={"proj.made"}, folder=str(tmp_path / "late"))
    write(tmp_path, {"site/_late.py": hook.replace("insert(0, Hook())", "append(Hook())")})
    out = run(tmp_path, "own=('proj',)", "import _late, proj.made; print(proj.made.WHO)")
    assert out.stdout == "late\n", out.stderr


def test_names_of_others_are_none_of_its_business() -> None:
    finder = ProjectFinder(own=("proj",), withheld=("gone",))
    assert finder.find_spec("project") is None
    assert finder.find_spec("json") is None
    with pytest.raises(ModuleNotFoundError):
        finder.find_spec("gone.deep.inside")


@linux
def test_a_child_of_asv_dies_with_it(tmp_path: Path) -> None:
    (tmp_path / "_dcu_overlay.py").write_text(f"{SOURCE}\n\nstart()\n")
    child = f"import sys, time; sys.path.append({str(tmp_path)!r}); import _dcu_overlay\n"
    child += "print('up', flush=True); time.sleep(60)"
    parent = (
        "import os, subprocess, sys\n"
        "os.environ['DCU_ASV_PARENT_PID'] = str(os.getpid())\n"
        f"p = subprocess.Popen([sys.executable, '-c', {child!r}], stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True); p.wait()\n"
    )
    asv = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    assert asv.stdout is not None
    pid = int(asv.stdout.readline())
    assert overlay_startup._alive(pid)
    asv.kill()
    asv.wait()
    assert ended(pid)


def ended(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while overlay_startup._alive(pid):
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            return False
        time.sleep(0.02)
    return True


@linux
def test_a_process_that_outlives_asv_ends_at_once(tmp_path: Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    out = run(tmp_path, "", "print('ran')", DCU_ASV_PARENT_PID=str(gone.pid))
    assert (out.returncode, out.stdout) == (overlay_startup.ORPHANED, "")


@linux
def test_a_process_that_asv_did_not_start_itself_is_left_alone(tmp_path: Path) -> None:
    code = "import ctypes; d = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(d)); print(d.value)"
    out = run(tmp_path, "", code, DCU_ASV_PARENT_PID=str(os.getppid()))
    assert (out.returncode, out.stdout) == (0, "0\n")
    out = run(tmp_path, "", code, DCU_ASV_PARENT_PID=str(os.getpid()))
    assert (out.returncode, out.stdout) == (0, "9\n")


@linux
def test_a_fork_of_the_fork_server_is_armed_and_its_own_forks_are_not(tmp_path: Path) -> None:
    (tmp_path / "_dcu_overlay.py").write_text(f"{SOURCE}\n\nstart()\n")
    server = f"""
import ctypes, os, sys
sys.path.append({str(tmp_path)!r})
import _dcu_overlay
def signal():
    told = ctypes.c_int()
    ctypes.CDLL(None).prctl(2, ctypes.byref(told))
    return told.value
def fork(depth):
    pid = os.fork()
    if pid == 0:
        print(depth, signal(), flush=True)
        if depth == 1:
            fork(2)
        os._exit(0)
    os.waitpid(pid, 0)
fork(1)
"""
    (tmp_path / "benchmark.py").write_text(server)
    out = subprocess.run(
        [sys.executable, str(tmp_path / "benchmark.py"), "run_server"],
        env={**os.environ, "DCU_ASV_PARENT_PID": str(os.getpid())},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert out.stdout == "1 9\n2 0\n", out.stderr


@linux
def test_start_up_costs_under_5_ms(tmp_path: Path) -> None:
    install.write_startup(tmp_path, {"own": ("proj",)})
    program = f"""
import sys, time
sys.path.insert(0, {str(tmp_path)!r})
begin = time.process_time()
import _dcu_overlay
print(time.process_time() - begin)
"""
    environ = {**os.environ, "DCU_ASV_PARENT_PID": str(os.getpid())}
    costs: list[float] = []
    while len(costs) < 20 and min(costs, default=1.0) >= 0.005:
        costs.append(float(subprocess.check_output([sys.executable, "-c", program], env=environ, text=True)))
    assert min(costs) < 0.005, costs
