"""Names of kernels, made readable."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

#: A short name has at most so many characters (generated names of Triton excepted, which are kept as they are).
MOST = 80
_MARK = "#"
_AS_THEY_ARE = ("triton_", "Memcpy ", "Memset ")
#: Templates that only carry what they are given into a kernel.
_WRAPPERS = ("func_wrapper_t", "gpu_kernel_impl", "gpu_kernel_impl_nocast")
#: Arguments that say how a kernel walks over memory, not what it does.
_PLUMBING = re.compile(
    r"(Array|array|\w*OffsetCalculator|LoadWith(out)?Cast|StoreWith(out)?Cast|\w*TensorAccessor\w*|TensorInfo"
    r"|\w*PtrTraits|TensorListMetadata\w*|TensorIterator(Base)?|TrivialOffsetCalculator)"
)
_WHOLE = re.compile(r"\(?-?\d+(u|l|ul|ll|ull)?\)?|true|false", re.IGNORECASE)
_LAMBDA_ARGUMENTS = re.compile(r"(?:\{lambda|'lambda\d*'\s*)\(([^(){}]*)\)")
_TENSILE = re.compile(r"(Cijk(?:_[A-Z][a-z]{2,})+)_(.+)")
_TENSILE_TYPE = re.compile(r"(?:[A-Z0-9]{1,5})$")
_TENSILE_REST = ("Bias", "AS", "HA", "HAS", "SAV", "SAB", "UserArgs", "GB", "Aux", "Grad")
_MACRO_TILE = re.compile(r"_(MT\d+x\d+(?:x\d+)?)(?=_|$)")
_ARITHMETIC = re.compile(r"(unsigned|signed|long|short|int|char|\s)+")
_LENGTH = re.compile(r"L?(\d+)")
_OPEN, _CLOSE = "<([{", ">)]}"


@lru_cache(maxsize=4096)
def short_name(name: str) -> str:
    """A kernel's name in at most `MOST` characters that still tells kernels apart.

    C++: without namespaces, parameters and numbers, with the functor, or for a lambda the function that has it and
    the types that it takes: `vectorized_elementwise_kernel<MulFunctor<float>>`, `...<GeluCUDAKernelImpl(BFloat16)>`.
    Tensile: layout, type and macro tile: `Cijk_Alik_Bljk_BBS_BH_MT32x32x64`. Triton: as it is. What is still too long
    is cut, and ends with a checksum of the whole name, so that different ones stay different.
    """
    text = re.sub(r"(\.kd|\s*\[clone [^]]*\])+$", "", name.strip())
    if text.startswith(_AS_THEY_ARE):
        return text
    tensile = _TENSILE.match(text)
    if tensile is not None:
        return _cut(_tensile(text, tensile[1], tensile[2]), name)
    if text.startswith("_Z"):
        return _cut(_mangled(text), name, always=True)
    return _cut(_kernel(_plain(text)), name)


def _cut(text: str, whole: str, always: bool = False) -> str:
    if len(text) <= MOST and not always:
        return text
    mark = f"{_MARK}{zlib.crc32(whole.encode()) & 0xFFFF:04x}"
    room = MOST - len(mark) - 3
    return (text if len(text) + len(mark) <= MOST else text[:room] + "...") + mark


def _tensile(text: str, layout: str, rest: str) -> str:
    types = []
    for part in rest.split("_"):
        if part in _TENSILE_REST or part.startswith("MT") or not _TENSILE_TYPE.match(part):
            break
        types.append(part)
    tile = _MACRO_TILE.search(text)
    return "_".join([layout, *types, *([tile[1]] if tile else [])])


def _mangled(text: str) -> str:
    """The last part of the function's own name; what its template is given takes a demangler."""
    parts = []
    at = text.find("N", 2, 3) + 1 or 2
    while True:
        found = _LENGTH.match(text, at)
        if found is None or int(found[1]) == 0:
            break
        at = found.end() + int(found[1])
        parts.append(text[found.end() : at])
    return parts[-1] if parts else text


def _plain(text: str) -> str:
    """Without brackets that open or close nothing."""
    return (
        text.replace("(anonymous namespace)::", "")
        .replace("{anonymous}::", "")
        .replace("operator()", "operator")
        .replace("operator<", "operator_lt")
        .replace("operator>", "operator_gt")
        .replace("->", "_to_")
    )


def _kernel(text: str) -> str:
    head, arguments = _parted(_without_parameters(text))
    name = _last(head)
    kept = _kept(arguments, numbers=False)
    return f"{name}<{', '.join(kept)}>" if kept else name


def _without_parameters(text: str) -> str:
    """Up to the parenthesis of the parameters: the first that lies in no other bracket."""
    depth = 0
    for at, letter in enumerate(text):
        if letter == "(" and depth == 0:
            return text[:at]
        depth += (letter in _OPEN) - (letter in _CLOSE)
    return text


def _parted(text: str) -> tuple[str, list[str]]:
    """A name before its template's arguments, and those."""
    text = text.strip()
    at = text.find("<")
    if at < 0 or not text.endswith(">"):
        return text, []
    return text[:at], _split(text[at + 1 : -1])


def _split(text: str) -> list[str]:
    """At the commas outside of all brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        if letter == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
        depth += (letter in _OPEN) - (letter in _CLOSE)
    parts.append(text[begin:].strip())
    return [part for part in parts if part]


def _last(qualified: str) -> str:
    """Without return type and namespaces."""
    return qualified.strip().rsplit("::", 1)[-1].rsplit(" ", 1)[-1]


def _kept(arguments: list[str], numbers: bool) -> list[str]:
    """The arguments that say what a template does, each once."""
    found = []
    for argument in arguments:
        if _WHOLE.fullmatch(argument):
            if numbers and argument not in ("true", "false"):
                found.append(argument)
            continue
        short = _argument(argument)
        if short and not _PLUMBING.fullmatch(short.split("<", 1)[0]):
            found.append(short)
    return list(dict.fromkeys(found))


def _argument(text: str) -> str:
    """A type, a functor or a lambda inside of a template's arguments."""
    head = _without_parameters(text)
    if "lambda" in text[len(head) :]:
        return _owner(head, text[len(head) :])
    if "<" not in head:
        words = head.removesuffix("const").replace("const ", "").strip()
        return words if _ARITHMETIC.fullmatch(words) else _last(words)
    before, arguments = _parted(head)
    name = _last(before)
    kept = _kept(arguments, numbers=True)
    if name in _WRAPPERS and kept:
        return kept[-1]
    return f"{name}<{', '.join(kept)}>" if kept else name


def _owner(head: str, rest: str) -> str:
    """For a lambda: the function in which it is written, with the types that the innermost takes."""
    before, arguments = _parted(head.removesuffix("::operator"))
    name = _last(before)
    if name in _WRAPPERS and arguments:
        return _argument(arguments[-1])
    taken = _LAMBDA_ARGUMENTS.findall(rest)
    types = dict.fromkeys(_argument(one) for one in _split(taken[-1])) if taken else {}
    return f"{name}({', '.join(types)})"
