from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dcu_asv_ext.devices.cards import tools
from dcu_asv_ext.devices.cards.smi_pids import CardProcess
from dcu_asv_ext.devices.cards.tools import ask_cards, ask_processes, find_tool, run_tool

from .smi_samples import DTK_26_TABLE, HCU_QUERIES

NOT_FOUND = "no management tool: neither hy-smi nor rocm-smi was found"


def made_up(folder: Path, script: str, name: str = "hy-smi") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    tool = folder / name
    tool.write_text("#!/bin/sh\n" + script + "\n")
    tool.chmod(0o755)
    return tool


def printing(folder: Path, text: str, status: int = 0) -> Path:
    (folder / "text").write_text(text)
    return made_up(folder, f"cat '{folder / 'text'}'\nexit {status}")


def test_hy_smi_on_the_path_then_its_places_then_rocm_smi(tmp_path: Path) -> None:
    environ = {"PATH": "relative:/usr/bin"}
    assert find_tool(tmp_path, environ) is None
    found = [
        made_up(tmp_path / place, "", name)
        for place, name in (
            ("opt/rocm/bin", "rocm-smi"),
            ("opt/dtk/bin", "rocm-smi"),
            ("usr/bin", "rocm-smi"),
            ("usr/local/hyhal/bin", "hy-smi"),
            ("opt/hyhal/bin", "hy-smi"),
            ("usr/bin", "hy-smi"),
        )
    ]
    for tool in reversed(found):
        assert find_tool(tmp_path, environ) == tool
        tool.unlink()
    made_up(tmp_path / "relative", "")
    (tmp_path / "usr/bin/hy-smi").write_text("not executable")
    (tmp_path / "opt/hyhal/bin/hy-smi").mkdir()
    assert find_tool(tmp_path, environ) is None


@pytest.mark.parametrize(
    "queries",
    [
        ("--setsclk", "1"),
        ("--setperflevel", "auto"),
        ("--hcureset",),
        ("--showuse", "--resetclocks"),
        ("-d", "0", "--gpureset"),
        ("-r",),
        ("--showuse; reboot",),
        ("--showmeminfo",),
        ("--showmeminfo", "all"),
        ("--showmeminfo", "--showuse"),
        ("vram",),
        ("-d",),
        ("-d", "-1"),
        ("-d", "0", "x"),
        ("--showuse", "0"),
        ("--json=1",),
        ("",),
    ],
)
def test_nothing_but_queries_is_ever_called(tmp_path: Path, queries: tuple[str, ...]) -> None:
    mark = tmp_path / "called"
    tool = made_up(tmp_path, f"touch '{mark}'")
    for call in (run_tool, ask_cards):
        with pytest.raises(ValueError, match=r"query|value"):
            call(tool, *queries)
    assert not mark.exists()


def test_every_query_only_shows() -> None:
    assert not [query for query in tools.QUERIES if "set" in query or not query.startswith("--")]
    shows = ("--show", "--json", "--csv", "--healthcheck")
    assert all(query.startswith(shows) for query in tools.QUERIES)


def test_queries_are_given_as_they_are_in_english(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    monkeypatch.setenv("LANGUAGE", "zh")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    tool = made_up(tmp_path, 'echo "$@" $LANG $LC_ALL "$LANGUAGE" "$PYTHONPATH"')
    queries = ("--showmeminfo", "vram", "gtt", "-d", "0", "12", "--json")
    assert run_tool(tool, *queries).text.split() == [*queries, "C", "C"]


def test_a_clean_answer(tmp_path: Path) -> None:
    tool = printing(tmp_path, HCU_QUERIES.text)
    assert run_tool(tool, "--showuse") == tools.ToolText(HCU_QUERIES.text)
    told = ask_cards(tool, "--showuse")
    assert (list(told.cards), told.notes) == (HCU_QUERIES.cards, ())


def test_no_tool() -> None:
    assert ask_cards(None, "--showuse").notes == (NOT_FOUND,)
    assert ask_processes(None) == (None, NOT_FOUND)
    with pytest.raises(ValueError, match="only shows"):
        ask_cards(None, "--setsclk")


def ended(pid: int) -> bool:
    """Also true of a process that only waits to be reaped, by an init that may take its time."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in ("Z", "X")
    except OSError:
        return True


@pytest.mark.parametrize(
    "script",
    [
        "sleep 60 & echo $! > '{mark}'; echo 'HCU[0] : HCU use (%): 5'; wait",
        "sleep 60 & echo $! > '{mark}'; exit 0",
        "exec >&-; echo $$ > '{mark}'; sleep 60",
        "trap '' TERM INT; echo $$ > '{mark}'; while :; do echo x; sleep 0.05; done",
    ],
    ids=["hangs", "leaves a child that keeps the output open", "closes its output", "ignores signals"],
)
def test_one_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path, script: str) -> None:
    mark = tmp_path / "pid"
    tool = made_up(tmp_path, script.format(mark=mark))
    printed = run_tool(tool, "--showuse", limit=0.5)
    assert printed == tools.ToolText("", "hy-smi did not answer within 0.5 s", in_time=False)
    pid = int(mark.read_text())
    for _ in range(100):
        if ended(pid):
            break
        time.sleep(0.01)
    assert ended(pid)


def test_one_that_hangs_is_not_asked_again_without_power(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    tool = made_up(tmp_path, f"echo call >> '{calls}'; sleep 60")
    assert ask_cards(tool, "--showpower", "--showuse", limit=0.3).notes == (
        "hy-smi did not answer within 0.3 s",
    )
    assert calls.read_text() == "call\n"


@pytest.mark.parametrize(
    ("text", "status", "reason", "notes"),
    [
        ("", 0, "hy-smi printed nothing", ("hy-smi printed nothing",)),
        ("\n \n", 0, "hy-smi printed nothing", ("hy-smi printed nothing",)),
        (
            "",
            1,
            "hy-smi printed nothing and ended with exit status 1",
            ("hy-smi printed nothing and ended with exit status 1",),
        ),
        (
            "Open mkfd failed\nNo device available...\n",
            0,
            None,
            ('no card: the tool says "open mkfd failed"',),
        ),
        (
            "错误 找不到设备 温度 40\n",
            0,
            None,
            ("unknown: the tool printed something that this version does not know",),
        ),
        (
            "error: segfault in 0x0\n",
            3,
            "hy-smi ended with exit status 3",
            (
                "hy-smi ended with exit status 3",
                "unknown: the tool printed something that this version does not know",
            ),
        ),
    ],
)
def test_what_is_no_answer(
    tmp_path: Path, text: str, status: int, reason: str | None, notes: tuple[str, ...]
) -> None:
    tool = printing(tmp_path, text, status)
    assert run_tool(tool, "--showuse").reason == reason
    told = ask_cards(tool, "--showuse")
    assert (told.cards, told.notes) == ((), notes)


def test_a_good_text_with_an_exit_status_is_read(tmp_path: Path) -> None:
    told = ask_cards(printing(tmp_path, DTK_26_TABLE.text, 2))
    assert list(told.cards) == DTK_26_TABLE.cards
    assert told.notes == ("hy-smi ended with exit status 2",)


def test_one_that_is_killed(tmp_path: Path) -> None:
    reason = "hy-smi printed nothing and was ended by signal 11"
    assert run_tool(made_up(tmp_path, "kill -SEGV $$")).reason == reason


def test_binary_garbage(tmp_path: Path) -> None:
    tool = made_up(tmp_path, "head -c 200000 /dev/urandom; printf '\\nHCU[0] : HCU use (%%): 5\\n\\377\\376'")
    assert ask_cards(tool).cards in (({"card": 0, "utilization": 5.0},), ())
    assert "\ufffd" in run_tool(tool).text


@pytest.mark.parametrize("script", ["yes 'HCU[0] : HCU use (%): 5'", "yes '' | head -c 3000000"])
def test_an_output_without_end_is_cut_off_and_not_read(tmp_path: Path, script: str) -> None:
    printed = run_tool(made_up(tmp_path, script))
    assert printed == tools.ToolText("", "hy-smi printed more than 1 MiB")


def test_one_that_cannot_be_started(tmp_path: Path) -> None:
    tool = tmp_path / "hy-smi"
    assert run_tool(tool).reason == "hy-smi could not be started: No such file or directory"
    tool.write_bytes(b"\x7fELF no program")
    assert run_tool(tool).reason == "hy-smi could not be started: Permission denied"
    tool.chmod(0o755)
    assert run_tool(tool).reason == "hy-smi could not be started: Exec format error"


def test_power_refused_is_asked_without(tmp_path: Path) -> None:
    (tmp_path / "text").write_text(HCU_QUERIES.text)
    refusing = f"""case "$*" in *showpower*) echo 'unrecognized arguments: --showpower'; exit {{}};; esac
cat '{tmp_path / "text"}'"""
    for status in (0, 2):
        tool = made_up(tmp_path, refusing.format(status))
        told = ask_cards(tool, "--showpower", "--showuse")
        assert list(told.cards) == HCU_QUERIES.cards
        assert told.notes == ("hy-smi does not answer --showpower",)
        assert ask_cards(tool, "--showpower").cards == told.cards


def test_both_refused_gives_the_first_reason(tmp_path: Path) -> None:
    told = ask_cards(made_up(tmp_path, "exit 4"), "--showpower", "--showuse")
    assert (told.cards, told.notes) == ((), ("hy-smi printed nothing and ended with exit status 4",))


def test_processes(tmp_path: Path) -> None:
    tool = made_up(
        tmp_path,
        """[ "$*" = --showpids ] && printf "PID: 7\\n\\tHCU Index: ['1']\\n\\tVRAM USED(MiB): 2\\n\"""",
    )
    assert ask_processes(tool) == ([CardProcess(7, (1,), 2 * 2**20)], None)
    assert ask_processes(printing(tmp_path, "No KFD PIDs currently running!")) == ([], None)
    unknown = "unknown: the tool printed a list of processes that this version does not know"
    assert ask_processes(printing(tmp_path, "could not open process directory")) == (None, unknown)
    reason = "hy-smi ended with exit status 1"
    assert ask_processes(printing(tmp_path, "进程", 1)) == (None, reason)


def test_an_interrupt_leaves_no_process_behind(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    tool = made_up(tmp_path, f"echo $$ > '{mark}'; sleep 0.3; kill -INT $PPID; sleep 60")
    code = (
        "import sys; from pathlib import Path; from dcu_asv_ext.devices.cards.tools import run_tool\n"
        "try:\n run_tool(Path(sys.argv[1]), limit=30)\nexcept KeyboardInterrupt:\n print('interrupted')"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tool)], capture_output=True, text=True, timeout=60)
    assert done.stdout == "interrupted\n"
    assert ended(int(mark.read_text()))


@pytest.mark.filterwarnings("error")
def test_no_file_is_left_open(tmp_path: Path) -> None:
    tool = printing(tmp_path, HCU_QUERIES.text)
    hanging = made_up(tmp_path / "hanging", "sleep 60")
    run_tool(tool)
    before = len(os.listdir("/proc/self/fd"))
    run_tool(tool)
    run_tool(hanging, limit=0.2)
    assert len(os.listdir("/proc/self/fd")) == before
