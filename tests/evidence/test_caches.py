"""Where compilers' caches lie for one measurement, and whether they were used."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from dcu_asv_ext.evidence.caches import CACHE_VARIABLES, listing, prepare, user_folders, variables


def test_a_session_has_folders_of_its_own(tmp_path: Path) -> None:
    environ = {"TRITON_CACHE_DIR": "/home/somebody/cache", "OTHER": "kept"}
    root = tmp_path / "not" / "yet" / "there"
    state = prepare("session", root, {}, environ)
    assert environ == {**variables(root), "OTHER": "kept"}
    assert set(variables(root)) == set(CACHE_VARIABLES)
    assert all(Path(value).is_relative_to(root) for value in variables(root).values())
    assert state.was_empty and state.record() == {"mode": "session", "was_empty": True, "wrote": False}


def test_files_written_meanwhile_are_noticed(tmp_path: Path) -> None:
    state = prepare("session", tmp_path, {}, {})
    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "kernel").write_text("x")
    assert state.record()["wrote"] is True and state.was_empty
    later = prepare("session", tmp_path, {}, {})
    assert not later.was_empty and later.record()["wrote"] is False
    (tmp_path / "triton" / "kernel").write_text("longer")
    assert later.record()["wrote"] is True


def test_which_caches_were_written_to_is_told(tmp_path: Path) -> None:
    environ: dict[str, str] = {}
    state = prepare("session", tmp_path, {}, environ)
    assert state.written() == []
    assert Path(environ["PYTORCH_KERNEL_CACHE_PATH"]).is_dir(), "torch keeps nothing where there is no folder"
    for name, file in (("MIOPEN_USER_DB_PATH", "find.db"), ("TRITON_CACHE_DIR", "deep/kernel")):
        path = Path(environ[name]) / file
        path.parent.mkdir(parents=True)
        path.write_text("x")
    Path(environ["PYTORCH_TUNABLEOP_FILENAME"] % 0).write_text("x")
    assert state.written() == ["triton", "miopen/db", "tunableop"]
    assert prepare("session", tmp_path, {}, {}).written() == []


def test_which_of_the_user_s_caches_were_written_to_is_told(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor")}
    state = prepare("shared", None, {}, environ)
    (tmp_path / ".nv" / "ComputeCache").mkdir(parents=True)
    (tmp_path / ".nv" / "ComputeCache" / "index").write_text("x")
    assert state.written() == ["nv"]


def test_fresh_is_empty_every_time(tmp_path: Path) -> None:
    root = tmp_path / "session"
    places = []
    for _ in range(2):
        environ: dict[str, str] = {}
        assert prepare("fresh", root, {}, environ).was_empty
        place = Path(environ["TRITON_CACHE_DIR"])
        place.mkdir(parents=True)
        (place / "kernel").write_text("x")
        places.append(place)
    assert places[0] != places[1] and all(place.is_relative_to(root) for place in places)


def test_a_folder_of_this_process_alone_goes_with_the_process(tmp_path: Path) -> None:
    code = (
        "import os; from dcu_asv_ext.evidence.caches import prepare; prepare('session', None, {}, os.environ);"
        "print(os.environ['TRITON_CACHE_DIR'])"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={"TMPDIR": str(tmp_path)}, capture_output=True, text=True, check=True)
    assert Path(done.stdout.strip()).is_relative_to(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_shared_gives_the_user_s_own_back(tmp_path: Path) -> None:
    environ = {**variables(tmp_path), "HOME": str(tmp_path / "home")}
    user = dict.fromkeys(CACHE_VARIABLES) | {"TRITON_CACHE_DIR": str(tmp_path / "mine")}
    state = prepare("shared", tmp_path, user, environ)
    assert environ == {"HOME": str(tmp_path / "home"), "TRITON_CACHE_DIR": str(tmp_path / "mine")}
    assert state.mode == "shared" and tmp_path / "mine" in state.folders


def test_shared_leaves_alone_what_nobody_tells_it_of(tmp_path: Path) -> None:
    environ = {"TRITON_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}
    prepare("shared", None, {}, environ)
    assert environ == {"TRITON_CACHE_DIR": str(tmp_path), "HOME": str(tmp_path)}


def test_user_folders_follow_home_and_variables(tmp_path: Path) -> None:
    found = user_folders({"HOME": str(tmp_path), "USER": "somebody", "CUDA_CACHE_PATH": str(tmp_path / "nv")})
    assert found["TRITON_CACHE_DIR"] == tmp_path / ".triton" / "cache"
    assert found["CUDA_CACHE_PATH"] == tmp_path / "nv"
    assert found["PYTORCH_KERNEL_CACHE_PATH"] == tmp_path / ".cache" / "torch" / "kernels"
    assert found["TORCHINDUCTOR_CACHE_DIR"].name == "torchinductor_somebody"


def test_a_folder_that_is_not_there_lists_nothing(tmp_path: Path) -> None:
    assert listing([tmp_path / "no"]) == {}
    (tmp_path / "a").write_text("x")
    assert list(listing([tmp_path, tmp_path / "no"])) == [str(tmp_path / "a")]
    shutil.rmtree(tmp_path)
    assert listing([tmp_path]) == {}
