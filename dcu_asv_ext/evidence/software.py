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
_HIDDEN_WORDS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "KEY",
    "AUTH",
    "CREDENTIAL",
    "PATH",
    "DIR",
    "HOME",
    "FILE",
    "URL",
)
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
    """The allow-listed variables that are set, without paths and secrets."""
    source = os.environ if environ is None else environ
    return {
        name: value
        for name, value in sorted(source.items())
        if name.startswith(_ALLOWED_PREFIXES)
        and not any(word in name for word in _HIDDEN_WORDS)
        and "/" not in value
    }
