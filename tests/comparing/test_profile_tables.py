"""What of a kernel's name is tuning, and what of a line of code is its place."""

from __future__ import annotations

import pytest

from dcu_asv_ext.comparing.profile_tables import place, profiled, stem

from .profiles import profile


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x64x32_MI16x16", "Cijk_Ailk_Bljk_HHS_BH_MT64x64x16_SE_1LDSB0"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_64x64_nn"),
        ("cutlass_80_simt_sgemm_128x128_8x4_nn_align1", "cutlass_80_simt_sgemm_256x64_8x5_nn_align1"),
        ("sm80_xmma_gemm_f32f32_tilesize64x64_stage3_nn", "sm80_xmma_gemm_f32f32_tilesize128x64_stage4_nn"),
        ("triton_poi_fused_add_mul_0", "triton_poi_fused_add_mul_3"),
        ("matmul_kernel_0d1d2d3de", "matmul_kernel_0d1d2d3d4c"),
        ("layer_norm_4f2a9c01be", "layer_norm_77d0aa12fe"),
        ("vectorized_elementwise_kernel<4, Add>", "vectorized_elementwise_kernel<8, Add>"),
    ],
)
def test_tuning_is_no_part_of_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cijk_Ailk_Bljk_HHS_BH_MT128x64x32", "Cijk_Ailk_Bljk_SB_MT128x64x32"),
        ("gemm_f16", "gemm_f32"),
        ("sm80_gemm", "sm90_gemm"),
        ("triton_poi_fused_add_0", "triton_poi_fused_mul_0"),
        ("layer_norm_forward", "layer_norm_backward"),
    ],
)
def test_types_architectures_and_names_are(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_a_place_has_no_line() -> None:
    assert place("model.py:12 forward") == place("model.py:130 forward") == "model.py forward"
    assert place("model.py:12 forward") != place("model.py:12 backward")


def test_rows_of_one_key_are_one() -> None:
    found = profiled({"profile": profile((("k", "1", 1, 1e-3), ("k", "1", 2, 2e-3)))})
    assert found is not None
    ((_, row),) = found.kernels.items()
    assert (row.count, row.seconds) == (3.0, pytest.approx(3e-3))


def test_idle_time_follows_from_its_share() -> None:
    found = profiled({"profile": profile(idle=1e-3)})
    assert found is not None and found.busy == pytest.approx(3.1e-3) and found.idle == pytest.approx(1e-3)
    wholly = profiled(
        {"profile": {**profile(), "per_call": {"profiled_device_time": 0.0, "idle_share": 1.0}}}
    )
    assert wholly is not None and wholly.idle is None
