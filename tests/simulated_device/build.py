"""Builds the simulated device's library for the torch and the compiler at hand, once, and caches it.

    python -m tests.simulated_device.build sim cuda

`CXX` names the compiler (default g++), `DCU_ASV_SIM_CACHE` the folder of the builds.
torch is not imported: one form of the device has to be loaded before it.
"""

from __future__ import annotations

import fcntl
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
#: Form -> what the compiler is told beyond the flags of both.
FORMS = {"sim": (), "cuda": ("-DSIM_AS_CUDA",)}
FLAGS = (
    "-std=c++20",
    "-O1",
    "-fPIC",
    "-shared",
    "-pthread",
    "-Wall",
    "-Wextra",
    "-D_GLIBCXX_USE_CXX11_ABI=1",
)


class BuildError(RuntimeError):
    """The library could not be built; the text has the compiler's output."""


def torch_folder() -> Path:
    """The folder of the torch that `import torch` would load."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        raise BuildError("the simulated device is built against torch, which is not installed")
    return Path(spec.origin).parent


def cache_folder() -> Path:
    named = os.environ.get("DCU_ASV_SIM_CACHE")
    return Path(named) if named else HERE.parents[1] / ".cache" / "simulated_device"


def compiler() -> list[str]:
    command = shlex.split(os.environ.get("CXX") or "g++")
    if shutil.which(command[0]) is None:
        raise BuildError(
            f"the simulated device needs a C++20 compiler, and there is no {command[0]!r}: "
            "install g++ (Debian: apt-get install g++), or name another compiler by CXX"
        )
    return command


def command_line(form: str, torch: Path, output: Path) -> list[str]:
    includes = ("include", "include/torch/csrc/api/include", "include/kineto")
    libraries = torch / "lib"
    return [
        *compiler(),
        *FLAGS,
        *FORMS[form],
        *(f"-isystem{torch / include}" for include in includes),
        str(SOURCES / "simdev.cpp"),
        *("-o", str(output)),
        *(f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{libraries}"),
    ]


def fingerprint(form: str) -> str:
    """Changes with the sources, torch (version, build and place), the compiler's version and the flags."""
    torch = torch_folder()
    version = subprocess.run([*compiler(), "--version"], capture_output=True, text=True, check=True).stdout
    parts = [(torch / "version.py").read_text(), version, *command_line(form, torch, Path("library"))]
    for source in sorted(SOURCES.iterdir()):
        parts += [source.name, source.read_text()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """One builder at a time; the lock ends with its process, however that ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(form: str) -> Path:
    """The library of a form ("sim" or "cuda"), built if it is not in the cache (about 30 s).

    Raises BuildError with the compiler's output, or where there is no compiler.
    """
    if form not in FORMS:
        raise ValueError(f"there is no form {form!r} of the simulated device, only {', '.join(FORMS)}")
    folder = cache_folder()
    library = folder / f"libsimdev-{form}-{fingerprint(form)}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / f"{form}.lock"):
        if not library.exists():
            _compile(form, library)
    return library


def _compile(form: str, library: Path) -> None:
    with tempfile.TemporaryDirectory(prefix=f"{form}-", dir=library.parent) as folder:
        built = Path(folder) / library.name
        command = command_line(form, torch_folder(), built)
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            raise BuildError(
                f"the simulated device ({form}) does not build:\n{shlex.join(command)}\n{result.stderr}"
            )
        os.replace(built, library)


def main(arguments: list[str]) -> int:
    for form in arguments or FORMS:
        try:
            print(build(form))
        except (BuildError, ValueError) as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
