"""funtorch: PyTorch's eager API on JAX. ``import funtorch as torch``."""

import gc as _gc
import importlib as _importlib
import typing as _typing
from math import e, inf, nan, pi  # noqa: F401

# What is made here lives on: a collection midway would only take its time (a third of the import).
_collecting = _gc.isenabled()
_gc.disable()

from .naming import finder as _finder

_finder.install()
from . import autograd, func, ops, transforms
from . import dtypes as _dtypes
from . import layouts as _layouts
from .assertions import _assert, _assert_async, _check, _check_index, _check_type, _check_value  # noqa: F401
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .autograd.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .cautions import is_warn_always_enabled, set_warn_always
from .core.engine import set_engine
from .core.generators import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
    thread_safe_generator,
)
from .core.promotion import result_type as _result_type
from .determinism import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    use_deterministic_algorithms,
)
from .devices import device
from .dtypes import can_cast, dtype, promote_types
from .dtypes import set_default as set_default_dtype
from .layouts import layout, memory_format
from .legacy_types import CPU_TYPES as _CPU_TYPES
from .legacy_types import set_default_tensor_type
from .matmul_precision import get_float32_matmul_precision, set_float32_matmul_precision
from .numbers_info import finfo, iinfo
from .ops import registry as _registry
from .ops.creation import is_tensor
from .ops.placing import get_default_device, set_default_device
from .printing import set_printoptions
from .serialization import load, save
from .size import Size
from .storage import TYPES as _STORAGE_TYPES
from .storage import TypedStorage, UntypedStorage
from .tensor import Tensor
from .threads import get_num_interop_threads, get_num_threads, set_num_interop_threads, set_num_threads
from .version import __version__

if _typing.TYPE_CHECKING:
    from .ops.given_data import tensor  # a type checker sees the module of that name otherwise

globals().update(_dtypes.PUBLIC)
globals().update(_registry.names("torch"))
globals().update(_CPU_TYPES)
globals().update(_STORAGE_TYPES)
Storage = _STORAGE_TYPES["FloatStorage"]

for _type in (Tensor, Size, Generator, device, dtype, finfo, iinfo, layout, memory_format):
    _type.__module__ = __name__  # how they are printed and pickled

get_default_dtype = _dtypes.default
compile, vmap = transforms.compile, transforms.vmap
globals().update(_layouts.PUBLIC)
newaxis = None


def result_type(tensor1, tensor2):
    """The dtype of an operation on two Tensors or numbers."""
    return _result_type((tensor1, tensor2))


def typename(obj):
    """The name of an object's type, with its module: of a Tensor, the old one of its dtype."""
    if isinstance(obj, Tensor):
        return obj.type()
    module = type(obj).__module__
    return type(obj).__qualname__ if module == "builtins" else f"{module.removeprefix('fun')}.{type(obj).__qualname__}"


_LAZY = (
    "_VF", "__config__", "__future__", "_higher_order_ops", "accelerator", "amp", "backends", "compiler", "cpu", "cuda", "distributed", "distributions", "fft",
    "futures", "hub", "jit", "linalg", "masked", "models", "mps", "multiprocessing", "nn", "optim", "profiler", "quasirandom",
    "random", "return_types", "signal", "sparse", "special", "testing", "types", "utils", "xpu",
)  # fmt: skip
_LAZY_NAMES = {
    "amp.autocast_mode": ("autocast",),
    "amp.settings": (
        "autocast_decrement_nesting", "autocast_increment_nesting", "clear_autocast_cache", "get_autocast_dtype",
        "is_autocast_cache_enabled", "is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_dtype",
        "set_autocast_enabled",
    ),
    "amp.by_kind": (
        "get_autocast_cpu_dtype", "get_autocast_gpu_dtype", "get_autocast_ipu_dtype", "get_autocast_xla_dtype",
        "is_autocast_cpu_enabled", "is_autocast_ipu_enabled", "is_autocast_xla_enabled", "set_autocast_cpu_dtype",
        "set_autocast_cpu_enabled", "set_autocast_gpu_dtype", "set_autocast_ipu_dtype", "set_autocast_ipu_enabled",
        "set_autocast_xla_dtype", "set_autocast_xla_enabled",
    ),
    "capabilities": (
        "has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps", "has_openmp", "has_spectral",
        "is_vulkan_available", "set_flush_denormal",
    ),
    "cuda.memory": ("OutOfMemoryError",),
    "device_modules": ("get_device_module",),
    "futures": ("Future", "fork", "wait"),
    "sparse.creation": (
        "sparse_bsc_tensor", "sparse_bsr_tensor", "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor",
        "sparse_csr_tensor",
    ),
    "transforms.control_flow": ("cond", "while_loop"),
    "amp.grad_scaler": ("GradScaler",),
    "utils.dlpack": ("to_dlpack",),
    "sparse.products": ("dsmm", "hsmm", "hspmm", "smm", "spmm", "sspaddmm"),
    "streams": ("Event", "Stream"),
    "symbolic": ("sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"),
}  # fmt: skip
_LAZY_HOME = {name: module for module, names in _LAZY_NAMES.items() for name in names}


if _collecting:
    _gc.enable()


def __getattr__(name):
    if name in _LAZY:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _LAZY_HOME:
        return getattr(_importlib.import_module(f"{__name__}.{_LAZY_HOME[name]}"), name)
    if name.startswith("__") and name not in ("__config__", "__future__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .naming.missing import resolve

    return resolve("torch", name)
