from __future__ import annotations

import _thread
import importlib.util
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dcu_asv_ext
from dcu_asv_ext.devices.holders import NO_LINE
from dcu_asv_ext.devices.places import Places, short_path

TORCH = SimpleNamespace(__file__="/opt/vendor/torch/__init__.py")


def frame(filename: str, line: int = 7, name: str = "f") -> dict[str, Any]:
    return {"filename": filename, "line": line, "name": name}


def test_the_line_that_runs_and_its_function() -> None:
    def inner() -> str:
        return Places(TORCH).here(threading.get_ident())

    here = inner()
    name, rest = here.split(":")
    assert name.endswith("devices/test_places.py") and name.count("/") == 2
    assert rest == f"{inner.__code__.co_firstlineno + 1} in inner"


def test_torchs_frames_this_packages_and_importlibs_are_passed_over() -> None:
    ours = os.path.join(os.path.dirname(os.path.abspath(dcu_asv_ext.__file__)), "devices", "operators.py")
    frames = [
        frame(ours),
        frame("/opt/vendor/torch/nn/functional.py", 3, "relu"),
        frame("<frozen importlib._bootstrap>"),
        frame("<eval_with_key>.0"),
        frame("/home/alice/bench.py", 12, "step"),
        frame("/home/alice/main.py", 1, "<module>"),
    ]
    places = Places(TORCH)
    assert places.of(frames) == "bench.py:12 in step"
    assert places.function_of(frames) == "functional.py relu"
    assert places.function_of(frames[4:]) == ""
    assert places.of(frames[:4]) == NO_LINE and places.of([]) == NO_LINE


def test_a_neighbour_of_torch_is_not_torch() -> None:
    assert Places(TORCH).of([frame("/opt/vendor/torchvision/ops.py")]) == "ops.py:7 in f"


class Recording(Places):
    """Answers into a list, so that a thread can run `here` and nothing else."""

    def __init__(self, torch: Any) -> None:
        super().__init__(torch)
        self._ours = (*self._ours, os.path.abspath(__file__))
        self.told: list[str] = []
        self.done = _thread.allocate_lock()
        self.done.acquire()

    def here(self, thread: int) -> str:
        self.told.append(super().here(thread))
        self.done.release()
        return ""


def test_a_thread_without_python_lines_is_where_the_calling_thread_is() -> None:
    places = Recording(TORCH)
    code = compile("start(places.here, (caller,))\nplaces.done.acquire(True, 60)\n", "/x/backward.py", "exec")
    caller = threading.get_ident()
    exec(code, {"start": _thread.start_new_thread, "places": places, "caller": caller})
    (told,) = places.told
    assert told in ("backward.py:1 in <module>", "backward.py:2 in <module>")


@pytest.mark.parametrize(
    ("name", "file", "short"),
    [
        ("benchmarks.deep.matmul", "benchmarks/deep/matmul.py", "benchmarks/deep/matmul.py"),
        ("a.b.c.d", "a/b/c/d.py", "b/c/d.py"),
        ("package", "package/__init__.py", "package/__init__.py"),
        ("__main__", "alice/secret/run.py", "run.py"),
    ],
)
def test_folders_are_those_of_the_package(
    name: str, file: str, short: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.write_text("")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    monkeypatch.setitem(sys.modules, name, importlib.util.module_from_spec(spec))
    assert short_path(str(path)) == short


def test_a_file_that_is_no_module_is_named_alone(tmp_path: Path) -> None:
    assert short_path(str(tmp_path / "alice" / "script.py")) == "script.py"
