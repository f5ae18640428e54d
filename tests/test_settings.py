"""Settings of the whole library under PyTorch's names: backends, precision, determinism, threads, version, profiler."""

from __future__ import annotations

import importlib
import subprocess
import sys

import jax
import pytest
import torch

import funtorch
from funtorch.core.engine import settings


@pytest.fixture(autouse=True)
def as_it_was():
    precision, mode = jax.config.jax_default_matmul_precision, settings.mode
    yield
    jax.config.update("jax_default_matmul_precision", precision)
    funtorch.use_deterministic_algorithms(False)
    funtorch.set_engine(mode)


def test_switches_can_be_set_and_read():
    cudnn = importlib.import_module("funtorch.backends.cudnn")
    assert cudnn is funtorch.backends.cudnn
    for name in ("enabled", "benchmark", "deterministic", "allow_tf32"):
        assert getattr(cudnn, name) == getattr(torch.backends.cudnn, name)
    before = cudnn.benchmark
    cudnn.benchmark = True
    with cudnn.flags(enabled=True, deterministic=True):
        assert (cudnn.benchmark, cudnn.deterministic) == (False, True)
    assert (cudnn.benchmark, cudnn.deterministic) == (True, False)
    cudnn.benchmark = before


def test_which_kernels_attention_may_use():
    cuda = funtorch.backends.cuda
    kinds = ("flash", "math", "mem_efficient", "cudnn")
    with pytest.warns(FutureWarning, match="sdpa_kernel"), cuda.sdp_kernel(enable_flash=False, enable_cudnn=False):
        assert [getattr(cuda, f"{kind}_sdp_enabled")() for kind in kinds] == [False, True, True, False]
    for kind in kinds:
        getattr(cuda, f"enable_{kind}_sdp")(False)
        assert not getattr(cuda, f"{kind}_sdp_enabled")()
        getattr(cuda, f"enable_{kind}_sdp")(True)
        assert getattr(cuda, f"{kind}_sdp_enabled")()


def test_the_precision_of_float32_by_its_newer_name():
    backends = funtorch.backends
    assert (backends.fp32_precision, backends.cuda.matmul.fp32_precision) == ("none", "none")
    before = funtorch.get_float32_matmul_precision()
    try:
        for word, older in (("tf32", "high"), ("ieee", "highest")):
            backends.fp32_precision = word
            assert (backends.cuda.matmul.fp32_precision, funtorch.get_float32_matmul_precision()) == (word, older)
        with pytest.raises(RuntimeError, match="precision"):
            backends.fp32_precision = "quick"
        with pytest.raises(AttributeError, match="Unknown attribute"):
            backends.cuda.matmul.allow_tf33 = True
    finally:
        backends.fp32_precision = "none"
        funtorch.set_float32_matmul_precision(before)


def test_switches_of_libraries_that_are_not_used():
    backends = funtorch.backends
    assert str(backends.cuda.preferred_linalg_library()) == str(torch.backends.cuda.preferred_linalg_library())
    assert str(backends.cuda.preferred_blas_library("cublaslt")) == "_BlasBackend.Cublaslt"
    backends.cuda.preferred_blas_library("cublas")
    with pytest.raises(RuntimeError, match="default, cusolver, magma"):
        backends.cuda.preferred_linalg_library("lapack")
    with backends.mkl.verbose(backends.mkl.VERBOSE_ON), backends.mkldnn.flags(enabled=True), backends.nnpack.flags(enabled=True):
        assert backends.mkldnn.enabled and backends.nnpack.enabled
    assert not (backends.mkldnn.enabled or backends.nnpack.enabled or backends.flags_frozen())
    assert backends.opt_einsum.get_opt_einsum().__name__ == "opt_einsum"
    x = funtorch.ones(1, 1, 2, 8)
    assert not backends.cuda.can_use_flash_attention(backends.cuda.SDPAParams(x, x, x, None, 0.0, False, False))
    if not funtorch.cuda.is_available():
        with pytest.raises(RuntimeError, match="no cuda device"):
            backends.cuda.cufft_plan_cache.max_size = 3


def test_other_backends():
    backends = funtorch.backends
    assert [getattr(backends, name).is_available() for name in ("mkl", "mkldnn", "openmp", "opt_einsum")] == [
        False,
        False,
        False,
        True,
    ]
    assert backends.cpu.get_cpu_capability() == torch.backends.cpu.get_cpu_capability()
    assert backends.mps.is_macos_or_newer(10, 0) == (sys.platform == "darwin")


def test_the_precision_of_matrix_products_is_jaxs():
    if jax.default_backend() == "cpu":
        assert funtorch.get_float32_matmul_precision() == torch.get_float32_matmul_precision() == "highest"
    for word, jaxs in (("high", "high"), ("medium", "default"), ("highest", "highest")):
        funtorch.set_float32_matmul_precision(word)
        assert funtorch.get_float32_matmul_precision() == word
        assert jax.config.jax_default_matmul_precision == jaxs
        assert funtorch.backends.cuda.matmul.allow_tf32 == (word != "highest")
    funtorch.backends.cuda.matmul.allow_tf32 = True
    assert funtorch.get_float32_matmul_precision() == "high"
    funtorch.backends.cuda.matmul.allow_tf32 = False
    assert funtorch.get_float32_matmul_precision() == "highest"
    with pytest.raises(ValueError, match="'low' is not one of"):
        funtorch.set_float32_matmul_precision("low")


def test_determinism_means_kernels_only():
    before = settings.mode
    funtorch.use_deterministic_algorithms(True)
    assert (settings.mode, funtorch.are_deterministic_algorithms_enabled(), funtorch.get_deterministic_debug_mode()) == (
        "kernel",
        True,
        2,
    )
    funtorch.use_deterministic_algorithms(True, warn_only=True)
    assert funtorch.is_deterministic_algorithms_warn_only_enabled()
    funtorch.use_deterministic_algorithms(False)
    assert (settings.mode, funtorch.are_deterministic_algorithms_enabled()) == (before, False)
    for level, number in (("warn", 1), (2, 2), ("default", 0)):
        funtorch.set_deterministic_debug_mode(level)
        assert funtorch.get_deterministic_debug_mode() == number
    with pytest.raises(TypeError, match="must be bool, not int"):
        funtorch.use_deterministic_algorithms(1)
    with pytest.raises(ValueError, match="got 'loud'"):
        funtorch.set_deterministic_debug_mode("loud")


def test_a_gpu_without_the_flag_for_determinism_warns(monkeypatch):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    with pytest.warns(UserWarning, match="xla_gpu_deterministic_ops"):
        funtorch.use_deterministic_algorithms(True)
    monkeypatch.setenv("XLA_FLAGS", "--xla_gpu_deterministic_ops=true")
    funtorch.use_deterministic_algorithms(True)


@pytest.mark.parametrize("name", ["set_num_threads", "set_num_interop_threads"])
def test_threads_are_fixed_when_jax_starts(name):
    number = funtorch.get_num_threads()
    assert number == funtorch.get_num_interop_threads() >= 1
    getattr(funtorch, name)(number)
    with pytest.warns(UserWarning, match=f"has started its {number} threads"):
        getattr(funtorch, name)(number + 1)
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(RuntimeError, match=name):
            getattr(funtorch, name)(wrong)


def test_version():
    assert funtorch.version.__version__ == funtorch.__version__
    assert funtorch.version.cuda is None and funtorch.version.hip is None


def test_assert_as_a_function():
    funtorch._assert(True, "fine")
    with pytest.raises(AssertionError, match="wrong"):
        funtorch._assert(funtorch.tensor(False), "wrong")


CHECKS = {"_check": RuntimeError, "_check_index": IndexError, "_check_value": ValueError, "_check_type": TypeError}


@pytest.mark.parametrize("name", CHECKS)
def test_checks_as_functions(name):
    for lib in (torch, funtorch):
        check = getattr(lib, name)
        check(True, lambda: "fine")
        with pytest.raises(CHECKS[name], match="wrong"):
            check(False, lambda: "wrong")
        with pytest.raises(CHECKS[name], match="Expected cond to be True"):
            check(False)
        with pytest.raises(TypeError, match="must be a bool"):
            check("yes")


def test_parts_have_names_in_a_profile():
    @funtorch.profiler.record_function("outer")
    def part(depth):
        with funtorch.profiler.record_function("inner", args="x"):
            return part(depth - 1) if depth else 3

    assert part(2) == 3


def test_importing_leaves_these_to_be_loaded_when_used():
    code = (
        "import funtorch, sys; print([m for m in ('cuda','backends','jit','profiler','optim') if f'funtorch.{m}' in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


@pytest.mark.parametrize("wrong", ["int32", "complex64", "float8_e4m3fn"])
def test_types_that_are_no_default(wrong):
    for lib in (torch, funtorch):
        with pytest.raises(TypeError):
            lib.set_default_dtype(getattr(lib, wrong))
        assert lib.get_default_dtype() is lib.float32


NUMBERS = {
    "sym_int": (2.7,), "sym_float": (2,), "sym_max": (2, 3.0), "sym_min": (2, 3.0), "sym_not": (True,), "sym_sqrt": (9,),
    "sym_sum": ((1, 2, 3),), "sym_ite": (False, 1, 2),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_functions_of_sizes(name):
    expected, found = (getattr(lib, name)(*NUMBERS[name]) for lib in (torch, funtorch))
    assert found == expected and type(found) is type(expected)


def test_what_it_was_built_with():
    for name in ("has_lapack", "has_spectral"):
        assert getattr(funtorch, name) is getattr(torch, name) is True
    assert funtorch.is_vulkan_available() is torch.is_vulkan_available() is False
    assert funtorch.set_flush_denormal(True) is False
    about = importlib.import_module("funtorch.__config__")
    assert f"JAX {jax.__version__}" in about.show() and "get_num_threads() :" in about.parallel_info()
    assert funtorch.Storage is funtorch.FloatStorage and torch.Storage is torch.FloatStorage


def test_modes_of_the_tape():
    for lib in (torch, funtorch):
        assert lib.autograd.is_multithreading_enabled() and not lib.autograd.is_view_replay_enabled()
        with lib.autograd.set_multithreading_enabled(False):
            assert not lib.autograd.is_multithreading_enabled()
        assert lib.autograd.is_multithreading_enabled()
        lib.set_anomaly_enabled(True, False)
        assert lib.is_anomaly_enabled() and not lib.is_anomaly_check_nan_enabled()
        lib.set_anomaly_enabled(False)
        assert not lib.is_anomaly_enabled()
        x = lib.ones(2, requires_grad=True)
        with lib.autograd.graph.allow_mutation_on_saved_tensors():
            y = x.clone()
            z = (y * y).sum()
            y.mul_(5)
            z.backward()
        assert x.grad.tolist() == [2, 2]
