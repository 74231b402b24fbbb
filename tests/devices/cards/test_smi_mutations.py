"""Two thousand spoilt outputs: every fact that is still read is right, or what the spoilt text now says."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from dcu_asv_ext.devices.cards.smi import SmiText, read_smi

from .smi_oracle import says
from .smi_samples import SAMPLES, Sample

ROUNDS = 2000
SEED = 20240607

#: For mutations that leave every value with its label and its card: the values cannot have changed.
_INTACT = {
    "noise lines",
    "doubled lines",
    "blank lines",
    "other line ends",
    "wider spaces",
    "other order of lines",
    "translated words",
    "other card word",
}
_CHINESE = {
    "Temp": "温度",
    "Temperature": "温度",
    "Memory": "内存",
    "memory": "内存",
    "VRAM": "显存",
    "vram": "显存",
    "use": "使用率",
    "Card": "卡",
    "Power": "功率",
    "AvgPwr": "平均功率",
    "Total": "总",
    "Used": "已用",
    "HCU": "加速卡",
    "device": "设备",
    "Perf": "性能",
    "auto": "自动",
}
_NOISE = (
    "WARNING: 3 devices are in a low-power state",
    "Exception caught: map::at",
    "1 2 3 4 5 6 7 8 9 10",
    "12 53.0C 96.0W auto",
    "设备 0 温度 53.0C",
    "===== 64 =====",
    "{",
    "[0] 75",
    "0x74a1 : 0x00",
    "Traceback (most recent call last):",
    "\x1b[31m100%\x1b[0m",
)
_ODD = (
    "inf",
    "-inf",
    "nan",
    "N/A",
    "-5",
    "5000",
    "1e309",
    "9" * 25,
    "",
    "0x10",
    "1,5",
    "None",
    "未知",
    "٣",
    "1_0",
)
_UNITS = ("(B)", "(KiB)", "(MiB)", "(GiB)", "(MB)", "(GB)", "(W)", "(mW)", "(%)", "(C)", "(F)", "(K)", "")


def lines_of(text: str) -> list[str]:
    return text.split("\n")


def noise_lines(text: str, draw: random.Random) -> str:
    lines = lines_of(text)
    for _ in range(draw.randint(1, 5)):
        lines.insert(draw.randint(0, len(lines)), draw.choice(_NOISE))
    return "\n".join(lines)


def doubled_lines(text: str, draw: random.Random) -> str:
    lines = lines_of(text)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(lines))
        lines.insert(at, lines[at])
    return "\n".join(lines)


def blank_lines(text: str, draw: random.Random) -> str:
    lines = lines_of(text)
    for _ in range(draw.randint(1, 5)):
        lines.insert(draw.randint(0, len(lines)), draw.choice(("", "  ", "\t")))
    return "\n".join(lines)


def other_line_ends(text: str, draw: random.Random) -> str:
    return text.replace("\n", draw.choice(("\r\n", "\r", " \n")))


def wider_spaces(text: str, draw: random.Random) -> str:
    return re.sub(" +", lambda found: found.group() + " " * draw.randint(0, 3), text)


def other_order(text: str, draw: random.Random) -> str:
    lines = lines_of(text)
    if '"' not in text:
        draw.shuffle(lines)
    return "\n".join(lines)


def translated_words(text: str, draw: random.Random) -> str:
    for word in draw.sample(sorted(_CHINESE), draw.randint(1, 5)):
        text = re.sub(rf"\b{word}\b", _CHINESE[word], text)
    return text


def other_card_word(text: str, draw: random.Random) -> str:
    return re.sub(r"\b[GDH]CU\b|\bGPU\b", lambda found: draw.choice(("GPU", "DCU", "HCU")), text)


def cut(text: str, draw: random.Random) -> str:
    return text[: draw.randrange(len(text))]


def cut_in_front(text: str, draw: random.Random) -> str:
    return text[draw.randrange(len(text)) :]


def dropped_characters(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(text))
        text = text[:at] + text[at + 1 :]
    return text


def inserted_characters(text: str, draw: random.Random) -> str:
    for _ in range(draw.randint(1, 6)):
        at = draw.randrange(len(text))
        text = text[:at] + draw.choice('0123456789.,:"{}[]()%CWx \t\n-\\中\x00') + text[at:]
    return text


def swapped_words(text: str, draw: random.Random) -> str:
    """Two headings, labels or values change places."""
    words = re.split(r"(\s+)", text)
    for _ in range(draw.randint(1, 3)):
        at, other = (2 * draw.randrange((len(words) + 1) // 2) for _ in range(2))
        words[at], words[other] = words[other], words[at]
    return "".join(words)


def swapped_lines_labels(text: str, draw: random.Random) -> str:
    labels = sorted(set(re.findall(r"[A-Za-z][A-Za-z ]+ \([A-Za-z%]+\)", text)))
    if len(labels) < 2:
        return swapped_words(text, draw)
    one, other = draw.sample(labels, 2)
    return text.replace(one, "\0").replace(other, one).replace("\0", other)


def dropped_words(text: str, draw: random.Random) -> str:
    words = re.split(r"(\s+)", text)
    for _ in range(draw.randint(1, 3)):
        words[2 * draw.randrange((len(words) + 1) // 2)] = ""
    return "".join(words)


def changed_units(text: str, draw: random.Random) -> str:
    text = re.sub(r"\((?:B|MiB|W|C|%)\)", lambda found: draw.choice((found.group(), *_UNITS)), text)
    return re.sub(
        r"(?<=[0-9])(?:C|c|W|Mhz|%)(?= )",
        lambda found: draw.choice((found.group(), "F", "W", "Ghz", "%")),
        text,
    )


def odd_values(text: str, draw: random.Random) -> str:
    return re.sub(
        r"(?<![\w\[.])[0-9]+(?:\.[0-9]+)?(?![\w\].])",
        lambda found: draw.choice(_ODD) if draw.random() < 0.3 else found.group(),
        text,
    )


def with_another(text: str, draw: random.Random) -> str:
    return text + draw.choice(("", "\n")) + draw.choice(sorted(sample.text for sample in SAMPLES.values()))


MUTATIONS: dict[str, Callable[[str, random.Random], str]] = {
    "noise lines": noise_lines,
    "doubled lines": doubled_lines,
    "blank lines": blank_lines,
    "other line ends": other_line_ends,
    "wider spaces": wider_spaces,
    "other order of lines": other_order,
    "translated words": translated_words,
    "other card word": other_card_word,
    "cut": cut,
    "cut in front": cut_in_front,
    "dropped characters": dropped_characters,
    "inserted characters": inserted_characters,
    "swapped words": swapped_words,
    "swapped labels": swapped_lines_labels,
    "dropped words": dropped_words,
    "changed units": changed_units,
    "odd values": odd_values,
    "two outputs": with_another,
}


def facts(cards: list[dict[str, Any]] | tuple[dict[str, Any], ...]) -> dict[tuple[int, str], Any]:
    return {(card["card"], key): value for card in cards for key, value in card.items() if key != "card"}


def check(text: str, read: SmiText, sample: Sample, mutation: str) -> int:
    """The number of facts read, all of them right."""
    found, true = facts(read.cards), facts(sample.cards)
    for (card, key), value in found.items():
        claim = f"{mutation}: card {card} {key} = {value!r}\n{text}"
        if mutation in _INTACT:
            # Where the first of several sensors is spoilt, the text may still tell the next.
            other_sensor = key in ("temperature_c", "utilization") and says(text, card, key, value)
            assert true.get((card, key)) == value or other_sensor, claim
        else:
            assert says(text, card, key, value), claim
        believable(key, value, claim)
    for card in read.cards:
        assert card.get("used_bytes", 0) <= card.get("total_bytes", 2**62)
    assert found or read.notes or read.cards or read.driver
    return len(found)


def believable(key: str, value: Any, claim: str) -> None:
    most = {"temperature_c": 150, "utilization": 100, "power_w": 3000, "power_cap_w": 3000}
    if isinstance(value, str):
        assert value and value.isascii(), claim
    else:
        assert 0 <= value <= most.get(key, 2**42), claim


def test_the_oracle_agrees_with_every_sample_and_with_nothing_else() -> None:
    for name, sample in SAMPLES.items():
        for (card, key), value in facts(sample.cards).items():
            assert says(sample.text, card, key, value), (name, card, key)
            wrong = value * 10 + 1 if not isinstance(value, str) else value + "x"
            assert not says(sample.text, card, key, wrong), (name, card, key)
            assert not says(sample.text, card + 50, key, value) or key == "driver", (name, card, key)


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_spoilt_outputs_are_right_or_unknown(mutation: str) -> None:
    draw = random.Random(f"{SEED} {mutation}")
    samples = list(SAMPLES.values())
    read_facts = possible = 0
    for number in range(ROUNDS // len(MUTATIONS) + 1):
        sample = samples[number % len(samples)]
        text = MUTATIONS[mutation](sample.text, draw)
        read_facts += check(text, read_smi(text), sample, mutation)
        possible += len(facts(sample.cards))
    # Not by saying nothing: what is not spoilt is still read.
    assert read_facts >= _LEAST_READ.get(mutation, 0.4) * possible


_LEAST_READ = {
    "noise lines": 0.9,
    "doubled lines": 0.95,
    "other line ends": 1.0,
    "wider spaces": 1.0,
    "other card word": 1.0,
    "cut": 0.2,
    "cut in front": 0.2,
    "odd values": 0.3,
}


def test_several_at_once() -> None:
    draw = random.Random(SEED)
    samples = list(SAMPLES.values())
    for _ in range(ROUNDS // 4):
        text = draw.choice(samples).text
        for mutation in draw.sample(sorted(MUTATIONS), 3):
            text = MUTATIONS[mutation](text, draw) if len(text) > 10 else text
        read = read_smi(text)
        for (card, key), value in facts(read.cards).items():
            assert says(text, card, key, value), f"card {card} {key} = {value!r}\n{text}"
