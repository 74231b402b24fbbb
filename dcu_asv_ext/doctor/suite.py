"""The benchmark files, read and never imported: what asv would not see, and what would harm its figures."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .check import Check, Group
from .configuration import Config

GROUP = Group("suite")
FEWEST_ROUNDS = 5
OURS = ("dcu_asv_ext.benchmark", "dcu_asv_ext.decorator.benchmark")
MARKS = "asv_runner.benchmarks.mark."
_DEVICE_TYPES = ("cuda", "hip", "xpu", "sim")
_TOUCHING = (
    "init", "synchronize", "current_stream", "current_device", "Stream", "Event", "set_device", "empty_cache",
    "mem_get_info", "get_device_properties", "get_device_name", "memory_allocated", "manual_seed",
)  # fmt: skip


@dataclass
class Scan:
    """Places ("gemm.py:12 matmul") of each kind of finding."""

    decorated: int = 0
    hidden: list[str] = field(default_factory=list)
    few_rounds: list[str] = field(default_factory=list)
    at_import: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def scan(folder: Path) -> Scan:
    """Every Python file below a suite's folder."""
    found = Scan()
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        if any(part.startswith(".") or part == "__pycache__" for part in inside.parts):
            continue
        try:
            tree = ast.parse(path.read_bytes(), str(inside))
        except (OSError, SyntaxError, ValueError) as error:
            found.unreadable.append(f"{inside} ({error})")
            continue
        _scan_module(tree, str(inside), found)
    return found


def _scan_module(tree: ast.Module, file: str, found: Scan) -> None:
    names = _imports(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            _scan_function(node, names, file, found)
    for call in _calls_at_import(tree.body):
        if _touches_device(call, names):
            found.at_import.append(f"{file}:{call.lineno} {ast.unparse(call.func)}")


def _imports(tree: ast.Module) -> dict[str, str]:
    """Local name -> dotted name, for all imports of a file."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for one in node.names:
                top = one.name if one.asname else one.name.partition(".")[0]
                names[one.asname or top] = top
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                names[one.asname or one.name] = f"{node.module}.{one.name}"
    return names


def _dotted(node: ast.expr, names: dict[str, str]) -> str:
    """The full name behind an expression such as `dcu.benchmark`, "" for any other."""
    if isinstance(node, ast.Name):
        return names.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        left = _dotted(node.value, names)
        return f"{left}.{node.attr}" if left else ""
    return ""


def _scan_function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, names: dict[str, str], file: str, found: Scan
) -> None:
    decorators = [
        _dotted(one.func if isinstance(one, ast.Call) else one, names) for one in node.decorator_list
    ]
    ours = next((place for place, name in enumerate(decorators) if name in OURS), None)
    if ours is None:
        return
    found.decorated += 1
    where = f"{file}:{node.lineno} {node.name}"
    if any(name.startswith(MARKS) for name in decorators[:ours]):
        found.hidden.append(where)
    decorator = node.decorator_list[ours]
    for keyword in decorator.keywords if isinstance(decorator, ast.Call) else ():
        value = keyword.value.value if isinstance(keyword.value, ast.Constant) else None
        if keyword.arg == "rounds" and isinstance(value, int) and value < FEWEST_ROUNDS:
            found.few_rounds.append(f"{where} ({value})")


def _calls_at_import(body: list[ast.stmt]) -> Iterator[ast.Call]:
    """The calls that run when a file is imported: function bodies do not, decorators and defaults do."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop(0)
        if isinstance(node, ast.If) and _not_at_import(node.test):
            pending.extend(node.orelse)
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            pending += [*node.decorator_list, *node.args.defaults, *(d for d in node.args.kw_defaults if d)]
            continue
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, ast.Call):
            yield node
        pending.extend(ast.iter_child_nodes(node))


def _not_at_import(test: ast.expr) -> bool:
    text = ast.unparse(test)
    return "__name__" in text or text.endswith("TYPE_CHECKING")


def _touches_device(call: ast.Call, names: dict[str, str]) -> bool:
    if isinstance(call.func, ast.Attribute):
        if call.func.attr in ("cuda", "xpu"):
            return True
        if call.func.attr == "to" and any(_names_device(one, names) for one in call.args):
            return True
        module, _, function = _dotted(call.func, names).rpartition(".")
        if module in ("torch.cuda", "torch.xpu", "torch.accelerator") and function in _TOUCHING:
            return True
    return any(one.arg == "device" and _names_device(one.value, names) for one in call.keywords)


def _names_device(node: ast.expr, names: dict[str, str]) -> bool:
    if isinstance(node, ast.Call) and _dotted(node.func, names) == "torch.device":
        return any(_names_device(one, names) for one in node.args)
    return isinstance(node, ast.Constant) and str(node.value).partition(":")[0] in _DEVICE_TYPES


def check_suite(config: Config) -> Iterator[Check]:
    folder = config.place("benchmark_dir", "benchmarks")
    if not folder.is_dir():
        yield GROUP.problem(
            "suite", f"The suite {folder} is not there.", "Run dcu-asv quickstart, or correct benchmark_dir."
        )
        return
    found = scan(folder)
    yield _readable(found, folder)
    yield _hidden(found)
    yield _rounds(found)
    yield _at_import(found, config.get("launch_method") == "forkserver")


def _some(places: list[str]) -> str:
    return ", ".join(places[:3]) + (f" and {len(places) - 3} more" if len(places) > 3 else "")


def _readable(found: Scan, folder: Path) -> Check:
    if found.unreadable:
        return GROUP.problem(
            "suite",
            f"Files of the suite cannot be parsed: {_some(found.unreadable)}.",
            "Correct them: asv imports the whole suite, and one broken file fails all of it.",
        )
    if not found.decorated:
        return GROUP.warning(
            "suite",
            f"No function below {folder.name} is decorated with @dcu.benchmark.",
            "Decorate one; dcu-asv quickstart writes an example.",
        )
    return GROUP.ok("suite", f"{found.decorated} functions are decorated.")


def _hidden(found: Scan) -> Check:
    if not found.hidden:
        return GROUP.ok("decorator-order", "No asv mark stands above @dcu.benchmark.")
    return GROUP.problem(
        "decorator-order",
        f"A decorator of asv_runner.benchmarks.mark above @dcu.benchmark hides the benchmark: {_some(found.hidden)}.",
        "Put @dcu.benchmark on top.",
    )


def _rounds(found: Scan) -> Check:
    if not found.few_rounds:
        return GROUP.ok("rounds", f"No benchmark asks for fewer than {FEWEST_ROUNDS} rounds.")
    return GROUP.warning(
        "rounds",
        f"Too few rounds to tell a change from the spread between processes: {_some(found.few_rounds)}.",
        f"Ask for at least {FEWEST_ROUNDS} rounds, or leave rounds out.",
    )


def _at_import(found: Scan, forked: bool) -> Check:
    if not found.at_import:
        return GROUP.ok(
            "device-at-import", "No file of the suite seems to touch a device when it is imported."
        )
    report = GROUP.problem if forked else GROUP.warning
    return report(
        "device-at-import",
        f"Importing the suite touches the device, also to list it and before a fork: {_some(found.at_import)}.",
        "Move it into setup, which is given the device.",
    )
