"""A snapshot holds what the working tree holds, and leaves the repository as it was."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dcu_asv_ext.daily import snapshot
from dcu_asv_ext.daily.snapshot import SnapshotError, take_snapshot


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
        self.environ.update(GIT_CONFIG_NOSYSTEM="1", HOME=str(root.parent))
        root.mkdir()
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *arguments: str, check: bool = True) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"]
        done = subprocess.run(
            ["git", *who, *arguments],
            cwd=self.root,
            env=self.environ,
            capture_output=True,
            text=True,
            check=check,
        )
        return done.stdout.strip()

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: dict[str, str]) -> str:
        self.write(files)
        self.git("add", "-A")
        self.git("commit", "-qm", "work")
        return self.git("rev-parse", "HEAD")

    def state(self) -> tuple[str, ...]:
        """All that a user would notice."""
        status = self.git("status", "--porcelain=v2", "--branch")
        staged = self.git("diff", "--cached")
        return status, staged, self.git("for-each-ref"), self.git("stash", "list"), self.git("reflog")

    def files(self, commit: str) -> set[str]:
        return set(self.git("ls-tree", "-r", "--name-only", commit).splitlines())

    def take(self, *leave_out: Path) -> snapshot.Snapshot:
        before = self.state()
        taken = take_snapshot(self.root, leave_out, self.environ)
        assert self.state() == before
        return taken


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repo")
    made.commit({"a.py": "a = 1\n", "b.py": "b = 1\n", ".gitignore": "*.log\n"})
    return made


def test_an_unchanged_tree_is_head_itself(repo: Repository) -> None:
    taken = repo.take()
    assert taken.commit == taken.head == repo.git("rev-parse", "HEAD")
    assert not taken.dirty


def test_a_touched_file_is_no_change(repo: Repository) -> None:
    os.utime(repo.root / "a.py", (1, 1))
    assert not repo.take().dirty


def test_changed_staged_deleted_and_untracked_files_are_in_it(repo: Repository) -> None:
    repo.write({"a.py": "a = 2\n", "new/mod.py": "n = 1\n", "noise.log": "x", "staged.py": "s = 1\n"})
    repo.git("add", "staged.py")
    (repo.root / "b.py").unlink()
    taken = repo.take()
    assert taken.dirty
    assert taken.head == repo.git("rev-parse", "HEAD")
    assert repo.files(taken.commit) == {".gitignore", "a.py", "new/mod.py", "staged.py"}
    assert repo.git("show", f"{taken.commit}:a.py") == "a = 2"
    assert repo.git("rev-parse", f"{taken.commit}^") == taken.head


def test_what_was_staged_and_changed_again_is_as_it_lies_there(repo: Repository) -> None:
    repo.write({"a.py": "a = 2\n"})
    repo.git("add", "a.py")
    repo.write({"a.py": "a = 3\n"})
    assert repo.git("show", f"{repo.take().commit}:a.py") == "a = 3"


def test_the_same_tree_gives_the_same_commit(repo: Repository) -> None:
    repo.write({"a.py": "a = 2\n"})
    first = repo.take().commit
    assert repo.take().commit == first
    repo.write({"a.py": "a = 3\n"})
    assert repo.take().commit != first


def test_no_name_is_needed_for_the_commit(repo: Repository) -> None:
    repo.write({"a.py": "a = 2\n"})
    repo.git("config", "user.useConfigOnly", "true")
    assert repo.take().dirty


def test_what_asv_writes_is_no_part_of_it(repo: Repository, tmp_path: Path) -> None:
    repo.write({"env/x.py": "1", "results/box/r.json": "{}", "deep/html/i.txt": ""})
    outside = tmp_path / "elsewhere"
    taken = repo.take(
        repo.root / "env", repo.root / "results", repo.root / "deep" / "html", outside, repo.root / "absent"
    )
    assert not taken.dirty


def test_what_asv_writes_may_be_ignored_by_git_too(repo: Repository) -> None:
    repo.commit({".gitignore": "env/\n/results\n"})
    repo.write({"env/x.py": "1", "results/r.json": "{}", "a.py": "a = 2\n"})
    taken = repo.take(repo.root / "env", repo.root / "results", repo.root / "html")
    assert repo.files(taken.commit) == {".gitignore", "a.py", "b.py"}


def test_a_nested_repository_is_left_out_and_told(repo: Repository) -> None:
    Repository(repo.root / "inner").commit({"x.py": "x = 1\n"})
    repo.write({"a.py": "a = 2\n"})
    taken = repo.take()
    assert repo.files(taken.commit) == {".gitignore", "a.py", "b.py"}
    assert taken.notes == ("inner is a repository of its own, and is left out",)


def test_changes_inside_a_submodule_are_told(repo: Repository, tmp_path: Path) -> None:
    Repository(tmp_path / "lib").commit({"x.py": "x = 1\n"})
    repo.git("submodule", "add", "-q", str(tmp_path / "lib"), "lib")
    repo.git("commit", "-qm", "lib")
    assert repo.take().notes == ()
    (repo.root / "lib" / "x.py").write_text("x = 2\n")
    taken = repo.take()
    assert taken.notes == ("changes inside the submodule lib are left out",)
    assert not taken.dirty


def test_a_conflicted_index_is_no_obstacle(repo: Repository) -> None:
    repo.git("checkout", "-qb", "side")
    repo.commit({"a.py": "a = 2\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"a.py": "a = 3\n"})
    repo.git("merge", "side", check=False)
    assert "<<<<" in (repo.root / "a.py").read_text()
    repo.write({"a.py": "a = 5\n"})
    assert repo.git("show", f"{repo.take().commit}:a.py") == "a = 5"


def test_another_index_of_the_caller_is_not_used(repo: Repository, tmp_path: Path) -> None:
    repo.environ["GIT_INDEX_FILE"] = str(tmp_path / "other-index")
    assert not take_snapshot(repo.root, (), repo.environ).dirty
    assert not (tmp_path / "other-index").exists()


def test_a_forgotten_data_set_is_refused(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot, "MOST_UNTRACKED", 100)
    repo.write({"small.txt": "x" * 30, "weights.bin": "x" * 90})
    with pytest.raises(SnapshotError, match=r"2 untracked files .* \(the largest: weights.bin\)"):
        repo.take()


def test_a_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    empty = Repository(tmp_path / "empty")
    with pytest.raises(SnapshotError, match="no commit yet"):
        take_snapshot(empty.root, (), empty.environ)


def test_a_folder_that_is_no_repository_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match="not a git repository"):
        take_snapshot(tmp_path, (), {**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})


def test_a_bare_repository_is_refused(repo: Repository, tmp_path: Path) -> None:
    repo.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    with pytest.raises(SnapshotError, match="bare repository"):
        take_snapshot(tmp_path / "bare", (), repo.environ)


def test_without_git_it_says_so(repo: Repository) -> None:
    with pytest.raises(SnapshotError, match="git cannot be run"):
        take_snapshot(repo.root, (), {**repo.environ, "PATH": "/nowhere"})


def test_a_changed_shallow_clone_is_refused(repo: Repository, tmp_path: Path) -> None:
    repo.commit({"a.py": "1"})
    shallow = tmp_path / "shallow"
    repo.git("clone", "-q", "--depth", "1", f"file://{repo.root}", str(shallow))
    assert not take_snapshot(shallow, (), repo.environ).dirty
    (shallow / "a.py").write_text("2")
    with pytest.raises(SnapshotError, match=r"shallow clone.*git fetch --unshallow"):
        take_snapshot(shallow, (), repo.environ)


def test_gits_cause_is_told_rather_than_that_it_gave_up(repo: Repository, tmp_path: Path) -> None:
    git = tmp_path / "bin/git"
    git.parent.mkdir()
    git.write_text(
        '#!/bin/sh\ncase " $* " in *" add "*) echo "warning: odd" >&2; echo "error: no room" >&2; '
        f'echo "fatal: updating files failed" >&2; exit 128;; esac\nexec {shutil.which("git")} "$@"\n'
    )
    git.chmod(0o755)
    repo.commit({"a.py": "1"})
    repo.write({"a.py": "2"})
    with pytest.raises(SnapshotError, match=r"git add failed in .*: error: no room$"):
        take_snapshot(repo.root, (), {**repo.environ, "PATH": f"{git.parent}:{repo.environ['PATH']}"})


def test_a_change_in_the_moment_of_the_commit_is_seen(repo: Repository) -> None:
    """The same size and time as git has in its index: only the index's own time tells that git has to look."""
    source, index, when = repo.root / "a.py", repo.root / ".git/index", (1_700_000_000, 1_700_000_000)
    repo.git("config", "core.trustctime", "false")
    repo.write({"a.py": "1"})
    os.utime(source, when)
    repo.git("add", "-A")
    repo.git("commit", "-qm", "work")
    source.write_text("2")
    os.utime(source, when)
    os.utime(index, when)
    assert take_snapshot(repo.root, (), repo.environ).dirty
