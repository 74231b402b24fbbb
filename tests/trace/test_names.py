from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from dcu_asv_ext.trace.names import MOST, short_name

from .real import TRACES

ADD = "at::native::CUDAFunctor_add<float>"
ARRAY = "std::array<char*, 3ul>"
GELU = (
    "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda()#2}::operator()() const"
    "::{lambda()#4}::operator()() const::{lambda(c10::BFloat16)#1}"
)
COPY = (
    "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const::{lambda()#7}"
    "::operator()() const::{lambda(float)#1}"
)
NOCAST = "at::native::gpu_kernel_impl_nocast"
SUM = (
    "at::native::sum_functor<c10::BFloat16, float, c10::BFloat16>::operator()(at::TensorIterator&)"
    "::{lambda(float, float)#1}"
)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (
            f"void at::native::vectorized_elementwise_kernel<4, {ADD}, {ARRAY} >(int, {ADD}, {ARRAY})",
            "vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
        ),
        (
            f"void at::native::vectorized_elementwise_kernel<8, {GELU}, {ARRAY} >(int, {GELU}, {ARRAY})",
            "vectorized_elementwise_kernel<GeluCUDAKernelImpl(BFloat16)>",
        ),
        (
            f"void at::native::elementwise_kernel<128, 2, {NOCAST}<{COPY}>(at::TensorIteratorBase&, {COPY} const&)"
            f"::{{lambda(int)#1}}>(int, {NOCAST}<{COPY}>(at::TensorIteratorBase&, {COPY} const&)::{{lambda(int)#1}})",
            "elementwise_kernel<direct_copy_kernel_cuda(float)>",
        ),
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, "
            "float, float>, unsigned int, float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float, "
            "float, float>, unsigned int, float, 4>)",
            "reduce_kernel<ReduceOp<float, MeanOps<float>, unsigned int, 4>>",
        ),
        (
            "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, at::native::func_wrapper_t<"
            f"c10::BFloat16, {SUM}>, unsigned int, c10::BFloat16, 4, 8> >(int)",
            "reduce_kernel<ReduceOp<BFloat16, sum_functor(float), unsigned int, 4, 8>>",
        ),
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>(int, float)",
            "vectorized_layer_norm_kernel<BFloat16, float>",
        ),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7, true, false>(float*, int)",
            "softmax_warp_forward<float>",
        ),
        ("void at::native::plain(float*, int)", "plain"),
        ("ampere_sgemm_128x64_nn", "ampere_sgemm_128x64_nn"),
        ("SubTensorOpWithScalar1d.kd", "SubTensorOpWithScalar1d"),
        ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN", "Cijk_Alik_Bljk_SB_MT64x16x32"),
        (
            "Cijk_Ailk_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x128_MI16",
            "Cijk_Ailk_Bljk_B_BS_BH_MT16x16x128",
        ),
        ("Cijk_Ailk_Bjlk_HHS_BH_MT128x64x32_SE_K1", "Cijk_Ailk_Bjlk_HHS_BH_MT128x64x32"),
        ("Memcpy DtoH (Device -> Host)", "Memcpy DtoH (Device -> Host)"),
        ("", ""),
    ],
)
def test_short_names(name: str, short: str) -> None:
    assert short_name(name) == short


def test_what_triton_generates_stays_as_it_is() -> None:
    name = "triton_poi_fused_" + "add_mul_" * 20 + "0"
    assert short_name(name) == name


def test_a_name_that_is_too_long_is_cut_and_still_tells_kernels_apart() -> None:
    names = [f"igemm_fwd_{'x' * 80}_{number}" for number in range(20)]
    short = [short_name(name) for name in names]
    assert len(set(short)) == len(names)
    assert all(len(one) <= MOST and one.startswith("igemm_fwd_xxx") for one in short)


def test_mangled_names_keep_the_function_and_tell_templates_apart() -> None:
    first = short_name("_ZN2at6native18elementwise_kernelILi128ELi2EfEEvT1_.kd")
    second = short_name("_ZN2at6native18elementwise_kernelILi128ELi4EfEEvT1_.kd")
    assert first.startswith("elementwise_kernel#")
    assert second.startswith("elementwise_kernel#")
    assert first != second


def test_functors_that_differ_in_type_differ() -> None:
    forms = ("float", "double", "c10::Half", "c10::complex<float>", "c10::complex<double>")
    kernel = "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<{0}>, x>(int)"
    assert len({short_name(kernel.format(form)) for form in forms}) == len(forms)


@pytest.mark.parametrize(
    "broken", ["<", ">", "a<b", "a>b", "f<{lambda(", "((((", "_Z", "_ZN", "Cijk_", "a<,,>(", "->"]
)
def test_nothing_is_too_broken(broken: str) -> None:
    assert len(short_name(broken)) <= MOST


@pytest.mark.parametrize("path", sorted(TRACES.glob("*.json.gz")), ids=lambda path: path.name)
def test_real_names_are_short_and_without_namespaces(path: Path) -> None:
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    names = {event["name"] for event in events if event.get("cat") == "kernel"}
    assert names
    for name in names:
        short = short_name(name)
        assert 0 < len(short) <= MOST
        assert "::" not in short
        assert "lambda" not in short
        assert short.count("<") == short.count(">") or "..." in short
