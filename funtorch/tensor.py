"""Tensor: a mutable handle on an immutable array. What it computes is declared in ``ops``; here is what it is."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from . import devices, dtypes
from .cautions import PACKAGE, caution, caution_once
from .core import handle
from .core.engine import CONCRETE
from .core.gradients import check_gradient, hook_accumulation, hook_gradient, retain_gradient
from .core.handle import Handle, announce, form_of, make, value_of
from .core.host_values import host_array
from .core.levels import WRAPPED, inner_of
from .core.meta import MetaArray, is_meta
from .core.node_names import named
from .core.pytree import register_pytree
from .core.shared_memory import shown_to_numpy
from .core.state import state, watched
from .core.strides import is_contiguous, layout
from .core.text import describe
from .core.views import alias, version_root
from .core.writing import replace_data
from .devices import device
from .dtypes import FROM_NUMPY, dtype
from .errors import ArgumentTypeError, ArgumentValueError, NoBufferError, OpError, TracedValueError
from .layouts import strided
from .size import Size

as_size = tuple.__new__  # without the checks of `Size`
ONE_VALUE = "a Tensor with {} elements cannot be converted to Scalar"


TO_NUMBER = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior: the gradient ends there. Consider "
    "using tensor.detach() first."
)


def _warn_of_no_leaf() -> None:
    if not sys._getframe(2).f_code.co_filename.startswith(PACKAGE):
        caution(
            "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed, and backward() does not fill it. Call "
            ".retain_grad() on the Tensor before, or look at the leaf that it was computed from."
        )


class Tensor(Handle):
    """A multi-dimensional array with PyTorch's interface.

    ``Tensor(2, 3)`` makes an uninitialised float Tensor of that shape, ``Tensor([1, 2])`` one with these values, both in
    the default dtype; `funtorch.tensor` is the usual way to make one.
    """

    __array_priority__ = 1000  # NumPy defers to Tensor's operators

    def __new__(cls, *args: Any, device: Any = None) -> Any:
        if cls is not Tensor and not args:
            return object.__new__(cls)
        new = object.__new__(cls)
        new._payload = _legacy_payload(args)
        if state.levels:
            new._birth = len(state.levels)
        return announce(new)

    @staticmethod
    def _of_numpy(array: Any, requires_grad: bool = False) -> Any:
        """A new leaf around an array that nobody else will write."""
        new = make(array, len(state.levels))
        if requires_grad:
            new.requires_grad_()
        return new

    @staticmethod
    def _make_subclass(cls: type, data: Tensor, requires_grad: bool = False) -> Any:
        """A leaf of class ``cls`` with the values of ``data``."""
        new: Any = object.__new__(cls)
        new._payload = value_of(data)
        new._birth = data._birth
        if requires_grad:
            if data.dtype.category < dtypes.FLOAT:
                raise OpError("Only Tensors of floating point and complex dtype can require gradients")
            new.requires_grad_()
        return announce(new)

    # What it is

    @property
    def shape(self) -> Size:
        return as_size(Size, form_of(self).shape)

    @property
    def dtype(self) -> dtype:
        return FROM_NUMPY[np.dtype(self._payload.dtype)]

    @property
    def ndim(self) -> int:
        return len(form_of(self).shape)

    @property
    def device(self) -> device:
        payload = self._payload
        while type(payload) in WRAPPED:
            payload = inner_of(payload)._payload
        if type(payload) in CONCRETE and type(payload) is not np.ndarray:
            return devices.from_jax(next(iter(payload.devices())))
        if type(payload) is MetaArray:
            return devices.META
        return devices.CPU

    @property
    def layout(self) -> Any:
        return strided

    def size(self, dim: int | None = None) -> Any:
        """The shape, or its size along ``dim``. Raises IndexError if there is no such dimension."""
        shape = form_of(self).shape
        if dim is None:
            return as_size(Size, shape)
        from .core.dims import wrap_dim

        return shape[wrap_dim(dim, len(shape))]

    def dim(self) -> int:
        return len(form_of(self).shape)

    ndimension = dim

    def numel(self) -> int:
        return math.prod(form_of(self).shape)

    nelement = numel

    def element_size(self) -> int:
        return self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel() * self.dtype.itemsize

    def stride(self, dim: int | None = None) -> Any:
        """The strides in elements, as PyTorch reports them."""
        form_of(self)
        strides, _ = layout(self)
        return tuple(strides) if dim is None else strides[dim]

    def storage_offset(self) -> int:
        form_of(self)
        return layout(self)[1]

    def is_contiguous(self, memory_format: Any = None) -> bool:
        form_of(self)
        return is_contiguous(self)

    def data_ptr(self) -> int:
        """A number that two Tensors share if they share elements."""
        base: Handle = self
        while base._base is not None:
            base = base._base
        if self.is_meta:
            return 0
        return id(base) + self.storage_offset() * self.element_size()

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def is_signed(self) -> bool:
        return self.dtype.is_signed

    is_cuda = property(lambda self: self.device.type == "cuda")
    is_cpu = property(lambda self: self.device.type == "cpu")
    is_meta = property(lambda self: self.device.type == "meta")
    is_sparse = property(lambda self: False)
    is_sparse_csr = property(lambda self: False)
    is_quantized = property(lambda self: False)
    is_nested = property(lambda self: False)
    is_mkldnn = property(lambda self: False)
    is_mps = property(lambda self: False)
    is_xpu = property(lambda self: False)
    is_ipu = is_maia = is_mtia = is_vulkan = property(lambda self: False)
    is_xla = property(lambda self: self.device.type == "tpu")

    name = property(lambda self: None)

    def get_device(self) -> int:
        found = self.device
        return -1 if found.type in ("cpu", "meta") else (found.index or 0)

    def is_inference(self) -> bool:
        return self._inference

    def is_pinned(self) -> bool:
        return False

    def is_shared(self) -> bool:
        return False

    # Gradients

    @property
    def requires_grad(self) -> bool:
        if self._source is not None:
            form_of(self)
        return self._requires

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say whether gradients are recorded for this leaf. Raises RuntimeError for dtypes that have none."""
        if requires_grad == self._requires:
            return self
        if not requires_grad and self._node is not None:
            raise OpError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
                "subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and self.dtype.category < dtypes.FLOAT:
            raise OpError("only Tensors of floating point dtype can require gradients")
        if requires_grad and self._inference and not state.inference:
            raise OpError("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.")
        self._requires = bool(requires_grad)
        self._level = self._birth
        return self

    @property
    def is_leaf(self) -> bool:
        form_of(self)
        return self._node is None

    @property
    def grad_fn(self) -> Any:
        form_of(self)
        return named(self._node)

    @property
    def output_nr(self) -> int:
        return self._output

    @property
    def grad(self) -> Any:
        if state.recorder is not None:
            state.recorder.read_grad(self)
        if self._grad is None and self._node is not None and not self._retains:
            _warn_of_no_leaf()
        return self._grad

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            check_gradient(self, value)
        if state.recorder is not None:
            state.recorder.clear_grad(self)
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def data(self) -> Any:
        values = alias(self, detached=True)
        values._counts = True
        return values

    @data.setter
    def data(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ArgumentTypeError(f"Variable data has to be a tensor, but got {type(value).__name__}")
        if self._requires and not (value.is_floating_point() or value.is_complex()):
            raise OpError("data set to a tensor that requires gradients must be floating point or complex dtype")
        if is_meta(value) != is_meta(self):
            raise OpError(
                "Attempted to set the data of a Tensor on one device to that of another: one of them, on 'meta', has no data. Make a "
                "new Tensor or Parameter instead."
            )
        if state.recorder is not None:
            state.recorder.write(self)
        replace_data(self, value_of(value))

    def detach(self) -> Any:
        """A view of the values, without history."""
        return alias(self, detached=True)

    def detach_(self) -> Any:
        """Forget the history. Raises RuntimeError for a view, as PyTorch does."""
        if self._base is not None and not self._detached:
            raise OpError("Can't detach views in-place. Use detach() instead.")
        self._requires, self._node, self._output = False, None, 0
        return self

    def backward(self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
        """Accumulate the gradients of this Tensor in the ``.grad`` of the leaves (see `autograd.backward`)."""
        from .autograd.engine import backward

        backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad``."""
        retain_gradient(self)

    retains_grad = property(lambda self: self._retains)

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad)`` when the gradient of this Tensor is there; what it returns replaces it."""
        return hook_gradient(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Any) -> Any:
        """Call ``hook(self)`` after a gradient was accumulated in this leaf's ``.grad``."""
        return hook_accumulation(self, hook)

    # Views and versions

    @property
    def _version(self) -> int:
        root = version_root(self)
        return root._writes - root._uncounted

    @_version.setter
    def _version(self, value: int) -> None:
        root = version_root(self)
        root._writes = value + root._uncounted

    @property
    def _is_view_of(self) -> Any:
        return self._base

    def _is_view(self) -> bool:
        return self._base is not None

    # Values

    def _host(self, asked: str) -> np.ndarray:
        """The values as a NumPy array; TracedValueError where there are none (in a trace, or batched)."""
        payload = value_of(self)
        if state.recorder is not None:
            return state.recorder.decision(self, asked)
        return host_array(payload, asked)

    def item(self) -> Any:
        """The only element as a Python number. Raises RuntimeError if there are more or none."""
        payload = value_of(self)
        if type(payload) is np.ndarray and payload.size == 1 and not watched:
            return payload.item()
        if self.numel() != 1:
            raise OpError(ONE_VALUE.format(self.numel()))
        return self._host("item()").reshape(()).item()

    def _number(self) -> Any:
        """The only element, for Python's types of numbers. Raises ValueError if there are more or none."""
        if self.numel() != 1:
            raise ArgumentValueError("only one element tensors can be converted to Python scalars")
        return self.item()

    def _real_number(self) -> Any:
        """The same without an imaginary part. Raises RuntimeError if there is one."""
        found = self._number()
        if type(found) is not complex:
            return found
        if found.imag:
            raise OpError(f"the complex value {found} cannot be converted to a real number; take .real")
        return found.real

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self._host("tolist()").tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The values as a NumPy array in the same memory: what is written to one shows in the other.

        Read-only copies are given of what has no memory of the CPU's: values on an accelerator, in compiled code or a
        transform, and lazy conjugates.

        Raises RuntimeError for a Tensor that requires grad, unless ``force``, and TypeError for one without data ("meta"), which
        with ``force`` is NotImplementedError.
        """
        if self.requires_grad and not force and not is_meta(self):
            raise OpError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if (shared := shown_to_numpy(self)) is not None:
            return shared
        array = self._host("numpy(force=True)" if force else "numpy()")
        if array.flags.writeable:
            array = array.view()
            array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        array = self.numpy()
        if copy:
            return np.array(array, dtype)
        if dtype is None or array.dtype == dtype:
            return array
        if copy is False:
            raise ArgumentValueError(f"Unable to avoid copy while creating an array of {dtype} from a Tensor of {self.dtype}")
        return array.astype(dtype)

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Tensor:
        """What NumPy makes of a Tensor is a Tensor again; of bools, PyTorch makes uint8."""
        return Tensor._of_numpy(array.astype(np.uint8) if array.dtype == bool else array)

    def __jax_array__(self) -> Any:
        payload = value_of(self)
        if type(payload) in WRAPPED:
            raise TracedValueError("a Tensor inside vmap or jvp has no single JAX array; apply funtorch's own functions to it")
        return jax.numpy.asarray(payload)

    def __dlpack__(self, **kwargs: Any) -> Any:
        if self.requires_grad:
            raise OpError("Can't export tensors that require gradient, use tensor.detach()")
        if is_meta(self):
            raise NoBufferError("Cannot pack tensors on meta")
        if (shared := shown_to_numpy(self)) is not None and shared.flags.writeable and shared.dtype.isbuiltin == 1:
            return shared.__dlpack__(**kwargs)
        return self.__jax_array__().__dlpack__(**kwargs)

    def __dlpack_device__(self) -> Any:
        return self.__jax_array__().__dlpack_device__()

    def __bool__(self) -> bool:
        if self.numel() != 1:
            words = "no values" if self.numel() == 0 else "more than one value"
            raise OpError(f"Boolean value of Tensor with {words} is ambiguous")
        return bool(self._host("bool()").reshape(()).item())

    def __int__(self) -> int:
        return int(self._real_number())

    def __float__(self) -> float:
        if self._requires:
            caution_once(TO_NUMBER)
        return float(self._real_number())

    def __complex__(self) -> complex:
        if self._requires:
            caution_once(TO_NUMBER)
        return complex(self._number())

    def __index__(self) -> int:
        if self.dtype.category > dtypes.INTEGER or self.numel() != 1:
            raise ArgumentTypeError("only integer tensors of a single element can be converted to an index")
        return int(self.item())

    def __len__(self) -> int:
        shape = form_of(self).shape
        if not shape:
            raise ArgumentTypeError("len() of a 0-d tensor")
        return shape[0]

    def __iter__(self) -> Iterator:
        if not form_of(self).shape:
            raise ArgumentTypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __contains__(self, element: Any) -> bool:
        if isinstance(element, (Tensor, int, float, complex, bool)):
            return bool((self == element).any().item())
        raise OpError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    __hash__ = object.__hash__  # by identity, though == compares elements

    # Text, copies, pickles

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        kind = type(self)
        return describe(self, "tensor" if kind.__module__.startswith("funtorch") else kind.__name__)

    def __format__(self, spec: str) -> str:
        if self.dim() == 0 and type(value_of(self)) in CONCRETE:
            return self.item().__format__(spec)
        return object.__format__(self, spec)

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        if not self.is_leaf:
            raise OpError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
                "If you were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage."
            )
        new = object.__new__(type(self))
        memo[id(self)] = new
        new._payload = value_of(self)
        new._birth = len(state.levels)
        announce(new)
        if self._requires:
            new.requires_grad_()
        if self._grad is not None:
            new._grad = copy.deepcopy(self._grad, memo)
        for name, value in self.__dict__.items():
            if name not in Handle.__dict__ and name not in Handle.__annotations__ and name != "_after_hooks":
                new.__dict__[name] = copy.deepcopy(value, memo)
        return new

    def __copy__(self) -> Any:
        return alias(self, detached=False)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        extra = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
        payload = value_of(self)
        held = payload if type(payload) is MetaArray else np.asarray(self._host("pickle"))
        return _rebuild, (type(self), held, self._requires and self._node is None, extra)


def _legacy_payload(args: tuple) -> np.ndarray:
    numpy_type = dtypes.default().numpy
    if len(args) == 1 and isinstance(args[0], Tensor):
        return value_of(args[0])
    if len(args) == 1 and isinstance(args[0], Size):
        return np.zeros(args[0], numpy_type)
    if len(args) == 1 and not isinstance(args[0], int):
        return np.array(args[0], numpy_type)
    return np.zeros(args, numpy_type)


def _rebuild(cls: type, array: np.ndarray | MetaArray, requires_grad: bool, extra: dict) -> Any:
    new: Any = object.__new__(cls)
    new._payload = array
    if requires_grad:
        new.requires_grad_()
    new.__dict__.update(extra)
    return announce(new)


register_pytree(Tensor)
handle.set_class(Tensor)
