"""The decorator in this process: names, checks of every keyword, the function it leaves callable."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import dcu_asv_ext as dcu
from dcu_asv_ext.decorator import spec_of
from dcu_asv_ext.measure.spec import Samples, Spec
from dcu_asv_ext.metrics import GROUPS, METRICS

DEFAULTS = ("latency", "device_time", "cold_start", "peak_allocated", "peak_reserved")


def spec(function: Callable[..., Any], **options: Any) -> Spec:
    found = spec_of(dcu.benchmark(**options)(function))
    assert found is not None
    return found


def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b


def _hidden() -> None: ...


def nothing() -> None:
    return None


def inputs(device: Any, n: int) -> tuple[int, int]:
    return n, n


def test_the_decorated_name_is_the_function_it_was() -> None:
    made: Any = dcu.benchmark(setup=lambda n: (n, n), params={"n": [1]})(add)
    assert made(1) == 3 and made(1, b=5) == 6
    assert made.__doc__ == "Adds."
    assert inspect.signature(made) == inspect.signature(add)
    assert made.__wrapped__ is add
    assert made.__name__ == "add" and made.__module__ == __name__
    with pytest.raises(TypeError, match="missing"):
        made()


def test_a_function_without_arguments_is_called_too() -> None:
    @dcu.benchmark
    def seven() -> int:
        return 7

    assert seven() == 7
    assert "<benchmark" in repr(seven)


def test_bare_and_with_brackets_are_the_same() -> None:
    bare, brackets = spec_of(dcu.benchmark(nothing)), spec_of(dcu.benchmark()(nothing))
    assert bare == brackets is not None


def test_the_family_leaves_out_the_root_of_the_suite() -> None:
    found = spec(nothing)
    assert __name__ == "tests.test_decorator"
    assert found.family == "test_decorator.nothing"
    assert spec(nothing, name="other").family == "test_decorator.other"


def test_default_metrics_depend_on_what_can_be_judged() -> None:
    assert spec(nothing).metrics == DEFAULTS
    assert spec(nothing, reference=nothing).metrics == (*DEFAULTS, "max_error")
    assert spec(nothing, check=lambda output: True).metrics == (*DEFAULTS, "task_metric")
    assert spec(nothing, metrics=["host_time", "latency"]).metrics == ("latency", "host_time")
    assert spec(nothing, metrics=[..., "host_time"]).metrics == (*DEFAULTS, "host_time")
    profile = spec(nothing, metrics=["latency", "profile"]).metrics
    assert profile == ("latency", *GROUPS["profile"])
    assert spec(nothing, metrics=["sync_count", "latency"]).metrics == ("latency", "sync_count")
    assert spec(nothing, metrics=[..., "mean_error"], reference=nothing).metrics == (
        *DEFAULTS,
        "max_error",
        "mean_error",
    )


def test_each_metric_is_an_attribute_with_what_asv_reads() -> None:
    made: Any = dcu.benchmark(
        setup=inputs, params={"n": [1, 2]}, reference=add, timeout=33, pretty_name="Sum"
    )(add)
    found = spec_of(made)
    assert found is not None
    for metric in found.metrics:
        method = getattr(made, metric)
        assert method.benchmark_name == f"test_decorator.add.{metric}"
        assert method.pretty_name == f"Sum: {METRICS[metric].label}"
        assert (method.params, method.param_names) == ([[1, 2]], ["n"])
        assert method.timeout == 33.0 and method.version == found.versions[metric]
        with pytest.raises(AssertionError, match="only carries"):
            method(None)


def test_defaults() -> None:
    found = spec(nothing)
    assert (found.rounds, found.timeout, found.repeat, found.cache) == (5, 600.0, 0, "session")
    assert (found.kind, found.mutates, found.variant, found.params) == ("workload", False, None, {})


def test_every_keyword_arrives() -> None:
    options: dict[str, Any] = {
        "setup": inputs,
        "teardown": add,
        "reset": nothing,
        "reference": add,
        "check": lambda output: True,
        "mutates": True,
        "params": {"n": range(3)},
        "rtol": 1e-2,
        "atol": 0,
        "kind": "micro",
        "rounds": 2,
        "variant": "fused",
        "cache": "fresh",
        "timeout": 5,
    }
    found = spec(add, repeat=[2, 9, 1], work={"flop": lambda n: n, "bytes": 4}, **options)
    assert {name: getattr(found, name) for name in options} == options | {"params": {"n": [0, 1, 2]}}
    assert found.repeat == (2, 9, 1.0)
    assert found.combinations() == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_a_declared_version_is_every_metrics() -> None:
    assert set(spec(nothing, version=3).versions.values()) == {"3"}


def test_parameters_of_a_function_without_setup() -> None:
    assert spec(lambda n, dtype: None, name="f", params={"n": [1], "dtype": ["x"]}).params == {
        "n": [1],
        "dtype": ["x"],
    }
    assert spec(lambda device, **rest: None, name="f", params={"n": [1]}).params == {"n": [1]}


def test_a_seed_hangs_on_function_and_parameters_alone() -> None:
    one, two = (
        spec(add, setup=inputs, params={"n": [1, 2]}),
        spec(add, setup=inputs, params={"n": [1, 2]}, rounds=9),
    )
    assert one.seed({"n": 1}) == two.seed({"n": 1}) != one.seed({"n": 2})
    assert spec(add, setup=inputs, params={"n": [1]}, name="other").seed({"n": 1}) != one.seed({"n": 1})


def test_samples_is_a_list_of_argument_sets() -> None:
    made = dcu.samples([(1,), {"a": 2}])
    assert isinstance(made, Samples) and list(made) == [(1,), {"a": 2}]


def unaddressed(value: object) -> str:
    """As text that is the same in every process."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"setpu": nothing}, r"unknown keyword 'setpu' \(did you mean 'setup'\?\)"),
    ({"zzz": 1}, "unknown keyword 'zzz'; known: setup"),
    ({"setup": 3}, "setup must be a function, not int"),
    ({"teardown": "x"}, "teardown must be a function"),
    ({"reset": []}, "reset must be a function"),
    ({"reference": 1.0}, "reference must be a function"),
    ({"check": True}, "check must be a function"),
    ({"metrics": ["latencyy"]}, r"unknown metric 'latencyy' \(did you mean 'latency'\?\)"),
    ({"metrics": ["profil"]}, r"unknown metric 'profil' \(did you mean 'profile'\?\)"),
    ({"metrics": ["kernel_counts"]}, r"did you mean 'kernel_count'\?"),
    ({"metrics": "latency"}, r"write metrics=\['latency'\]"),
    ({"metrics": []}, "metrics is empty"),
    ({"metrics": 5}, "metrics must be a list of names, not 5"),
    ({"metrics": [["latency"]]}, r"unknown metric \['latency'\]"),
    ({"metrics": [None]}, "unknown metric None"),
    ({"metrics": ["max_error"]}, "the metric max_error needs a reference="),
    ({"metrics": [..., "mean_error"]}, "the metric mean_error needs a reference="),
    ({"metrics": ["task_metric"]}, "the metric task_metric needs a check="),
    ({"params": [1, 2]}, "params must map names to lists of values, not list"),
    ({"params": {"n": 5}}, r"params\['n'\] must be a list of values, not 5"),
    ({"params": {"n": "abc"}}, r"params\['n'\] must be a list"),
    ({"params": {"n": {1, 2}}}, r"params\['n'\] must be a list"),
    ({"params": {"n": (x for x in "a")}}, r"params\['n'\] must be a list"),
    ({"params": {"n": []}}, r"params\['n'\] is empty"),
    ({"params": {"not a name": [1]}}, "'not a name' cannot be the name of a parameter"),
    ({"params": {3: [1]}}, "3 cannot be the name of a parameter"),
    ({"params": {"device": ["cpu"]}}, "'device' cannot be the name of a parameter"),
    ({"params": {"n": [1]}}, "the function does not take n, which params declares"),
    ({"setup": lambda size: (), "params": {"n": [1]}}, "setup asks for size, which is no parameter"),
    ({"setup": lambda: (), "params": {"n": [1]}}, "setup does not take n, which params declares"),
    ({"setup": lambda n, /: (), "params": {"n": [1]}}, "positional-only"),
    ({"rounds": 0}, "rounds must be a whole number of at least 1, not 0"),
    ({"rounds": 2.5}, "rounds must be a whole number"),
    ({"rounds": True}, "rounds must be a whole number"),
    ({"repeat": -1}, "repeat must be a count or"),
    ({"repeat": True}, "repeat must be a count or"),
    ({"repeat": (5, 2, 1.0)}, "repeat must be a count or"),
    ({"repeat": (0, 2, 1.0)}, "repeat must be a count or"),
    ({"repeat": (1, 2)}, "repeat must be a count or"),
    ({"repeat": (1.5, 2, 1.0)}, "repeat must be a count or"),
    ({"repeat": ("1", 2, 1.0)}, "repeat must be a count or"),
    ({"repeat": (1, 2, math.nan)}, "repeat must be a count or"),
    ({"rtol": -1}, "rtol must be a number of at least 0, not -1"),
    ({"atol": "tight"}, "atol must be a number of at least 0"),
    ({"atol": math.nan}, "atol must be a number"),
    ({"work": 5}, "work takes"),
    ({"work": {"flops": 5}}, "work takes"),
    ({"work": {"flop": "many"}}, r"work\['flop'\] must be a number or a function"),
    ({"work": {"bytes": True}}, r"work\['bytes'\] must be a number or a function"),
    ({"kind": "macro"}, "kind must be one of workload, micro, not 'macro'"),
    ({"cache": "none"}, "cache must be one of session, fresh, shared, not 'none'"),
    ({"name": "a.b"}, "must be a Python identifier"),
    ({"name": 7}, "must be a Python identifier"),
    ({"timeout": "long"}, "timeout must be a number of seconds above 0, not 'long'"),
    ({"timeout": 0}, "timeout must be a number of seconds above 0"),
    ({"timeout": -3}, "timeout must be a number of seconds above 0"),
    ({"timeout": math.inf}, "timeout must be a number of seconds above 0"),
    ({"mutates": "no"}, "mutates must be True or False, not 'no'"),
    ({"variant": 3}, "variant must be text, not 3"),
]


@pytest.mark.parametrize(
    ("options", "words"), BAD, ids=[unaddressed(next(iter(options.items())))[:40] for options, _ in BAD]
)
def test_a_bad_keyword_is_told_in_one_sentence(options: dict[str, Any], words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        dcu.benchmark(**options)(nothing)
    text = str(caught.value)
    assert text.startswith("@dcu.benchmark on nothing: ") and "\n" not in text


class Suite:
    def time_it(self) -> None: ...

    @staticmethod
    def alone(a: int) -> int:
        return a


async def waits() -> None: ...


def yields() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (Suite, "decorates a function, not type"),
        (5, "decorates a function, not int"),
        (None, "decorates a function, not NoneType"),
        (Suite.time_it, "methods of asv classes are not supported; make it a module-level function"),
        (waits, "coroutine or generator"),
        (yields, "coroutine or generator"),
        (lambda: None, "must be a Python identifier"),
        (functools.partial(add, 1), "give one with name="),
        (_hidden, "asv does not look at names that begin with _"),
    ],
    ids=unaddressed,
)
def test_what_is_no_plain_function_is_refused(thing: Any, words: str) -> None:
    with pytest.raises((TypeError, ValueError), match=words) as caught:
        dcu.benchmark()(thing)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("brackets", [True, False])
def test_methods_are_refused_where_they_are_written(brackets: bool) -> None:
    """asv would never find it there, with self or without."""
    with pytest.raises(TypeError, match="methods of asv classes are not supported"):

        class Bench:
            @(dcu.benchmark() if brackets else dcu.benchmark)
            def latency_of(other: int = 3) -> int:
                return other


def test_decorating_twice_is_refused() -> None:
    made = dcu.benchmark(nothing)
    with pytest.raises(TypeError, match="decorates a function"):
        dcu.benchmark(made)


def test_builtins_and_partials_with_a_name() -> None:
    import torch

    made: Any = dcu.benchmark(setup=inputs, params={"n": [1]})(torch.matmul)
    assert spec_of(made).family == "test_decorator.matmul"  # type: ignore[union-attr]
    assert made(torch.ones(2), torch.ones(2)) == 2
    with pytest.raises(TypeError, match="give setup="):
        dcu.benchmark(params={"n": [1]})(torch.matmul)
    partial: Any = dcu.benchmark(name="three")(functools.partial(add, 1))
    assert partial() == 3
    assert spec(Suite.alone, setup=lambda: (1,)).name == "alone"


def test_asv_marks_below_ours_count() -> None:
    from asv_runner.benchmarks import mark

    skipping: Any = dcu.benchmark(setup=inputs, params={"n": [1, 2]})(mark.skip_for_params([(2,)])(add))
    assert skipping.latency.skip_params == [(2,)]
    assert inspect.signature(skipping) == inspect.signature(add)
    assert dcu.benchmark(mark.skip_benchmark(nothing)).latency.skip_benchmark is True  # type: ignore[attr-defined]
    assert not hasattr(dcu.benchmark(nothing).latency, "skip_benchmark")  # type: ignore[attr-defined]
    marked = spec(mark.parameterize({"n": [1, 2], "m": ["x"]})(lambda n, m: None), name="f")
    assert marked.params == {"n": [1, 2], "m": ["x"]}
    assert spec(mark.timeout_at(7)(nothing)).timeout == 7.0
    assert spec(mark.timeout_at(7)(nothing), timeout=9).timeout == 9.0


def test_asv_params_without_names_are_refused() -> None:
    def unnamed(n: int) -> None: ...

    unnamed.params = [1, 2]  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="no param_names"):
        dcu.benchmark()(unnamed)
    unnamed.param_names = ["n"]  # type: ignore[attr-defined]
    assert spec(unnamed).params == {"n": [1, 2]}


_numbers = itertools.count()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """module(text) imports the text as a module of a suite."""

    def imported(text: str) -> Any:
        name = f"decorated{next(_numbers)}"
        (tmp_path / f"{name}.py").write_text("import dcu_asv_ext as dcu\n" + text)
        monkeypatch.syspath_prepend(str(tmp_path))
        importlib.invalidate_caches()
        return importlib.import_module(name)

    return imported


TWICE = "@dcu.benchmark\ndef f():\n    return {}\n"


def test_two_functions_of_one_name_are_refused(module: Callable[[str], Any]) -> None:
    with pytest.raises(
        ValueError, match=r"two benchmarks are named f \(also f\); tell them apart with name="
    ):
        module(TWICE.format(1) + TWICE.format(2))


def test_two_imported_functions_of_one_name(module: Callable[[str], Any]) -> None:
    text = (
        "from posixpath import split\nfrom ntpath import split as other\n"
        "one = dcu.benchmark(setup=lambda: 'a')(split)\ntwo = dcu.benchmark(setup=lambda: 'a'{})(other)\n"
    )
    with pytest.raises(ValueError, match=r"two benchmarks are named split \(also one\)"):
        module(text.format(""))
    made = module(text.format(", name='nt'"))
    assert (spec_of(made.one).family, spec_of(made.two).family) == ("split", "nt")  # type: ignore[union-attr]


def test_one_function_measured_in_two_ways_needs_two_names(module: Callable[[str], Any]) -> None:
    text = (
        "def f(n):\n    return n\n"
        "one = dcu.benchmark(params={{'n': [1]}})(f)\ntwo = dcu.benchmark(params={{'n': [2]}}{})(f)\n"
    )
    with pytest.raises(ValueError, match=r"two benchmarks are named f \(also one\)"):
        module(text.format(""))
    assert module(text.format(", name='g'")).two(4) == 4


def test_a_module_can_be_reloaded(module: Callable[[str], Any]) -> None:
    made = module(
        "from posixpath import split\n" + TWICE.format(1) + "g = dcu.benchmark(setup=lambda: 'a')(split)\n"
    )
    assert importlib.reload(made).f() == 1


def test_a_value_whose_name_changes_with_every_process_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"params\['fn'\] holds .* whose name changes .* look them up in setup"
    ):
        spec(lambda fn: None, name="f", params={"fn": [torch.relu]})


def test_a_plain_function_as_a_value_gives_the_same_seed_in_every_process() -> None:
    def one() -> None: ...

    def two() -> None: ...

    made = spec(lambda fn: None, name="f", params={"fn": [one]})
    two.__qualname__ = one.__qualname__
    assert made.seed({"fn": one}) == made.seed({"fn": two})
