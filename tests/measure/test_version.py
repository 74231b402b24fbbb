"""What makes a benchmark's earlier figures another series, and what does not."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dcu_asv_ext.decorator import spec_of

BASE = """
import torch
from asv_runner.benchmarks.mark import skip_for_params
from {project} import product

import dcu_asv_ext as dcu


def inputs(device, n):
    return torch.ones(n), torch.ones(n)


def back(a, b):
    a.zero_()


def exact(a, b):
    return a * b


@dcu.benchmark(setup=inputs, reset=back, params={{"n": [1, 2]}}, reference=exact, metrics=[..., "host_time"])
def bench(a, b):
    return a * b
"""

PROJECT = "def product(a, b):\n    return a * b\n"

Versions = Callable[..., dict[str, str]]
_count = itertools.count()


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Versions:
    """versions(old, new, project=...) are those of BASE with one text replaced."""

    def made(old: str = "", new: str = "", base: str = BASE, project: str = PROJECT) -> dict[str, str]:
        assert old in base
        number = next(_count)
        folder = tmp_path / str(number)
        suite = folder / f"suite{number}"
        suite.mkdir(parents=True)
        # One name, so that only the text differs; imported anew each time.
        (folder / "dcu_test_project.py").write_text(project)
        (suite / "__init__.py").write_text("")
        (suite / "bench.py").write_text(base.replace(old, new).format(project="dcu_test_project"))
        monkeypatch.syspath_prepend(str(folder))
        sys.modules.pop("dcu_test_project", None)
        spec = spec_of(importlib.import_module(f"suite{number}.bench").bench)
        assert spec is not None
        return dict(spec.versions)

    return made


UNTOUCHED = {
    "a comment": ("    return a * b\n\n\n@dcu", "    # why\n    return a * b  # because\n\n\n@dcu"),
    "a comment in the body": ("def bench(a, b):\n", "def bench(a, b):\n    # a word\n"),
    "a docstring": ("def bench(a, b):\n", 'def bench(a, b):\n    """New words."""\n'),
    "a docstring of setup": ("def inputs(device, n):\n", 'def inputs(device, n):\n    """New words."""\n'),
    "layout": (
        "def bench(a, b):\n    return a * b",
        "def bench(\n    a,\n    b,\n):\n\n    return (a\n        * b)",
    ),
    "annotations": ("def bench(a, b):", "def bench(a: object, b: object) -> object:"),
    "values of a parameter": ('"n": [1, 2]', '"n": [1, 2, 3]'),
    "another function beside it": ("def back(", "def other():\n    return 1\n\n\ndef back("),
    "rounds": ("reset=back,", "reset=back, rounds=7,"),
    "timeout": ("reset=back,", "reset=back, timeout=7,"),
    "pretty name": ("reset=back,", 'reset=back, pretty_name="Product",'),
    "work": ("reset=back,", 'reset=back, work={{"flop": 5}},'),
    "kind": ("reset=back,", 'reset=back, kind="micro",'),
    "more metrics": ('"host_time"]', '"host_time", "mean_error"]'),
    "a mark of asv": (
        "def bench(",
        "@skip_for_params([(2,)])\ndef bench(",
    ),
}


@pytest.mark.parametrize("what", UNTOUCHED)
def test_touches_nothing(versions: Versions, what: str) -> None:
    before, after = versions(), versions(*UNTOUCHED[what])
    assert {metric: after[metric] for metric in before} == before


TOUCHED = {
    "body": ("def bench(a, b):\n    return a * b", "def bench(a, b):\n    return b * a"),
    "setup": ("return torch.ones(n), torch.ones(n)", "return torch.ones(n), torch.zeros(n)"),
    "no setup argument": ("def inputs(device, n):", "def inputs(n):"),
    "reset": ("a.zero_()", "b.zero_()"),
    "no reset": ("reset=back, ", ""),
    "repeat": ("reset=back,", "reset=back, repeat=9,"),
    "cache": ("reset=back,", 'reset=back, cache="fresh",'),
    "mutates": ("reset=back,", "reset=back, mutates=True,"),
    "a parameter's name": ("def inputs(device, n):\n    return", "def inputs(device, n, m=1):\n    return"),
    "a decorator that is measured": ("def bench(", "@torch.no_grad()\ndef bench("),
    "a declared version": ("reset=back,", 'reset=back, version="mine",'),
}


@pytest.mark.parametrize("what", TOUCHED)
def test_touches_every_metric(versions: Versions, what: str) -> None:
    before, after = versions(), versions(*TOUCHED[what])
    assert before.keys() == after.keys()
    assert all(before[metric] != after[metric] for metric in before)


JUDGES = {
    "the reference": (
        "def exact(a, b):\n    return a * b",
        "def exact(a, b):\n    return (a.double() * b).float()",
    ),
    "a tolerance": ("reference=exact", "reference=exact, rtol=1e-3"),
    "the other tolerance": ("reference=exact", "reference=exact, atol=1e-3"),
}


@pytest.mark.parametrize("what", JUDGES)
def test_touches_the_errors_alone(versions: Versions, what: str) -> None:
    before, after = versions(), versions(*JUDGES[what])
    changed = {metric for metric in before if before[metric] != after[metric]}
    assert changed == {"max_error"}
    both = ('"host_time"', '"host_time", "mean_error"')
    base = BASE.replace(*both)
    before, after = versions(base=base), versions(*JUDGES[what], base=base)
    assert {metric for metric in before if before[metric] != after[metric]} == {"max_error", "mean_error"}


IMPORTED = (
    BASE.replace("@dcu.benchmark(", 'bench = dcu.benchmark(name="bench", ')
    .replace("def bench(a, b):\n    return a * b\n", "")
    .replace('metrics=[..., "host_time"])', 'metrics=[..., "host_time"])(product)')
)


def test_the_body_of_an_imported_function_touches_nothing(versions: Versions) -> None:
    before = versions(base=IMPORTED)
    assert versions(base=IMPORTED, project="def product(a, b):\n    return b.mul(a)\n") == before
    assert versions("torch.ones(n), torch.ones(n)", "torch.ones(n), torch.zeros(n)", base=IMPORTED) != before


def test_the_body_of_an_imported_setup_touches_nothing(versions: Versions) -> None:
    base = BASE.replace("setup=inputs", "setup=product_inputs").replace(
        "import product", "import product_inputs"
    )
    one = "def product_inputs(n):\n    return n, n\n"
    before = versions(base=base, project=one)
    assert versions(base=base, project=one.replace("n, n\n", "n, -n\n")) == before


LAMBDAS = BASE.replace(
    "setup=inputs, reset=back", "setup=lambda n: (n, n), reset=lambda a, b: a.zero_()"
).replace("reference=exact", "reference=lambda a, b: a * b")


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("lambda n: (n, n)", "lambda n: (n, -n)", "all"),
        ("lambda a, b: a.zero_()", "lambda a, b: b.zero_()", "all"),
        ("lambda n: (n, n)", "lambda n: (n,   n)", "none"),
        ("setup=lambda n: (n, n),", "setup=lambda n: (\n    n,  # twice\n    n),", "none"),
        ('params={{"n": [1, 2]}}', 'params={{"n": [(lambda: 3)()]}}', "none"),
    ],
)
def test_lambdas_count_by_their_own_text(versions: Versions, old: str, new: str, changed: str) -> None:
    before, after = versions(base=LAMBDAS), versions(old, new, base=LAMBDAS)
    assert all((before[metric] == after[metric]) == (changed == "none") for metric in before)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells columns of code from 3.11 on")
def test_a_reference_lambda_beside_others_with_the_same_arguments(versions: Versions) -> None:
    before, after = versions(base=LAMBDAS), versions("lambda a, b: a * b", "lambda a, b: b * a", base=LAMBDAS)
    assert {metric for metric in before if before[metric] != after[metric]} == {"max_error"}


def test_callables_without_source_are_known_by_name(versions: Versions) -> None:
    base = BASE.replace("import torch\n", "import functools\nimport torch\n").replace(
        "setup=inputs", "setup=functools.partial(inputs, device=None)"
    )
    assert versions(base=base) == versions(base=base)


def test_every_metric_has_a_version_of_its_own(versions: Versions) -> None:
    found = versions()
    assert len(set(found.values())) == len(found) == 7


MOVABLE = """
import functools
from {project} import product

import dcu_asv_ext as dcu

def inputs():
    return 1, 2


bench = dcu.benchmark(name="bench", setup=inputs)(product)
"""


def test_an_imported_function_may_be_moved_wrapped_and_replaced(versions: Versions) -> None:
    here = versions(base=MOVABLE)
    moved = "def product(a, b):\n    return a * b\n\nproduct.__module__ = 'dcu_test_project._inner'\n"
    cached = "import functools\n\n\n@functools.lru_cache\ndef product(a, b):\n    return a * b\n"
    called = "class Product:\n    def __call__(self, a, b):\n        return a * b\n\n\nproduct = Product()\n"
    assert versions(base=MOVABLE, project=moved) == here
    assert versions(base=MOVABLE, project=cached) == here
    assert versions(base=MOVABLE, project=called) == here


def test_the_arguments_of_a_partial_count(versions: Versions) -> None:
    old, new = "setup=inputs", "setup=functools.partial(inputs, n=3)"
    base = BASE.replace("import torch\n", "import functools\nimport torch\n").replace(
        'params={{"n": [1, 2]}}, ', ""
    )
    three = versions(old, new, base=base)
    nine = versions(old, new.replace("3", "9"), base=base)
    assert three["latency"] != nine["latency"]
