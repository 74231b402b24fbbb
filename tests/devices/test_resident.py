from __future__ import annotations

from pathlib import Path

from dcu_asv_ext.devices.resident import NOT_RESET, NOT_TOLD, ResidentPeak


def status(root: Path, now: int, peak: int) -> None:
    folder = root / "proc/self"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "status").write_text(f"Name:\tpython\nVmHWM:\t  {peak} kB\nVmRSS:\t  {now} kB\nThreads:\t1\n")


def test_before_peak_and_after_in_bytes(tmp_path: Path) -> None:
    status(tmp_path, 100, 100)
    (tmp_path / "proc/self/clear_refs").write_text("")
    watched = ResidentPeak(tmp_path)
    assert (tmp_path / "proc/self/clear_refs").read_text() == "5"
    status(tmp_path, 120, 300)
    assert watched.read() == ({"rss_before": 102_400, "rss_peak": 307_200, "rss_after": 122_880}, {})


def test_a_peak_is_never_below_what_was_seen(tmp_path: Path) -> None:
    status(tmp_path, 310, 300)
    (tmp_path / "proc/self/clear_refs").write_text("")
    watched = ResidentPeak(tmp_path)
    status(tmp_path, 120, 300)
    assert watched.read()[0]["rss_peak"] == 310 << 10


def test_a_peak_that_rose_is_told_though_it_could_not_be_reset(tmp_path: Path) -> None:
    status(tmp_path, 100, 200)
    watched = ResidentPeak(tmp_path)
    status(tmp_path, 120, 300)
    assert watched.read()[0]["rss_peak"] == 307_200


def test_the_peak_of_what_came_before_is_no_peak_of_this(tmp_path: Path) -> None:
    status(tmp_path, 100, 200)
    watched = ResidentPeak(tmp_path)
    status(tmp_path, 120, 200)
    found, missing = watched.read()
    assert found == {"rss_before": 102_400, "rss_after": 122_880} and missing == {"rss_peak": NOT_RESET}


def test_a_system_that_does_not_tell(tmp_path: Path) -> None:
    found, missing = ResidentPeak(tmp_path).read()
    assert found == {} and missing == dict.fromkeys(("rss_before", "rss_peak", "rss_after"), NOT_TOLD)


def test_of_this_process() -> None:
    watched = ResidentPeak()
    held = bytearray(64 << 20)
    held[:: 4 << 10] = b"x" * len(held[:: 4 << 10])
    found, missing = watched.read()
    if "rss_peak" in found:
        assert found["rss_peak"] >= found["rss_before"] + (60 << 20)
    else:
        assert missing
