"""What one asv process is measuring at the moment: its sessions, its card, its folder for on-disk caches."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from asv import util
from asv.console import log

from ..devices import device_kind
from ..evidence.caches import CACHE_VARIABLES, variables
from . import janitor, session, trace_keeping
from .batches import BatchIndex
from .locks import FileLock, Held, card_lock
from .project_size import project_facts
from .settings import Settings
from .sharing import Sharing

_SCRATCH = "dcu-asv-run-"
_IN_USE = "in-use.lock"


class Runs:
    """The sessions of this process: one per (evidence file, or commit and environment), kept until it ends."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], session.Session] = {}
        self._stack: list[tuple[Sharing, bool]] = []
        self._card: FileLock | None = None
        self._folder: Path | None = None
        self._in_use: FileLock | None = None
        self._janitor: subprocess.Popen[bytes] | None = None
        self._batches: dict[Path, BatchIndex] = {}
        self._keep_traces = 0
        self._user_caches = {name: os.environ.get(name) for name in CACHE_VARIABLES}

    @property
    def active(self) -> bool:
        return bool(self._stack)

    @property
    def quick(self) -> bool:
        return self._stack[-1][1]

    def current(self) -> Sharing:
        return self._stack[-1][0]

    @contextmanager
    def entered(self, sharing: Sharing, attributes: Mapping[str, Any]) -> Iterator[None]:
        """Answer asv's requests through `sharing`; its children find their caches and their parent's number."""
        root = sharing.cache_root / "imports"
        changed = {**variables(root), "DCU_ASV_PARENT_PID": str(os.getpid())}
        earlier = {name: os.environ.get(name) for name in changed}
        os.environ.update(changed)
        self._stack.append((sharing, bool(attributes.get("quick"))))
        try:
            yield
        finally:
            self._stack.pop()
            for name, value in earlier.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def sharing(
        self,
        target: Path | None,
        commit: str | None,
        env: Any,
        machine: str | None,
        attributes: dict[str, Any],
        benchmarks: Mapping[str, Any],
        settings: Settings,
    ) -> Sharing:
        """For one `run_benchmarks`. Raises locks.Held where another run writes the same result file."""
        self._keep_traces = settings.keep_traces
        key = (str(target or commit), env.name)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = session.begin(target, commit, env.name, machine, attributes)
            if found.resumed:
                log.info(
                    f"dcu-asv: resuming the interrupted session of {found.started_at}: "
                    f"{len(found.resumed)} measurements are kept"
                )
        kind = str(env.requirements.get("device") or device_kind())
        return Sharing(
            session=found,
            benchmarks=benchmarks,
            device_kind=kind,
            cache_root=self.folder(),
            user_caches=self._user_caches,
            tell=_tell,
            before_first=lambda: self._take_card(kind, settings),
            batches=self._batch_index(target),
            project=lambda: project_facts(env),
            trace_limit=settings.trace_limit_mb << 20 if settings.keep_traces else 0,
        )

    def finish(self, ended: session.Session) -> None:
        """asv has saved all that a session measured."""
        ended.finish()
        mine = [one.evidence for one in self._known.values() if one.evidence is not None]
        trace_keeping.after_session(ended, self._keep_traces, _tell, mine)

    def folder(self) -> Path:
        """A scratch folder of this asv run; removed at its end, and by the next run if it was killed."""
        if self._folder is None:
            _sweep()
            self._folder = Path(tempfile.mkdtemp(prefix=_SCRATCH))
            # Held until this process ends, however it ends.
            self._in_use = FileLock(self._folder / _IN_USE)
            self._in_use.acquire()
            self._janitor = janitor.start(self._folder)
            atexit.register(shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _batch_index(self, target: Path | None) -> BatchIndex | None:
        if target is None:
            return None
        return self._batches.setdefault(target.parent, BatchIndex(target.parent))

    def _take_card(self, kind: str, settings: Settings) -> None:
        if self._card is not None or settings.share_card:
            return
        lock = card_lock(kind, os.environ)
        if lock is None:
            return

        def wait(holder: str) -> None:
            log.info(f"dcu-asv: the card is held by {holder}; waiting for it to be free")

        try:
            lock.acquire(wait if settings.card == "wait" else None)
        except Held as held:
            raise util.UserError(
                f"dcu-asv: the card is held by {held}; choose another with HIP_VISIBLE_DEVICES or "
                'DCU_ASV_DEVICE, or allow sharing with "dcu": {"share_card": true}'
            ) from None
        self._card = lock


def _tell(text: str) -> None:
    log.warning(f"dcu-asv: {text}")


def _sweep() -> None:
    """Remove the scratch folders of runs that were killed. Their process numbers would not do: another container
    may share the folder of temporary files, and not the processes.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        lock = FileLock(folder / _IN_USE)
        # A folder without a lock is just being made.
        with suppress(Held, OSError):
            if lock.path.exists() and folder.stat().st_uid == os.getuid():
                lock.acquire()
                shutil.rmtree(folder, ignore_errors=True)
                lock.release()
