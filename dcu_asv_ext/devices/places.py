"""The Python line that made an allocation: the innermost one that is neither torch's nor this package's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import FrameType, ModuleType
from typing import Any

from .holders import NO_LINE

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: Folders named in front of a file's name, at most.
_FOLDERS = 2


class Places:
    """Lines as "folder/file.py:12 in function". torch: the module, whose own files are passed over."""

    def __init__(self, torch: Any) -> None:
        folder = os.path.dirname(os.path.abspath(torch.__file__))
        self._ours = (folder + os.sep, _PACKAGE)

    def here(self, thread: int) -> str:
        """Where the running code was called from; on a thread without Python code of its own (as that of a backward
        pass), where `thread` (an identifier of `threading`) is.
        """
        return self._line(sys._getframe()) or self._line(sys._current_frames().get(thread)) or NO_LINE

    def of(self, frames: Iterable[Mapping[str, Any]]) -> str:
        """From a snapshot's frames, innermost first."""
        for frame in frames:
            if not self._passed_over(frame["filename"]):
                return _text(frame["filename"], frame["line"], frame["name"])
        return NO_LINE

    def function_of(self, frames: Iterable[Mapping[str, Any]]) -> str:
        """torch's own innermost Python function, as "functional.py relu"; "" where the line called none."""
        for frame in frames:
            filename = frame["filename"]
            if filename.startswith(self._ours[0]):
                return f"{os.path.basename(filename)} {frame['name']}"
            if not self._passed_over(filename):
                return ""
        return ""

    def _line(self, frame: FrameType | None) -> str:
        while frame is not None:
            code = frame.f_code
            if not self._passed_over(code.co_filename):
                return _text(code.co_filename, frame.f_lineno, code.co_name)
            frame = frame.f_back
        return ""

    def _passed_over(self, filename: str) -> bool:
        # "<frozen importlib._bootstrap>", and code that torch wrote itself, as "<eval_with_key>.0".
        return filename.startswith(("<", *self._ours)) or not filename.endswith(".py")


def _text(filename: str, line: int, function: str) -> str:
    return f"{short_path(filename)}:{line} in {function}"


@lru_cache(maxsize=4096)
def short_path(filename: str) -> str:
    """The file's name below the package that Python imported it from, with two folders at most: it names no user
    and no machine.
    """
    path = os.path.abspath(filename)
    name = next((name for name, file in _imported() if os.path.abspath(file) == path), "")
    folders = name.count(".") + (name != "" and os.path.basename(path) == "__init__.py")
    return "/".join(path.split(os.sep)[-1 - min(folders, _FOLDERS) :])


def _imported() -> Iterator[tuple[str, str]]:
    """(name, file) of the imported modules."""
    for name, module in list(sys.modules.items()):
        # Lazy stand-ins for modules run code when they are asked for an attribute.
        file = vars(module).get("__file__") if type(module) is ModuleType else None
        if isinstance(file, str):
            yield name, file
