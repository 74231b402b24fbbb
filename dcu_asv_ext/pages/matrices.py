"""The experiment matrix of one result: "m/<place>-<commit>", which is what `dcu-asv matrix --json` prints of it."""

from __future__ import annotations

from ..comparing.matrix import Measured, matrix
from ..comparing.model import ResultSet
from ..evidence.matrix_files import to_json
from .cache import READERS, code_of, digest
from .model import Entry, Work
from .writing import packed_text

#: To be raised where the file tells it in another form.
FORM = 1
_MADE_BY = (*READERS, "pages/matrices.py")


def publish(work: Work, entry: Entry) -> None:
    """Writes the file; adds to `work.matrices`. Raises Unreadable."""
    key = digest("matrix", FORM, code_of(*_MADE_BY), entry.digest)
    file = entry.evidence or entry.result
    text = work.cache.made(key, lambda: packed_text(text_of(work.results(entry), file)).encode())
    short = work.commits[entry.commit].short
    work.out.put_packed(f"m/{entry.place}-{short}", text.decode())
    work.matrices.append((entry.place, entry.commit))


def text_of(results: ResultSet, file: str | None) -> str:
    """JSON. file: of the raw data, below the results folder."""
    found = matrix([Measured(results, file)])
    experiments = [one.as_object() for one in found.experiments]
    return to_json([row.flat() for row in found.rows], experiments=experiments, notes=found.notes)
