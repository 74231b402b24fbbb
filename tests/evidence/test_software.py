"""What is told of the environment, and what must never be."""

from __future__ import annotations

import importlib.metadata
import platform

import pytest

from dcu_asv_ext.evidence.software import environment_variables, package_versions

TOLD = {
    "HIP_VISIBLE_DEVICES": "0,1",
    "OMP_NUM_THREADS": "2",
    "MIOPEN_DEBUG_CONV_DIRECT": "0",
    "MIOPEN_FIND_MODE": "FAST",
    "PYTORCH_HIP_ALLOC_CONF": "expandable_segments:True",
    "NVIDIA_TF32_OVERRIDE": "0",
    "TORCHINDUCTOR_MAX_AUTOTUNE": "1",
    "DCU_ASV_DEVICE": "cuda:1",
    "HSA_XNACK": "",
}

HIDDEN = {
    "PATH": "x",
    "HOME": "x",
    "LD_PRELOAD": "x",
    "MY_VARIABLE": "x",
    "AWS_SECRET_ACCESS_KEY": "x",
    "NCCL_TOKEN": "x",
    "TORCH_API_KEY": "x",
    "TORCH_APIKEY_2": "x",
    "TRITON_PASSWORD": "x",
    "TORCH_token": "x",
    "CUDA_AUTHORIZATION": "x",
    "NCCL_COOKIES": "x",
    "TORCH_CREDENTIALS": "x",
    "ROCM_PATH": "x",
    "TORCH_HOME": "x",
    "TRITON_CACHE_DIR": "x",
    "TORCH_ROOTDIR": "x",
    "PYTORCH_TUNABLEOP_FILENAME": "results.csv",
    "TORCH_HUB_URL": "x",
    "NCCL_HOSTNAME_ADDR": "x",
    "OMP_WHERE": "/home/somebody",
    "OMP_WHERE_TOO": "~somebody",
    "OMP_WINDOWS": "C:\\Users\\somebody",
    "NCCL_SOMEBODY": "somebody@example.org",
    "DTKROOT": "/opt/dtk",
}


@pytest.mark.parametrize("name", TOLD)
def test_what_shapes_a_result_is_told(name: str) -> None:
    assert environment_variables({name: TOLD[name]}) == {name: TOLD[name]}


@pytest.mark.parametrize("name", HIDDEN)
def test_secrets_and_places_are_not(name: str) -> None:
    assert environment_variables({name: HIDDEN[name]}) == {}


def test_the_real_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_SCHEDULE", "static")
    monkeypatch.setenv("OMP_SECRET", "static")
    found = environment_variables()
    assert found["OMP_SCHEDULE"] == "static" and "OMP_SECRET" not in found
    assert list(found) == sorted(found)


def test_versions_of_what_is_installed() -> None:
    found = package_versions()
    assert found["python"] == platform.python_version()
    assert found["asv_runner"] == importlib.metadata.version("asv_runner")
    assert all(isinstance(version, str) for version in found.values())


def test_absent_packages_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert set(package_versions()) == {"python", "implementation"}
