"""The names that a page embeds: each once, and none longer than a page can carry."""

from __future__ import annotations

import re

#: Letters of all names together, and how long one may be: the first length with which they fit.
_MOST_LETTERS = 1_000_000
_LENGTHS = (1000, 300, 100, 40, 16)
_UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Names:
    """Texts that become numbers; `texts` are those to embed."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self._numbers.setdefault(text, len(self._numbers))

    def known(self, text: str) -> int | None:
        """The number of a text that has one."""
        return self._numbers.get(text)

    @property
    def texts(self) -> list[str]:
        names = [printable(name) for name in self._numbers]
        for length in _LENGTHS:
            cut = [shortened(name, length) for name in names]
            if sum(map(len, cut)) <= _MOST_LETTERS:
                break
        return cut


def printable(text: str) -> str:
    """A text that any encoder and XML take: half letters (lone surrogates) and control letters are replaced."""
    return _UNFIT.sub("\ufffd", text)


def shortened(text: str, most: int) -> str:
    """The whole text, or its beginning and its end: names of kernels differ in both."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 1]}…{text[len(text) - end :]}"
