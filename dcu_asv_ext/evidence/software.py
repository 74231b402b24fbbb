"""Versions and environment variables that a result may hang on, told without importing anything heavy."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping

#: Only these are ever recorded: a report must not leak an environment.
_ALLOWED_PREFIXES = (
    "HIP_", "HSA_", "ROCR_", "ROCM_", "MIOPEN_", "HIPBLASLT_", "ROCBLAS_", "AMD_", "GPU_MAX_HW_QUEUES",
    "CUDA_", "CUBLAS_", "NVIDIA_TF32_OVERRIDE", "NCCL_", "TORCH_", "TORCHINDUCTOR_", "TRITON_", "PYTORCH_",
    "OMP_", "MKL_", "OPENBLAS_", "GOMP_", "KMP_", "DCU_ASV_DEVICE", "HCU_", "DTK",
)  # fmt: skip
#: Anywhere in a name: secrets.
_SECRET_WORDS = ("TOKEN", "SECRET", "PASSWD", "PASSWORD", "PASSPHRASE", "KEY", "AUTH", "CREDENTIAL", "COOKIE")
#: At the end of one of a name's words: places (so that MIOPEN_DEBUG_CONV_DIRECT is not one).
_PLACE_WORDS = (
    "PATH",
    "PATHS",
    "DIR",
    "DIRS",
    "HOME",
    "ROOT",
    "FILE",
    "FILENAME",
    "URL",
    "URI",
    "HOST",
    "ADDR",
)
#: In a value: paths, addresses with a user, links.
_PLACE_SIGNS = ("/", "\\", "~", "@")
_PACKAGES = ("dcu-asv-ext", "asv", "asv_runner", "torch", "numpy", "scipy", "triton")


def package_versions() -> dict[str, str]:
    """Installed versions of the packages that shape a measurement, as text; absent ones are left out."""
    found = {"python": platform.python_version(), "implementation": sys.implementation.name}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def environment_variables(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """The allow-listed variables that are set, without places and secrets."""
    source = os.environ if environ is None else environ
    return {
        name: value
        for name, value in sorted(source.items())
        if name.startswith(_ALLOWED_PREFIXES)
        and not _is_hidden(name.upper())
        and not any(sign in value for sign in _PLACE_SIGNS)
    }


def _is_hidden(name: str) -> bool:
    return any(word in name for word in _SECRET_WORDS) or any(
        word.endswith(_PLACE_WORDS) for word in name.split("_")
    )
