"""The published site of `history.py`'s project, and a web server that has it below a path, beside other things."""

from __future__ import annotations

import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import dcu_asv_ext

from . import history

#: As on an intranet server that has other things too.
BELOW = "team/history"


@dataclass(frozen=True)
class Site:
    """root: the server's folder. printed: by `asv publish`."""

    history: history.History
    root: Path
    printed: str

    @property
    def html(self) -> Path:
        return self.root / BELOW


def site(folder: Path, **dcu: object) -> Site:
    """Written and published once below an empty folder. dcu: settings of asv.conf.json's section."""
    made = history.write(folder / "project", **dcu)
    root = folder / "server"
    return Site(made, root, publish(made.suite, root / BELOW, folder / "home"))


def publish(suite: Path, html: Path, home: Path) -> str:
    """What `asv publish` printed."""
    home.mkdir(parents=True, exist_ok=True)
    outside = {k: v for k, v in os.environ.items() if not k.startswith(("ASV", "DCU_ASV", "GIT_"))}
    package = str(Path(dcu_asv_ext.__file__).resolve().parent.parent)
    done = subprocess.run(
        [sys.executable, "-m", "asv", "publish", "--html-dir", str(html)],
        cwd=suite,
        env={**outside, "HOME": str(home), "PYTHONPATH": package},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@contextmanager
def served(root: Path) -> Iterator[str]:
    """The site's address, which ends with a slash."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *told: object) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(root))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{BELOW}/"
        server.shutdown()
