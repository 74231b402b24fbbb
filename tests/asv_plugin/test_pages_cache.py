"""Never wrong: after any change a publish with the cache writes byte for byte what one without any cache writes."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dcu_asv_ext.asv_plugin.results import load_config
from dcu_asv_ext.asv_plugin.settings import settings_of
from dcu_asv_ext.asv_plugin.site_sources import make_pages
from dcu_asv_ext.evidence.store import pack
from dcu_asv_ext.pages import index
from dcu_asv_ext.pages.cache import Cache
from tests.asv_plugin.result_folder import ENV, NAME, ResultFolder
from tests.comparing.measured import record

OTHER = "suite.track_other"
ABOUT = {
    NAME: {"type": "time", "unit": "seconds", "param_names": []},
    OTHER: {"type": "track", "unit": "bytes", "param_names": []},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> ResultFolder:
    """One for all changes, which follow each other."""
    made = ResultFolder(tmp_path_factory.mktemp("history"), commits=8)
    made.describe(**ABOUT)
    made.configure(dcu={"compare_all": True})
    for number, commit in enumerate(made.commits[:6]):
        made.save(commit, {NAME: [1.0 + number / 8, 2.0], OTHER: [3.0 + number // 3]})
        made.evidence(commit, record(), record(2))
    return made


def _new_commit(folder: ResultFolder) -> None:
    folder.save(folder.commits[7], {NAME: [9.0, 9.5]})
    folder.evidence(folder.commits[7], record())


def _result_replaced(folder: ResultFolder) -> None:
    folder.save(folder.commits[2], {NAME: [7.0, 7.5]})


def _evidence_grown(folder: ResultFolder) -> None:
    folder.evidence(folder.commits[3], record(), record(2), record(3))


def _result_removed(folder: ResultFolder) -> None:
    for one in folder.results.glob(f"*/{folder.commits[1][:8]}-*"):
        one.unlink()


def _evidence_packed(folder: ResultFolder) -> None:
    pack(folder.place(folder.commits[4], ".evidence.jsonl"))


def _evidence_alone(folder: ResultFolder) -> None:
    folder.place(folder.commits[5], ".json").unlink()


def _damaged(folder: ResultFolder) -> None:
    folder.place(folder.commits[0], ".json").write_text("{")


def _another_environment(folder: ResultFolder) -> None:
    folder.save(folder.commits[6], {NAME: [5.0]}, env=f"a-{ENV}")


def _units(folder: ResultFolder) -> None:
    folder.describe(**{**ABOUT, NAME: {**ABOUT[NAME], "unit": "ms", "param_names": ["n"], "rounds": 9}})


def _not_described(folder: ResultFolder) -> None:
    folder.describe(**{OTHER: ABOUT[OTHER]})


def _gates(folder: ResultFolder) -> None:
    folder.configure(dcu={"compare_all": True, "gate": {"performance": {"margin": "3%"}}})


def _gates_wrong(folder: ResultFolder) -> None:
    folder.configure(dcu={"compare_all": True, "gate": {"no such gate": {}}})


def _branches(folder: ResultFolder) -> None:
    folder.git("branch", "side", folder.commits[3])
    folder.git("tag", "v1", folder.commits[2])
    folder.configure(branches=["side", "main"], dcu={"compare_all": True, "published_evidence": 1})


@pytest.mark.parametrize(
    "change",
    [
        *(_new_commit, _result_replaced, _evidence_grown, _result_removed, _evidence_packed),
        *(_evidence_alone, _damaged, _another_environment, _units, _not_described),
        *(_gates, _gates_wrong, _branches),
    ],
)
def test_what_the_cache_knows_is_never_out_of_date(
    folder: ResultFolder,
    change: Callable[[ResultFolder], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder.root)
    kept = folder.root / "cache"
    before = _pages(folder, tmp_path / "before", kept)
    change(folder)
    with_cache = _pages(folder, tmp_path / "with", kept)
    assert with_cache == _pages(folder, tmp_path / "without", tmp_path / "cache")
    if change is not _evidence_packed:
        assert with_cache != before


def _pages(folder: ResultFolder, out: Path, kept: Path) -> dict[str, Any]:
    """The data files, and the notes of the publish."""
    from asv.repo import get_repo

    conf = load_config(folder.root / "asv.conf.json")
    cache = Cache(kept)
    cache.begin()
    cache.close()
    notes = make_pages(conf, settings_of(conf), get_repo(conf), None, out, kept, lambda: True)
    cache = Cache(kept)
    cache.prune()
    cache.close()
    made = {str(one.relative_to(out)): one.read_bytes() for one in (out / "data").rglob("*.js")}
    shutil.rmtree(out)
    return {"notes": notes, **made}


@pytest.fixture(autouse=True)
def _one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The index tells when it was made."""
    original = index.index
    monkeypatch.setattr(index, "index", lambda *given: {**original(*given), "made_at": ""})
