"""Compilers seen from outside: stand-ins by the real ones' names, imported before and while they are watched."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from dcu_asv_ext.measure import compile_watch
from dcu_asv_ext.measure.compile_watch import (
    COMPILATION,
    EXTENSION_BUILD,
    EXTENSION_LOAD,
    IMPORTS,
    SEARCH,
    CompileWatch,
    Place,
)
from dcu_asv_ext.measure.spans import Span, shares

from ..asv_plugin.overlay_project import write

#: A compiler as torch, Triton and torch.utils.cpp_extension are built; `work` moves the clock.
COMPILER = """
    from contextlib import contextmanager
    from clockwork import work

    work(1)

    class Handler:
        @contextmanager
        def session(self, name):
            work(2)
            yield name
            work(3)

    def compile(source):
        work(5)
        if source is None:
            raise ValueError("no source")
        return build(source)

    def build(source):
        work(20)
        return load(source)

    def load(source):
        work(100)
        return source * 2

    class Tuner:
        def bench(self, source):
            work(1000)
            return compile(source)
"""
PLACES = (
    Place("fake_compiler", "compile", COMPILATION),
    Place("fake_compiler", "Handler.session", COMPILATION, manager=True),
    Place("fake_compiler", "build", EXTENSION_BUILD),
    Place("fake_compiler", "load", EXTENSION_LOAD),
    Place("fake_compiler", "Tuner.bench", SEARCH, needed=False),
    Place("fake_compiler", "gone_long_ago", SEARCH, needed=False),
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    write(tmp_path, {"fake_compiler.py": COMPILER})
    made = Clock()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "clockwork", SimpleNamespace(work=made.work))  # type: ignore[arg-type]
    monkeypatch.setattr(compile_watch, "PLACES", PLACES)
    monkeypatch.setattr(compile_watch, "PACKAGES", ("fake_compiler",))
    # Other tests of this process compile for real.
    monkeypatch.setattr(compile_watch, "_compiled_before", list)
    monkeypatch.setattr(compile_watch, "_compiled_unseen", list)
    yield made
    sys.modules.pop("fake_compiler", None)


def imported() -> Any:
    return importlib.import_module("fake_compiler")


def watched(clock: Clock, action: Callable[[], Any]) -> CompileWatch:
    watch = CompileWatch(clock)
    watch.begin()
    try:
        action()
    finally:
        watch.end()
    return watch


def seconds(watch: CompileWatch) -> dict[str, float]:
    return shares(watch.spans, 0, 1e9)


def test_a_compiler_that_was_imported_before(clock: Clock) -> None:
    compiler = imported()
    watch = watched(clock, lambda: compiler.compile(3))
    assert seconds(watch) == {COMPILATION: 5, EXTENSION_BUILD: 20, EXTENSION_LOAD: 100}
    assert watch.unseen == ""


def test_a_compiler_that_is_imported_meanwhile_and_what_that_takes(clock: Clock) -> None:
    watch = watched(clock, lambda: imported().Tuner().bench(3))
    assert seconds(watch) == {
        IMPORTS: 1,
        SEARCH: 1000,
        COMPILATION: 5,
        EXTENSION_BUILD: 20,
        EXTENSION_LOAD: 100,
    }


def test_a_name_that_was_taken_before_is_seen_through_what_it_calls(clock: Clock) -> None:
    compile = imported().compile
    watch = watched(clock, lambda: compile(3))
    assert seconds(watch) == {EXTENSION_BUILD: 20, EXTENSION_LOAD: 100}


def test_context_managers(clock: Clock) -> None:
    compiler = imported()

    def session() -> None:
        with compiler.Handler().session("s") as name:
            clock.work(10)
            assert name == "s"

    assert seconds(watched(clock, session)) == {COMPILATION: 15}


def test_faults_pass_through_and_their_time_counts(clock: Clock) -> None:
    compiler = imported()
    watch = CompileWatch(clock)
    watch.begin()
    with pytest.raises(ValueError, match="no source"):
        compiler.compile(None)
    with pytest.raises(KeyError), compiler.Handler().session("s"):
        raise KeyError
    watch.end()
    assert seconds(watch) == {COMPILATION: 7}


def test_afterwards_everything_is_as_it_was(clock: Clock) -> None:
    compiler = imported()
    before, finders = dict(vars(compiler)), list(sys.meta_path)
    session = compiler.Handler.session
    taken: list[Any] = []
    watch = watched(clock, lambda: taken.append(compiler.compile))
    assert {name: vars(compiler)[name] for name in before} == before and compiler.Handler.session is session
    assert sys.meta_path == finders
    assert taken[0] is not compiler.compile and taken[0](3) == 6, "kept by somebody, it goes on working"
    assert watch.spans == []
    watch.end()


def test_a_replacement_by_somebody_else_is_left_alone(clock: Clock) -> None:
    compiler = imported()
    other = object()
    watched(clock, lambda: setattr(compiler, "compile", other))
    assert compiler.compile is other


def test_nested_watches_see_each_call_once(clock: Clock) -> None:
    compiler = imported()
    outer = CompileWatch(clock)
    outer.begin()
    inner = watched(clock, lambda: compiler.load(1))
    outer.end()
    assert (seconds(outer), seconds(inner)) == ({EXTENSION_LOAD: 100}, {})


def test_a_version_that_compiles_elsewhere_is_not_taken_for_idle(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compile_watch, "PLACES", (*PLACES, Place("fake_compiler", "no_such", COMPILATION)))
    assert watched(clock, lambda: None).unseen == "", "not imported: it compiles nothing"
    assert watched(clock, imported).unseen == "this version of fake_compiler compiles in another place"


def test_an_import_that_fails_fails_as_it_would(clock: Clock, tmp_path: Path) -> None:
    write(tmp_path, {"fake_compiler.py": "raise OSError('half installed')"})
    watch = CompileWatch(clock)
    watch.begin()
    with pytest.raises(OSError, match="half installed"):
        imported()
    watch.end()
    assert "fake_compiler" not in sys.modules


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """modules(name=...) puts stand-ins for loaded modules in place, in place of all that may have compiled."""
    for name in ("torch._dynamo.utils", "torch.utils.cpp_extension", "torch._dynamo.callback"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in compile_watch._OTHERS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "torch.jit._state", ModuleType("empty"))
    monkeypatch.setitem(sys.modules, "torch.jit._recursive", ModuleType("empty"))
    return lambda name, **values: monkeypatch.setitem(sys.modules, name, SimpleNamespace(**values))


def reasons() -> list[str]:
    return compile_watch._compiled_before() + compile_watch._compiled_unseen()


def test_nothing_that_compiles_is_loaded(modules: Callable[..., None]) -> None:
    assert reasons() == []
    modules("torch._dynamo.utils", counters={"frames": {}}, compilation_time_metrics={"gc": [0.1]})
    modules("torch.utils.cpp_extension", JIT_EXTENSION_VERSIONER=SimpleNamespace(entries={}))
    assert reasons() == []


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("torch._dynamo.utils", {"counters": {"frames": {"total": 2}}}, "had compiled something before"),
        (
            "torch.utils.cpp_extension",
            {"JIT_EXTENSION_VERSIONER": SimpleNamespace(entries={"ext": 1})},
            "an extension had been loaded before",
        ),
        ("numba", {}, "numba is loaded, and what it compiles is not watched"),
        (
            "torch._dynamo.utils",
            {"compilation_time_metrics": {"compile_fx.<locals>.bw_compiler": [1.0]}},
            "does not tell when it compiled the backward pass",
        ),
        (
            "torch.jit._state",
            {"_python_cu": SimpleNamespace(get_functions=lambda: ["scripted"])},
            "TorchScript is in use",
        ),
        (
            "torch.jit._recursive",
            {"concrete_type_store": SimpleNamespace(type_store={"M": 1})},
            "TorchScript is in use",
        ),
    ],
)
def test_what_compiles_unseen_is_named(
    modules: Callable[..., None], name: str, values: dict[str, Any], reason: str
) -> None:
    modules(name, **values)
    assert len(reasons()) == 1 and reason in reasons()[0]


def test_a_backward_pass_that_is_told_is_no_reason(modules: Callable[..., None]) -> None:
    modules("torch._dynamo.utils", compilation_time_metrics={"compile_fx.<locals>.bw_compiler": [1.0]})
    modules("torch._dynamo.callback", CallbackTrigger=object())
    assert reasons() == []


def test_the_places_of_the_torch_that_is_here_exist() -> None:
    """In this process others compile too, so only the names are looked up."""
    for place in compile_watch.PLACES:
        if place.module.startswith("torch") and place.needed:
            owner = importlib.import_module(place.module)
            for part in place.name.split("."):
                owner = getattr(owner, part)
            assert callable(owner), place


def test_spans_are_plain(clock: Clock) -> None:
    compiler = imported()
    assert watched(clock, lambda: compiler.load(1)).spans == [Span(EXTENSION_LOAD, 1.0, 101.0)]
