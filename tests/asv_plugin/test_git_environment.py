"""What asv does in its own clones must not reach the commit whose hook started it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HOOK = """\
#!/bin/sh
'{python}' -c '
import subprocess
from dcu_asv_ext.asv_plugin import setup
setup()
subprocess.run(["git", "-C", "{clone}", "checkout", "-q", "-f", "HEAD"], check=True)
'
"""


def test_a_commit_whose_hook_measures_keeps_its_content(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ |= {"GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}

    def git(*arguments: str) -> str:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "repo", env=environ, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    (tmp_path / "repo").mkdir()
    git("init", "-q")
    (tmp_path / "repo/a").write_text("first")
    git("add", "a")
    git("commit", "-qm", "first")
    git("clone", "-q", ".", str(tmp_path / "clone"))
    hook = tmp_path / "repo/.git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(HOOK.format(python=sys.executable, clone=tmp_path / "clone"))
    hook.chmod(0o755)
    (tmp_path / "repo/a").write_text("second")
    git("commit", "-qam", "second")
    assert git("show", "HEAD:a") == "second"
    assert git("status", "--porcelain") == ""
