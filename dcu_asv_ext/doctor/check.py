"""One finding of the doctor, and what the doctor looks at."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..devices.host import container

OK, WARNING, PROBLEM = "ok", "warning", "problem"
STATES = (OK, WARNING, PROBLEM)


@dataclass(frozen=True)
class Check:
    """id: stable, for scripts. state: "ok", "warning" or "problem".

    finding: one sentence, what is so. remedy: one sentence, what to do; "" only where the state is "ok".
    """

    id: str
    group: str
    state: str
    finding: str
    remedy: str = ""

    def __post_init__(self) -> None:
        if self.state not in STATES or (self.state != OK) != bool(self.remedy):
            raise ValueError(f"check {self.id}: state {self.state!r} with remedy {self.remedy!r}")


@dataclass(frozen=True)
class Group:
    """Makes the checks of one subject."""

    name: str

    def ok(self, id: str, finding: str) -> Check:
        return Check(id, self.name, OK, finding)

    def warning(self, id: str, finding: str, remedy: str) -> Check:
        return Check(id, self.name, WARNING, finding, remedy)

    def problem(self, id: str, finding: str, remedy: str) -> Check:
        return Check(id, self.name, PROBLEM, finding, remedy)


@dataclass(frozen=True)
class Host:
    """The machine that is looked at.

    root: where its file system begins. environ: the environment that asv would be run in. hostname: its name.
    """

    root: Path = Path("/")
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    hostname: str = field(default_factory=socket.gethostname)

    @property
    def home(self) -> Path:
        return Path(self.environ["HOME"]) if self.environ.get("HOME") else Path.home()

    def read(self, path: str) -> str:
        """A small system file's text, "" where it is not there or not readable."""
        try:
            return (self.root / path).read_text(errors="replace").strip()
        except OSError:
            return ""

    @property
    def in_container(self) -> bool:
        return bool(container(self.root, self.environ))
