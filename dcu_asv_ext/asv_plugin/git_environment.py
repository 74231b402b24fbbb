"""Run from a git hook: git tells a hook's children which folder, index and objects it works on, and the git commands
that asv runs in its own clones must not work on those. `git commit -a` with `asv run` in its pre-commit hook would
else commit the index of asv's last checkout instead of the user's."""

from __future__ import annotations

import os

#: `git rev-parse --local-env-vars`, without those that carry settings (`git -c`).
_OF_ONE_REPOSITORY = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)


def leave_callers_repository() -> None:
    """Take git's variables of one repository out of this process and those that it starts."""
    for name in _OF_ONE_REPOSITORY:
        os.environ.pop(name, None)
