from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from dcu_asv_ext.devices import parse_smi
from dcu_asv_ext.devices.cards.smi import LONGEST_TEXT, read_smi

from .smi_samples import DTK_26_TABLE, JSON_FROM_CARD_1, MIB, SAMPLES

UNKNOWN = "unknown: the tool printed something that this version does not know"


@pytest.mark.parametrize("name", SAMPLES)
def test_every_known_output_is_read_to_the_last_fact(name: str) -> None:
    sample = SAMPLES[name]
    assert parse_smi(sample.text) == sample.cards


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("ending", ["\r\n", "\r", "  \n"])
def test_line_endings_do_not_matter(name: str, ending: str) -> None:
    sample = SAMPLES[name]
    assert parse_smi(sample.text.replace("\n", ending)) == sample.cards


def test_needs_no_torch_and_no_numpy() -> None:
    code = (
        "import sys; from dcu_asv_ext.devices import parse_smi; parse_smi('x'); "
        "assert not {'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def one(line: str) -> dict[str, Any]:
    cards = parse_smi(line)
    assert len(cards) == 1
    return cards[0]


@pytest.mark.parametrize(
    ("unit", "scale"), [("B", 1), ("KiB", 2**10), ("MiB", 2**20), ("GiB", 2**30), ("mib", 2**20)]
)
def test_the_unit_is_the_label_s(unit: str, scale: int) -> None:
    amount = 64 * 2**30 // scale
    line = f"HCU[3] : vram Total Memory ({unit}): {amount}"
    assert one(line) == {"card": 3, "total_bytes": 64 * 2**30}


@pytest.mark.parametrize("unit", ["MB", "GB", "", "%", "pages"])
def test_a_unit_that_is_not_known_gives_no_number_and_a_note(unit: str) -> None:
    label = f"vram Total Memory ({unit})" if unit else "vram Total Memory"
    told = read_smi(f"HCU[0] : {label}: 65520\nHCU[0] : Performance Level: auto")
    assert told.cards == ({"card": 0, "performance_level": "auto"},)
    assert told.notes == ("card 0: total_bytes: its value or unit is not one that this version knows",)


@pytest.mark.parametrize(
    ("label", "value"),
    [
        ("Temperature (Sensor edge) (C)", "5000"),
        ("Temperature (Sensor edge) (C)", "511.0"),
        ("Temperature (Sensor edge) (C)", "-5.0"),
        ("Temperature (Sensor edge) (C)", "0.0"),
        ("Temperature (Sensor edge) (C)", "40,5"),
        ("Temperature (Sensor edge) (C)", "40.0F"),
        ("HCU use (%)", "101"),
        ("HCU use (%)", "-1"),
        ("HCU use (%)", "inf"),
        ("HCU use (%)", "nan"),
        ("HCU use (%)", "1e1"),
        ("HCU use (%)", "١٢"),
        ("Average Graphics Package Power (W)", "100500"),
        ("Average Graphics Package Power (W)", "0.0"),
        ("Average Graphics Package Power (W)", "N/A"),
        ("Average Graphics Package Power (W)", "135 mW"),
        ("vram Total Memory (MiB)", "34342961152"),
        ("vram Total Memory (MiB)", "0"),
        ("vram Total Used Memory (MiB)", "34342961152"),
        ("Card Series", "Allocated (VRAM%): 60"),
        ("vram Total Memory (MiB)", "65,520"),
        ("vram Total Memory (MiB)", "65520 (~64GB)"),
        ("vram Total Memory (GiB)", "63.98"),
        ("vram Total Memory (MiB)", "9" * 400),
        ("sclk clock level", "1 (600000Mhz)"),
        ("sclk clock level", "1 (0Mhz)"),
        ("sclk clock level", "12600"),
        ("Performance Level", "自动"),
        ("Performance Level", "unknown"),
        ("Card Series", "未知"),
        ("Card Series", "0x6210"),
        ("Bus Id", "0000:09:00.9"),
        ("(Topology) Numa Node", "-1"),
    ],
)
def test_what_cannot_be_true_or_read_gives_no_key(label: str, value: str) -> None:
    line = f"HCU[0] : {label}: {value}"
    assert one(line) == {"card": 0}
    assert parse_smi(f'{{"card0": {{"{label}": "{value}"}}}}') == [{"card": 0}]


def test_nothing_told_is_no_fault_and_nonsense_is() -> None:
    assert read_smi("HCU[0] : HCU use (%): inf").notes == ()
    assert read_smi("HCU[0] : HCU use (%): N/A").notes == ()
    assert read_smi("HCU[0] : HCU use (%): 400").notes == ("card 0: utilization: 400 cannot be true",)


@pytest.mark.parametrize(
    "label",
    [
        "Average GFX Core Power (W)",
        "Average Memory Power (W)",
        "GTT Total Memory (B)",
        "VIS_VRAM Total Memory (B)",
        "HCU memory use (%)",
        "GPU Memory Allocated (VRAM%)",
        "CU util in last second (%)",
        "Temperature (Sensor mem) (C)",
        "vram Total 已用 Memory (MiB)",
        "vram Total Free Memory (MiB)",
    ],
)
def test_a_label_that_only_looks_like_one_is_not_taken_for_it(label: str) -> None:
    cards = parse_smi(f"HCU[0] : {label}: 50\nHCU[0] : Performance Level: auto")
    assert cards == [{"card": 0, "performance_level": "auto"}]


def test_percent_of_memory_never_becomes_bytes() -> None:
    for card in parse_smi(DTK_26_TABLE.text.replace("0%         7.5%", "50%        7.5%")):
        assert not {"used_bytes", "total_bytes"} & set(card)


def test_more_used_than_there_is() -> None:
    told = read_smi("HCU[0] : vram Total Memory (MiB): 100\nHCU[0] : vram Total Used Memory (MiB): 101")
    assert told.cards == ({"card": 0},)
    assert told.notes == ("card 0: used_bytes above total_bytes: none of them is taken",)


def test_used_in_a_unit_whose_total_cannot_be_true_is_not_taken() -> None:
    told = parse_smi("GPU[0] : vram Total Memory (B): 65520\nGPU[0] : vram Total Used Memory (B): 1166")
    assert told == [{"card": 0}]


def test_power_far_above_its_cap() -> None:
    line = "GPU  Temp    AvgPwr        SCLK  MCLK  Fan     Perf  PwrCap  VRAM%  GPU%\n"
    row = "0    511.0c  1072.741824W  N/A   N/A   100.0%  auto  220.0W    2%   100%\n"
    card = {"card": 0, "performance_level": "auto", "power_cap_w": 220.0, "utilization": 100.0}
    assert parse_smi(line + row) == [card]


def test_sensors_in_order_and_the_next_where_one_gives_nonsense() -> None:
    lines = {
        name: f"HCU[0] : Temperature (Sensor {name}) (C): {value}\n"
        for name, value in (("core", 33), ("mem", 30), ("junction", 44), ("edge", 40))
    }
    assert one("".join(lines.values()))["temperature_c"] == 40
    assert one(lines["core"] + lines["junction"])["temperature_c"] == 44
    assert one(lines["core"] + lines["mem"])["temperature_c"] == 33
    assert one(lines["junction"] + lines["edge"].replace("40", "511"))["temperature_c"] == 44


def test_a_fact_told_twice_must_be_the_same() -> None:
    line = "HCU[0] : HCU use (%): 10\n"
    assert one(line + line) == {"card": 0, "utilization": 10.0}
    told = read_smi(line + line.replace("10", "11"))
    assert told.cards == ({"card": 0},)
    assert told.notes == ("card 0: utilization: told more than once, and differently",)


@pytest.mark.parametrize(
    "row",
    [
        "0       50.0C    auto     1000.0W    0%         0.0%      0.0%      0.0%      Normal",
        "0       50.0C    80.0W  80.0W   auto     1000.0W    0%    0.0%      0.0%      0.0%      Normal",
        "0",
    ],
)
def test_a_row_that_does_not_fit_its_heading_is_not_read(row: str) -> None:
    heading = DTK_26_TABLE.text.split("\n")[0]
    told = read_smi(heading + "\n" + row)
    assert told.cards == ()
    assert "card 0: its row does not fit the heading of the table" in told.notes


def test_a_cell_in_the_wrong_column_is_not_read() -> None:
    shifted = "HCU Temp AvgPwr HCU% PwrCap\n0 80.0W 50.0C 20Mhz 5%\n"
    assert parse_smi(shifted) == [{"card": 0}]


def test_numbers_below_the_table_are_no_rows() -> None:
    text = "HCU Temp AvgPwr\n0 50.0C 80.0W\n======\n1 60.0C 90.0W\n"
    assert [card["card"] for card in parse_smi(text)] == [0]
    assert [card["card"] for card in parse_smi(text.replace("======", ""))] == [0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n \n",
        "hy-smi: command not found",
        "GPU not found. 3 devices.",
        "GPU power\n3 80.0W\n",
        "HCU [Model Temp AvgPwr\n0 1 50.0C 80.0W\n",
        "卡    温度     功率\n0     53.0C    96.0W\n",
        "HCU[0] : 温度: 40\n",
        "HCU[0] : \nHCU[] : HCU use (%): 5\nHCU[x] : HCU use (%): 5\nHCU[-1] : HCU use (%): 5",
        "Error: Open mkfd failed\nNo device available...",
        "{}",
        '{"card0": {}}',
        '{"card0": {"foo": "1"}}',
        '{"HCU use (%)": "5"}',
        '[{"gpu": 0, "HCU use (%)": "5"}]',
        '{"card0": {"sub": {"HCU use (%)": "5"}}}',
        '{"card0": "HCU use (%)"}',
        '{"0": {"HCU use (%)": "5"}}',
        "device,HCU use (%)\n-1,5\nall,5\n",
        "|   0  NVIDIA A10                     On  |   00000000:06:00.0 Off |                    0 |",
        "usage: hy-smi [-h] [--showuse]\nhy-smi: error: unrecognized arguments: --showpower",
        "\x00\x01\x02\ufffd" * 100,
        "\ud800 HCU",
    ],
)
def test_a_text_never_seen_before_is_unknown(text: str) -> None:
    told = read_smi(text)
    assert told.cards == ()
    assert told.notes and parse_smi(text) == []


def test_why_there_is_no_card() -> None:
    assert read_smi("").notes == ("the tool printed nothing",)
    assert read_smi("卡 温度").notes == (UNKNOWN,)
    mkfd = read_smi("Open mkfd failed\nNo device available, please check\n").notes
    assert mkfd == ('no card: the tool says "open mkfd failed"',)
    assert read_smi("HCU[0] : HCU use (%): 5\n" * LONGEST_TEXT).notes == (
        "the tool printed more than any known release does",
    )


def test_a_driver_told_without_a_card() -> None:
    told = read_smi("Driver Version: 6.3.31-V1.5.6\n")
    assert (told.cards, told.driver, told.notes) == ((), "6.3.31-V1.5.6", ())
    assert read_smi("Driver Version: unknown\nHCU[0] : HCU use (%): 5").cards == (
        {"card": 0, "utilization": 5.0},
    )


def test_two_drivers_are_none() -> None:
    told = read_smi("Driver Version: 6.3.31\nDriver Version: 6.3.30\nHCU[0] : HCU use (%): 5")
    assert (told.cards, told.driver) == (({"card": 0, "utilization": 5.0},), None)


@pytest.mark.parametrize("address", ["0000:0C:00.0", "00000000:0c:00.0", "0000:0c:00.0 --> SN: T1"])
def test_an_address_is_spelled_as_sysfs_spells_it(address: str) -> None:
    assert one(f"HCU[0] : PCI Bus: {address}") == {"card": 0, "bus": "0000:0c:00.0"}
    assert one("HCU[0] : PCI Bus: 00010000:0c:00.0")["bus"] == "00010000:0c:00.0"


def test_notes_are_few_and_told_once() -> None:
    text = "".join(f"HCU[{card}] : HCU use (%): 900\n" * 3 for card in range(100))
    assert len(read_smi(text).notes) == 20 == len(set(read_smi(text).notes))


@pytest.mark.parametrize(
    "broken",
    [
        '{"card0": {"HCU use (%)": "10" "vram Total Memory (MiB)": "65520"}}',
        '{"card0": {"HCU use (%)": "10",, "vram Total Memory (MiB)": "65520",}}',
        '{"card0": {"HCU use (%)": "10", "vram Total Memory (MiB)": "65520"',
        'WARNING: {low power}\n{"card0": {"HCU use (%)": 10, "vram Total Memory (MiB)": 65520}}\nbye',
        '{"card0": {"HCU use (%)": "10"}}\n{"card0": {"vram Total Memory (MiB)": "65520"}}',
        '{"card0": {"x": NaN, "HCU use (%)": 10, "y": [1, "HCU use (%)"], "vram Total Memory (MiB)": 65520}}',
        '{"card0": {"a\\"b": "\\u4e2d\\"", "HCU use (%)": "10", "vram Total Memory (MiB)": "65520"}}',
        '{"card0": {"HCU use (%)": "10", "lost: "x",\n "vram Total Memory (MiB)": "65520"}}',
    ],
)
def test_json_that_is_not_quite_json(broken: str) -> None:
    assert parse_smi(broken) == [{"card": 0, "utilization": 10.0, "total_bytes": 65520 * MIB}]


@pytest.mark.parametrize(
    "broken",
    [
        '{"card0": {"HCU use (%)": "vram Total Memory (MiB)": "x"}}',
        '{"card0": {"HCU use (%)": "10,"HCU memory use (%)":"5"}}',
        '{"card0": {"HCU use (%)": "1',
        '{"card0": {"HCU use (%)": 1',
        '{"card0": {"HCU use (%)": {"": "10"}}}',
        '{"card0": {"HCU use (%)", "10"}}',
        '{"card0": {"HCU use (%)": "lost\n"10", "x": "1"}}',
    ],
)
def test_json_that_may_have_lost_a_part_of_the_value(broken: str) -> None:
    assert all("utilization" not in card for card in parse_smi(broken))


@pytest.mark.parametrize(
    "spoilt",
    [
        '"card2": {},',
        '"card2": "lost,',
        '"card2",',
        '"crd2": {',
        '"sclk {"card2": {"x": "1",',
    ],
)
def test_a_lost_heading_gives_no_value_to_the_card_before(spoilt: str) -> None:
    text = f'{{"card1": {{"DCU use (%)": "50",\n{spoilt}\n"vram Total Memory (MiB)": "65520"}}}}'
    assert parse_smi(text) == [{"card": 1, "utilization": 50.0}]


def test_a_lost_bracket_gives_no_value_to_another_card() -> None:
    lost = JSON_FROM_CARD_1.text.replace("  },\n", "", 1)
    assert parse_smi(lost) == JSON_FROM_CARD_1.cards


@pytest.mark.parametrize(
    "garbage",
    [
        '"{' + '\\"' * 400_000,
        '{"' + "\n" * 900_000,
        '{"a":' * 180_000,
        " " * 900_000 + '{"',
        "GPU Temp AvgPwr\n" + "0 " * 450_000,
        ("GPU Temp AvgPwr " + "(" * 900 + "\n") * 1000,
        "GPU[0] : " + "((((" * 200_000 + ": 3",
        ("HCU[0] : " + "(" * 90 + ": 3\n") * 9000,
        ("PID " * 250 + "\n") * 900,
    ],
)
def test_long_garbage_is_read_in_one_pass(garbage: str) -> None:
    """No time is asserted: a pass over a pass of a million characters would not end."""
    assert parse_smi(garbage) == []
