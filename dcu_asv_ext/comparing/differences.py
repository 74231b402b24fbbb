"""What is not the same on both sides besides the code: a comparison that changes two things proves nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .facts import MATTERS, is_figure, merged, role, span
from .model import ComparisonError, Difference

UNSET = "(not set)"

#: Readings that lie no further apart than this share of the larger one explain nothing.
_CLOSE = 0.01

#: Facts of the host that come with its processor.
_PROCESSOR = ("sockets", "threads_per_core", "numa_nodes", "governor")
_TOOLKIT = ("dtk", "hip", "cuda", "toolkit.")

#: Declared (last part of the name) -> facts that go together with it, and count as declared too.
_TOGETHER: dict[str, tuple[str, ...]] = {
    "torch": ("torch", "torch_git", "triton", *_TOOLKIT),
    "torch_git": ("torch_git",),
    **dict.fromkeys(("dtk", "hip", "cuda", "rocm"), ("torch_git", "triton", "rocm", *_TOOLKIT)),
    "python": ("python", "implementation"),
    **dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), ("threads", "interop_threads")
    ),
    "NVIDIA_TF32_OVERRIDE": ("tf32_matmul", "tf32_cudnn", "float32_matmul_precision"),
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": ("tf32_matmul", "float32_matmul_precision"),
    "float32_matmul_precision": ("tf32_matmul",),
    "tf32_matmul": ("float32_matmul_precision",),
    "product": ("architecture", "total_memory", "multiprocessors", "cores", "power_cap_w"),
    "machine": (
        "machine",
        "arch",
        "cpu",
        "num_cpu",
        "os",
        "ram",
        "product",
        "cores",
        "threads",
        "interop_threads",
        *_PROCESSOR,
    ),
    "cpu": ("num_cpu", "product", "cores", *_PROCESSOR),
}

Facts = Mapping[str, str]


def differences(before: Facts, after: Facts, vary: Sequence[str] = ()) -> list[Difference]:
    """The facts that differ, those that matter first. vary: names that were declared to be the experiment.

    A fact that only one side tells is no difference (old results tell less), except an environment variable
    where both sides tell of theirs. Volatile facts are none either unless the sides' readings lie apart.
    Names are not looked at for sense: `check_vary` does that.
    """
    found = []
    both_tell = _tells_environment(before) and _tells_environment(after)
    for name in sorted({**before, **after}):
        one, other = before.get(name), after.get(name)
        if both_tell and name.startswith("environment."):
            one, other = one or UNSET, other or UNSET
        if one is None or other is None or one == other or (is_figure(name) and not _apart(one, other)):
            continue
        matters = _matters(name, one, other)
        declared = any(_declares(wanted, name, one, other) for wanted in vary)
        found.append(Difference(name, one, other, matters, declared))
    return sorted(found, key=lambda d: (not d.matters, d.name))


def together(many: Iterable[Sequence[Difference]]) -> list[Difference]:
    """The differences of many pairs as one list: a name once, with all its values."""
    found: dict[str, list[Difference]] = {}
    for one in many:
        for difference in one:
            found.setdefault(difference.name, []).append(difference)
    made = []
    for name, same in found.items():
        before = merged({name: d.before} for d in same)[name]
        after = merged({name: d.after} for d in same)[name]
        matters, declared = any(d.matters for d in same), all(d.declared for d in same)
        made.append(Difference(name, before, after, matters, declared))
    return sorted(made, key=lambda d: (not d.matters, d.name))


def undeclared(found: Iterable[Difference]) -> list[Difference]:
    """Those that forbid the comparison."""
    return [one for one in found if one.matters and not one.declared]


def check_vary(vary: Sequence[str], found: Sequence[Difference], known: Iterable[str]) -> None:
    """Raises ComparisonError for a declared name that no fact has, or whose fact does not differ."""
    known = set(known)
    for wanted in vary:
        if any(_is_named(wanted, one.name) for one in found):
            continue
        what = f"--vary {wanted}: "
        differing = ", ".join(one.name for one in found) or "nothing"
        if any(_is_named(wanted, name) for name in known):
            raise ComparisonError(f"{what}it is the same on both sides; what differs: {differing}")
        raise ComparisonError(f"{what}no fact of the results has this name; what differs: {differing}")


def sentence(found: Sequence[Difference]) -> str:
    """Why the two cannot be compared: "the machine changed: device.driver was X, is Y"."""
    first = found[0]
    machine = of_machine(first.name)
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    start = "the machine changed" if machine else "more than the code changed"
    return f"{start}: {first.name} was {first.before}, is {first.after}{more}"


def of_machine(name: str) -> bool:
    """Whether a fact is the machine's, not one of how it was used."""
    return name.startswith(("machine.", "device.", "host."))


def _tells_environment(facts: Facts) -> bool:
    return any(name.startswith("software.") for name in facts)


def _matters(name: str, before: str, after: str) -> bool:
    if name == "software.python" and _minor(before) == _minor(after):
        return False
    return role(name) == MATTERS


def _apart(before: str, after: str) -> bool:
    """Whether two readings, or ranges of them, do not overlap. Text that is no figure is apart if it differs."""
    one, other = span(before), span(after)
    if one is None or other is None:
        return True
    gap = max(one[0], other[0]) - min(one[1], other[1])
    return gap > _CLOSE * max(map(abs, (*one, *other)))


def _minor(version: str) -> list[str]:
    return version.split(".")[:2]


def _is_named(wanted: str, name: str) -> bool:
    return wanted.lower() in (name.lower(), name.partition(".")[2].lower(), name.rpartition(".")[2].lower())


def _declares(wanted: str, name: str, before: str, after: str) -> bool:
    """By its own name, or as part of what was declared.

    A torch build carries its toolkit in its version's local part ("2.4.1+das.dtk2504"), so declaring the toolkit
    declares a torch whose version before the "+" stays.
    """
    if _is_named(wanted, name):
        return True
    last = wanted.rpartition(".")[2]
    covered = next((found for key, found in _TOGETHER.items() if key.lower() == last.lower()), ())
    local = name.partition(".")[2]
    if any(local.startswith(one) if one.endswith(".") else local == one for one in covered):
        return True
    toolkit = last.lower() in ("dtk", "hip", "cuda", "rocm")
    return toolkit and local == "torch" and before.partition("+")[0] == after.partition("+")[0]
