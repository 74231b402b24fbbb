"""How long compilers and extension builds take in this process, seen from outside them.

Functions are wrapped at places where their callers look them up anew at each call, so that it does not matter who
imported what before. Nothing is imported for it: a module that comes later is met as it comes.
"""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from typing import Any

from .spans import Span

COMPILATION, IMPORTS, SEARCH = "compilation", "compiler_imports", "algorithm_search"
EXTENSION_BUILD, EXTENSION_LOAD = "extension_build", "extension_load"


@dataclass(frozen=True)
class Place:
    """A function to be timed: `name` (dotted for a method) in `module`.

    needed: without it, what the module compiles goes unseen. manager: it returns a context manager.
    """

    module: str
    name: str
    kind: str
    needed: bool = True
    manager: bool = False


_DYNAMO, _CALLBACK = "torch._dynamo.convert_frame", "torch._dynamo.callback"
_EXTENSIONS = "torch.utils.cpp_extension"

PLACES = (
    # A frame is traced and given to the back end; in torch 2.1 to 2.13 at least.
    Place(_DYNAMO, "_compile", COMPILATION),
    # From torch 2.5 on; the backward pass, which is compiled at its first use.
    Place(_CALLBACK, "CompilationCallbackHandler.install_callbacks", COMPILATION, needed=False, manager=True),
    Place("torch._inductor.compile_fx", "compile_fx", COMPILATION),
    Place(
        "torch._inductor.runtime.triton_heuristics", "CachingAutotuner.autotune_to_one_config", SEARCH, False
    ),
    Place("torch._inductor.triton_heuristics", "CachingAutotuner.autotune_to_one_config", SEARCH, False),
    Place("triton.compiler", "compile", COMPILATION),
    Place("triton", "compile", COMPILATION, False),
    # The launcher of a kernel, which is C.
    Place("triton.runtime.build", "_build", COMPILATION, False),
    Place("triton.runtime.autotuner", "Autotuner._bench", SEARCH, False),
    # `load` and `load_inline` both come here; what of it is not loading is building.
    Place(_EXTENSIONS, "_jit_compile", EXTENSION_BUILD),
    Place(_EXTENSIONS, "_import_module_from_library", EXTENSION_LOAD),
)

#: The compilers' own packages, whose imports are timed as such.
PACKAGES = (
    "torch._dynamo",
    "torch._functorch.aot_autograd",
    "torch._inductor",
    "torch._inductor.compile_fx",
    "torch._inductor.runtime.triton_heuristics",
    "triton",
    _EXTENSIONS,
)

#: Compilers in a process that nobody times here.
_OTHERS = ("cupy", "cutlass", "jax", "numba", "pycuda", "taichi", "tilelang", "tvm", "warp")


class CompileWatch:
    """Between `begin` and `end`, notes when something is compiled, built, loaded or searched for.

    spans: what was seen, by the given clock. Raises nothing of its own; the watched functions' faults pass through.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.spans: list[Span] = []
        self._clock = clock
        self._watching = False
        self._unseen: list[str] = []
        self._replaced: list[tuple[Any, str, Any, Any]] = []
        self._finder = _Finder({one.module for one in PLACES} | set(PACKAGES), self._import)

    def begin(self) -> None:
        self._unseen += _compiled_before()
        self._watching = True
        for module in {one.module for one in PLACES} & set(sys.modules):
            self._wrap_in(module)
        sys.meta_path.insert(0, self._finder)

    def end(self) -> None:
        """Put everything back; what others kept of a wrapped function passes through from now on."""
        if not self._watching:
            return
        self._unseen += _compiled_unseen()
        self._watching = False
        with suppress(ValueError):
            sys.meta_path.remove(self._finder)
        for owner, name, original, wrapped in reversed(self._replaced):
            if inspect.getattr_static(owner, name, None) is wrapped:
                setattr(owner, name, original)
        self._replaced.clear()

    @property
    def unseen(self) -> str:
        """Why something may have been compiled unseen; "" where all that could compile was watched."""
        return "; ".join(dict.fromkeys(self._unseen))

    @contextmanager
    def _span(self, kind: str) -> Iterator[None]:
        begin = self._clock()
        try:
            yield
        finally:
            self.spans.append(Span(kind, begin, self._clock()))

    def _import(self, name: str, execute: Callable[[], None]) -> None:
        if not self._watching:
            execute()
            return
        with self._span(IMPORTS):
            execute()
        self._wrap_in(name)

    def _wrap_in(self, module: str) -> None:
        for place in PLACES:
            if place.module != module:
                continue
            owner, _, name = place.name.rpartition(".")
            holder = sys.modules[module] if not owner else getattr(sys.modules[module], owner, None)
            original = inspect.getattr_static(holder, name, None)
            if not callable(original):
                if place.needed:
                    self._unseen.append(
                        f"this version of {module.partition('.')[0]} compiles in another place"
                    )
            elif not hasattr(original, "_dcu_timed"):
                wrapped = (self._managed if place.manager else self._timed)(place.kind, original)
                setattr(holder, name, wrapped)
                self._replaced.append((holder, name, original, wrapped))

    def _timed(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if not self._watching:
                return function(*args, **kwargs)
            with self._span(kind):
                return function(*args, **kwargs)

        timed._dcu_timed = True  # type: ignore[attr-defined]
        return timed

    def _managed(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        @contextmanager
        def timed(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with self._span(kind), function(*args, **kwargs) as value:
                yield value

        timed._dcu_timed = True  # type: ignore[attr-defined]
        return timed


class _Finder:
    """Finds nothing itself: what the other finders find of `names` is imported through `around(name, execute)`."""

    def __init__(self, names: set[str], around: Callable[[str, Callable[[], None]], None]) -> None:
        self._names, self._around = names, around
        self._asking: set[str] = set()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in self._names or name in self._asking:
            return None
        self._asking.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.discard(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            # The loader is made for this one module.
            spec.loader.exec_module = (  # type: ignore[method-assign]
                lambda module: self._around(name, functools.partial(execute, module))
            )
        return spec


def _compiled_before() -> list[str]:
    """What had been compiled before the watch began, as when the suite was imported."""
    found = []
    if _entry("torch._dynamo.utils", "counters", "frames").get("total"):
        found.append("torch.compile had compiled something before the measurement began")
    if getattr(getattr(sys.modules.get(_EXTENSIONS), "JIT_EXTENSION_VERSIONER", None), "entries", None):
        found.append("an extension had been loaded before the measurement began")
    return found


def _compiled_unseen() -> list[str]:
    found = [
        f"{name} is loaded, and what it compiles is not watched" for name in _OTHERS if name in sys.modules
    ]
    lazily = any("bw_compiler" in name for name in _entry("torch._dynamo.utils", "compilation_time_metrics"))
    if lazily and not hasattr(sys.modules.get(_CALLBACK), "CallbackTrigger"):
        found.append("this version of torch does not tell when it compiled the backward pass")
    if _has_torchscript():
        found.append("TorchScript is in use, and what it compiles is not watched")
    return found


def _entry(module: str, name: str, *keys: str) -> Any:
    found = getattr(sys.modules.get(module), name, {})
    for key in keys:
        found = found.get(key) or {}
    return found


def _has_torchscript() -> bool:
    unit = getattr(sys.modules.get("torch.jit._state"), "_python_cu", None)
    store = getattr(sys.modules.get("torch.jit._recursive"), "concrete_type_store", None)
    return bool((unit is not None and unit.get_functions()) or getattr(store, "type_store", None))
