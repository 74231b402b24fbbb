"""Loading a management library. A broken one can end the process, so only a process of its own may do it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import NotMeasured


def load(name: str, folders: Sequence[str], root: Path = Path("/")) -> ctypes.CDLL:
    """The library in the first of the folders that has it, else wherever the loader finds it.

    folders: relative to `root`. A root other than "/" is a made-up machine: only its folders are looked at.
    Raises NotMeasured.
    """
    places = [str(root / folder / name) for folder in folders if (root / folder / name).exists()]
    if root == Path("/"):
        places.append(name)
    words = ""
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as error:
            words = f" ({error})" if place != name else words
    raise NotMeasured(f"{name} is not installed" if not words else f"{name} cannot be loaded{words}")


class Calls:
    """A library's functions, of which any may be missing in a release; each answers 0 for success."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def succeeds(self, name: str, *arguments: Any) -> bool:
        function = getattr(self._library, name, None)
        return function is not None and function(*arguments) == 0

    def value(self, name: str, kind: Any, *arguments: Any) -> Any:
        """What the function writes through its last parameter, None where it fails. kind: a ctypes type."""
        out = kind()
        if not self.succeeds(name, *arguments, ctypes.byref(out)):
            return None
        return out if isinstance(out, ctypes.Structure) else out.value
