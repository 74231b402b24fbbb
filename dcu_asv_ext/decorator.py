"""`@dcu.benchmark`: an ordinary function becomes a family of asv benchmarks, one per metric."""

from __future__ import annotations

import difflib
import inspect
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, overload

from .measure.arguments import parameter_problem, signature_of
from .measure.spec import CACHE_MODES, DEFAULT_ROUNDS, DEFAULT_TIMEOUT, Samples, Spec
from .measure.version import versions
from .metrics import DEFAULT_METRICS, GROUPS, METRICS, NEEDS_CHECK, NEEDS_REFERENCE

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    "setup", "teardown", "reset", "mutates", "params", "reference", "rtol", "atol", "check", "work", "kind",
    "metrics", "rounds", "repeat", "variant", "cache", "name", "timeout", "version", "pretty_name",
)  # fmt: skip
_CALLABLES = ("setup", "teardown", "reset", "reference", "check")
_KINDS = ("workload", "micro")
_NO_METHODS = (
    "methods of asv classes are not supported; make it a module-level function, with setup= and params="
)


def samples(sets: Sequence[Any]) -> Samples:
    """Several argument sets for setup to return; calls use them in turn."""
    return Samples(sets)


@overload
def benchmark(function: F, /) -> F: ...
@overload
def benchmark(**options: Any) -> Callable[[F], F]: ...
def benchmark(function: Any = None, /, **options: Any) -> Any:
    """Measure the function on the device, over commits, through asv.

    Bare (`@benchmark`) or with keywords: setup, teardown, reset, mutates, params, reference, rtol, atol, check,
    work, kind, metrics, rounds, repeat, variant, cache, name, and asv's timeout, version, pretty_name.
    asv then knows `<module>.<function>.<metric>`; the name can still be called as the function it was.

    Raises TypeError or ValueError, in one sentence, for anything it cannot take.
    """
    frame = sys._getframe(1)
    module = frame.f_globals.get("__name__", "")
    if frame.f_locals is not frame.f_globals and {"__module__", "__qualname__"} <= set(frame.f_locals):
        raise TypeError(f"@dcu.benchmark in class {frame.f_locals['__qualname__']}: {_NO_METHODS}")
    if function is not None:
        return _family(function, options, module)
    return lambda decorated: _family(decorated, options, module)


def spec_of(decorated: Any) -> Spec | None:
    """The Spec behind a decorated name, or None for anything else."""
    found = getattr(decorated, "_dcu_spec", None)
    return found if isinstance(found, Spec) else None


class _Family(type):
    """Type of a decorated name: asv sees a class of benchmarks, everybody else calls the function."""

    __wrapped__: Callable[..., Any]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs and _called_by_asv():
            return type.__call__(cls)
        return cls.__wrapped__(*args, **kwargs)

    def __repr__(cls) -> str:
        return f"<benchmark {cls.__module__}.{cls.__qualname__}>"


def _called_by_asv() -> bool:
    name = sys._getframe(2).f_globals.get("__name__", "")
    return bool(name.startswith("asv_runner."))


def _family(function: Any, options: dict[str, Any], module: str) -> Any:
    register_with_asv()
    spec = make_spec(function, options, module)
    base = {
        "__doc__": function.__doc__,
        "__module__": module,
        "__qualname__": spec.name,
        "__wrapped__": staticmethod(function),
        "_dcu_spec": spec,
    }
    signature = signature_of(function)
    if signature is not None:
        base["__signature__"] = signature
    methods = {metric: _method(spec, metric, function, options) for metric in spec.metrics}
    made = _Family(spec.name, (), {**base, **methods})
    _refuse_double(spec, made)
    return made


def _method(spec: Spec, metric: str, function: Any, options: dict[str, Any]) -> Callable[..., None]:
    """The attribute that asv's discovery finds; it is never called, its type measures."""

    def method(self: Any, *args: Any) -> None:
        raise AssertionError("asv's benchmark type measures; this method only carries the metric's name")

    attributes: dict[str, Any] = {
        "__name__": metric,
        "__qualname__": f"{spec.name}.{metric}",
        "benchmark_name": f"{spec.family}.{metric}",
        "pretty_name": f"{options.get('pretty_name') or spec.name}: {METRICS[metric].label}",
        "params": [list(values) for values in spec.params.values()],
        "param_names": list(spec.params),
        "timeout": spec.timeout,
        "version": spec.versions[metric],
        "_dcu_spec": spec,
        "_dcu_metric": metric,
    }
    for inherited in ("skip_params", "skip_benchmark"):
        if hasattr(function, inherited):
            attributes[inherited] = getattr(function, inherited)
    for name, value in attributes.items():
        setattr(method, name, value)
    return method


def make_spec(function: Any, options: dict[str, Any], module: str) -> Spec:
    """Check every keyword and return the Spec. Raises TypeError or ValueError in one sentence."""
    _check_function(function)
    label = f"@dcu.benchmark on {getattr(function, '__name__', function)!s}"
    for key in options:
        if key not in _OPTIONS:
            raise TypeError(f"{label}: unknown keyword {key!r}{_suggest(key, _OPTIONS)}")
    for key in _CALLABLES:
        if options.get(key) is not None and not callable(options[key]):
            raise TypeError(f"{label}: {key} must be a function, not {type(options[key]).__name__}")
    params = _params(label, function, options.get("params"))
    _check_signatures(label, function, options, params)
    name = options.get("name") or getattr(function, "__name__", None)
    if name is None:
        raise TypeError(f"{label}: it has no name of its own; give one with name=")
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"{label}: name={name!r} must be a Python identifier: asv's names are dotted")
    if name.startswith("_"):
        raise ValueError(f"{label}: asv does not look at names that begin with _; give another with name=")
    chosen = _metrics(label, options)
    settings = _settings(label, options)
    code = {role: options.get(role) for role in ("setup", "reset")} | {"function": function}
    judge = {role: options.get(role) for role in ("reference", "check", "rtol", "atol")}
    version = options.get("version")
    callables: dict[str, Any] = {key: options.get(key) for key in _CALLABLES}
    made = (
        dict.fromkeys(chosen, str(version))
        if version is not None
        else versions(module, chosen, code, judge, {**settings, "params": list(params)})
    )
    return Spec(
        family=".".join([*module.split(".")[1:], name]),
        name=name,
        module=module,
        function=function,
        params=params,
        metrics=chosen,
        versions=made,
        rounds=_positive(label, "rounds", options.get("rounds", DEFAULT_ROUNDS)),
        timeout=_timeout(label, options.get("timeout"), function),
        rtol=_tolerance(label, "rtol", options.get("rtol")),
        atol=_tolerance(label, "atol", options.get("atol")),
        work=_work(label, options.get("work")),
        kind=_one_of(label, "kind", options.get("kind", "workload"), _KINDS),
        variant=_variant(label, options.get("variant")),
        **callables,
        **settings,
    )


def _settings(label: str, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "mutates": _truth(label, "mutates", options.get("mutates", False)),
        "cache": _one_of(label, "cache", options.get("cache") or "session", CACHE_MODES),
        "repeat": _repeat(label, options.get("repeat", 0)),
    }


def _check_function(function: Any) -> None:
    if inspect.isclass(function) or not callable(function):
        raise TypeError(
            f"@dcu.benchmark decorates a function, not {type(function).__name__} {function!r}; "
            "for several cases use params"
        )
    qualname = getattr(function, "__qualname__", "")
    signature = signature_of(function)
    parameters = list(signature.parameters) if signature is not None else []
    if (
        "." in qualname
        and not qualname.rpartition(".")[0].endswith("<locals>")
        and parameters[:1] == ["self"]
    ):
        raise TypeError(f"@dcu.benchmark on {qualname}: {_NO_METHODS}")
    if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
        raise TypeError(
            f"@dcu.benchmark on {qualname}: calling a coroutine or generator function does none of its work; "
            "decorate an ordinary function that runs it to its end"
        )


def _marked_params(label: str, function: Any) -> dict[str, list[Any]] | None:
    """What asv's own `parameterize` mark below ours declares."""
    values, names = getattr(function, "params", None), getattr(function, "param_names", None)
    if not values or not isinstance(values, (list, tuple)):
        return None
    if not all(isinstance(one, (list, tuple)) for one in values):
        values = [values]
    if not names or len(names) != len(values):
        raise TypeError(f"{label}: its asv params have no param_names; give params= with names instead")
    return {name: list(one) for name, one in zip(names, values, strict=True)}


def _params(label: str, function: Any, given: Any) -> dict[str, list[Any]]:
    if given is None:
        given = _marked_params(label, function)
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise TypeError(f"{label}: params must map names to lists of values, not {type(given).__name__}")
    out = {}
    for name, values in given.items():
        if not isinstance(name, str) or not name.isidentifier() or name == "device":
            raise ValueError(f"{label}: {name!r} cannot be the name of a parameter")
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, (Sequence, range)):
            raise TypeError(f"{label}: params[{name!r}] must be a list of values, not {values!r}")
        if not len(values):
            raise ValueError(f"{label}: params[{name!r}] is empty, so nothing would be measured")
        for value in values:
            # asv takes the value's own address out of its repr, and no other.
            if re.search(r" at 0x[0-9a-f]{5,}", repr(value).replace(hex(id(value)), "")):
                raise ValueError(
                    f"{label}: params[{name!r}] holds {value!r}, whose name changes with every process; "
                    "give names, and look them up in setup"
                )
        out[name] = list(values)
    return out


def _check_signatures(
    label: str, function: Any, options: dict[str, Any], params: dict[str, list[Any]]
) -> None:
    setup = options.get("setup")
    if setup is None and signature_of(function) is None and params:
        raise TypeError(f"{label}: it does not tell its parameters; give setup= to make its arguments")
    problem = parameter_problem("setup" if setup else "the function", setup or function, params)
    if problem is not None:
        raise TypeError(f"{label}: {problem}")


def _metrics(label: str, options: dict[str, Any]) -> tuple[str, ...]:
    given = options.get("metrics")
    if isinstance(given, str):
        raise TypeError(f"{label}: metrics must be a list of names; write metrics=[{given!r}]")
    if given is not None and not isinstance(given, (list, tuple, set, frozenset)):
        raise TypeError(f"{label}: metrics must be a list of names, not {given!r}")
    wanted: list[str] = []
    for name in given if given is not None else [...]:
        wanted += DEFAULT_METRICS if name is ... else GROUPS.get(str(name), [name])
    if options.get("check") is not None and given is None:
        wanted.append("task_metric")
    for name in wanted:
        if not isinstance(name, str) or name not in METRICS:
            raise ValueError(f"{label}: unknown metric {name!r}{_suggest(str(name), (*METRICS, *GROUPS))}")
    asked = set(wanted)
    if options.get("reference") is None:
        _refuse_unjudged(label, given, NEEDS_REFERENCE, "reference")
        asked -= NEEDS_REFERENCE
    if options.get("check") is None:
        _refuse_unjudged(label, given, NEEDS_CHECK, "check")
        asked -= NEEDS_CHECK
    if not asked:
        raise ValueError(f"{label}: metrics is empty, so nothing would be measured")
    return tuple(name for name in METRICS if name in asked)


def _refuse_unjudged(label: str, given: Any, need: frozenset[str], role: str) -> None:
    named = sorted(need & {name for name in given or [] if isinstance(name, str)})
    if named:
        raise ValueError(f"{label}: the metric {named[0]} needs a {role}=")


def _suggest(word: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f" (did you mean {close[0]!r}?)" if close else f"; known: {', '.join(known)}"


def _positive(label: str, name: str, value: Any) -> int:
    if not _whole(value) or value < 1:
        raise ValueError(f"{label}: {name} must be a whole number of at least 1, not {value!r}")
    return int(value)


def _tolerance(label: str, name: str, value: Any) -> float | None:
    if value is None:
        return None
    if not _finite(value) or value < 0:
        raise ValueError(f"{label}: {name} must be a number of at least 0, not {value!r}")
    return float(value)


def _work(label: str, given: Any) -> Mapping[str, Any]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not set(given) <= {"flop", "bytes"}:
        raise ValueError(f'{label}: work takes {{"flop": ..., "bytes": ...}}, not {given!r}')
    for key, value in given.items():
        if not callable(value) and not _finite(value):
            raise ValueError(f"{label}: work[{key!r}] must be a number or a function of the parameters")
    return dict(given)


def _one_of(label: str, name: str, value: Any, known: Sequence[str]) -> str:
    if value not in known:
        raise ValueError(f"{label}: {name} must be one of {', '.join(known)}, not {value!r}")
    return str(value)


def _repeat(label: str, value: Any) -> Any:
    if _whole(value) and value >= 0:
        return value
    if isinstance(value, (tuple, list)) and len(value) == 3 and _whole(value[0]) and _whole(value[1]):
        low, high, seconds = value
        if 0 < low <= high and _finite(seconds) and seconds > 0:
            return (low, high, float(seconds))
    raise ValueError(f"{label}: repeat must be a count or (min count, max count, max seconds), not {value!r}")


def _timeout(label: str, value: Any, function: Any) -> float:
    """The keyword's, or that of asv's `timeout` mark below ours."""
    if value is None:
        marked = getattr(function, "timeout", None)
        value = marked if _finite(marked) else DEFAULT_TIMEOUT
    if not _finite(value) or value <= 0:
        raise ValueError(f"{label}: timeout must be a number of seconds above 0, not {value!r}")
    return float(value)


def _variant(label: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{label}: variant must be text, not {value!r}")
    return value


def _truth(label: str, name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{label}: {name} must be True or False, not {value!r}")
    return value


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _refuse_double(spec: Spec, made: Any) -> None:
    """Two functions of one name in one module would silently share a series."""
    module = sys.modules.get(spec.module)
    for attribute, value in list(vars(module).items()) if module else []:
        other = spec_of(value)
        if other is None or other.family != spec.family or other.module != spec.module:
            continue
        if _place(other.function) != _place(spec.function) or (
            other.function is spec.function and _asked(other) != _asked(spec)
        ):
            raise ValueError(
                f"two benchmarks are named {spec.family} (also {attribute}); tell them apart with name="
            )


def _asked(spec: Spec) -> tuple[str, str]:
    return repr(spec.params), repr(spec.versions)


def _place(function: Any) -> tuple[str, str, int]:
    code = getattr(inspect.unwrap(function), "__code__", None)
    where = (code.co_filename, code.co_firstlineno) if code else ("", 0)
    return (getattr(function, "__qualname__", repr(function)), *where)


def register_with_asv() -> None:
    """Make our benchmark type known, in asv's own child process only: elsewhere nothing is imported."""
    if "asv_runner.discovery" not in sys.modules:
        return
    from asv_runner.benchmarks import benchmark_types

    from .asv_type import DeviceBenchmark, guard_server

    if DeviceBenchmark not in benchmark_types:
        benchmark_types.append(DeviceBenchmark)
        guard_server()
