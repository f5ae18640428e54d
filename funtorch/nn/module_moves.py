"""Changing all of a Module's Tensors at once: device, dtype, whether they require grad, their gradients.

A parameter keeps its identity, so that optimisers which hold it go on working; but for moves to and from the device "meta".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from ..autograd.modes import no_grad
from ..cautions import caution
from ..core.meta import is_meta
from ..devices import device as Device
from ..dtypes import as_dtype
from ..dtypes import dtype as DType
from ..errors import ArgumentTypeError
from ..layouts import memory_format as MemoryFormat  # noqa: N812
from ..ops.creation import empty_like
from ..tensor import Tensor
from .module_walk import ModuleWalk
from .parameter import Parameter, is_lazy

TO_FORMS = """to() received an invalid combination of arguments - got {}, but expected one of:
 * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, *, \
torch.memory_format memory_format = None)
 * (torch.dtype dtype, bool non_blocking = False, *, torch.memory_format memory_format = None)
 * (Tensor tensor, bool non_blocking = False, *, torch.memory_format memory_format = None)
"""
COMPLEX = (
    "Complex modules are a new feature under active development whose design may change, and some modules might not work as "
    "expected when using complex tensors as parameters or buffers."
)
NOT_FLOATING = "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={}"


class ModuleMoves(ModuleWalk):
    """The part of Module that converts."""

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the values of all parameters, their gradients and all buffers by ``fn(tensor)``.

        A parameter that gets data where it had none (the device "meta"), or loses them, becomes a new one.
        """
        fn = fn if isinstance(fn, _Conversion) else _Conversion(fn)
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for name, parameter in self._parameters.items():
                if parameter is not None:
                    self._parameters[name] = fn.of_parameter(parameter)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Moves and converts all parameters and buffers, in place.

        Forms: ``to(device, dtype, non_blocking)``, ``to(dtype, non_blocking)``, ``to(tensor, non_blocking)``,
        and ``to(memory_format=...)``. Only floating point and complex Tensors change their dtype.

        Args:
            device: where to.
            dtype: a floating point or complex dtype.
            tensor: a Tensor whose device and dtype are taken.
            non_blocking: allowed, without effect: transfers never block.
            memory_format: for parameters and buffers of four or five dimensions. It has no effect: XLA chooses how arrays
                lie in memory.

        Returns: the module.

        Raises:
            TypeError: other arguments, or a dtype of integers.
            RuntimeError: no such device, or a memory format for another rank.

        Example:
            >>> import funtorch
            >>> funtorch.nn.Linear(2, 2).to(funtorch.float64).weight.dtype
            torch.float64
        """
        device, dtype, memory_format = _target(args, kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise ArgumentTypeError(NOT_FLOATING.format(dtype))
        if dtype is not None and dtype.is_complex:
            caution(COMPLEX)
        if device is None and dtype is None and memory_format is None:
            return self

        def convert(tensor: Tensor) -> Tensor:
            changes = dtype is not None and (tensor.is_floating_point() or tensor.is_complex())
            laid_out = memory_format if not is_lazy(tensor) and tensor.dim() in (4, 5) else None
            return tensor.to(device=device, dtype=dtype if changes else None, memory_format=laid_out)

        return self._apply(convert)

    def float(self) -> Self:
        """Converts all floating point parameters and buffers to float32; returns the module."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Converts all floating point parameters and buffers to float64; returns the module."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Converts all floating point parameters and buffers to float16; returns the module."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Converts all floating point parameters and buffers to bfloat16; returns the module."""
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def type(self, dst_type: DType | str) -> Self:
        """Converts all parameters and buffers, integers too, to a dtype; returns the module."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Self:
        """Moves all parameters and buffers to the CPU; returns the module."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: int | Device | None = None) -> Self:
        """Moves all parameters and buffers to a GPU; returns the module."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: int | Device | None = None) -> Self:
        """Moves all parameters and buffers to an XPU. Raises RuntimeError: JAX has none."""
        return self._apply(lambda t: t.xpu(device))

    def to_empty(self, *, device: Device | str | int | None, recurse: bool = True) -> Self:
        """Moves all parameters and buffers to a device without their values, which are arbitrary then."""
        return self._apply(lambda t: empty_like(t, device=device), recurse)

    def share_memory(self) -> Self:
        """Calls `Tensor.share_memory_` of all parameters and buffers; returns the module."""
        return self._apply(lambda t: t.share_memory_())

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether gradients are recorded for the parameters; returns the module."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drops the gradients of all parameters, or, without `set_to_none`, fills them with zeros."""
        for parameter in self.parameters():
            if parameter.grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_()
                parameter.grad.zero_()


class _Conversion:
    """A function of Tensors, applied to parameters: one that several modules share stays one."""

    def __init__(self, fn: Callable[[Tensor], Tensor]) -> None:
        self.fn = fn
        self.made: dict[int, tuple[Tensor, Tensor]] = {}  # parameters that others took the place of, by id, and these

    def __call__(self, tensor: Tensor) -> Tensor:
        return self.fn(tensor)

    def of_parameter(self, parameter: Tensor) -> Tensor:
        """The converted parameter: itself, unless it had data and has none now, or the other way round."""
        if id(parameter) in self.made:
            return self.made[id(parameter)][1]
        # Both results first: a conversion that fails must leave no parameter half converted.
        gradient = parameter.grad
        new_gradient = None if gradient is None else self.fn(gradient)
        new = self.fn(parameter)
        if new is parameter and new_gradient is gradient:
            return parameter
        if not is_lazy(parameter) and is_meta(new) != is_meta(parameter):
            successor = Parameter(new.detach(), parameter.requires_grad)
            successor.grad = None if new_gradient is None else new_gradient.detach()
            self.made[id(parameter)] = parameter, successor
            return successor
        parameter.grad = None
        parameter.data = new.detach()
        if gradient is not None and new_gradient is not None:
            gradient.data = new_gradient.detach()
            parameter.grad = gradient
        return parameter


def _target(args: tuple, kwargs: dict[str, Any]) -> tuple[Any, DType | None, Any]:
    """The device, dtype and memory format that the arguments of `to` name."""
    args = tuple(as_dtype(a) if isinstance(a, type) else a for a in args)  # Python's own types
    kwargs = {k: as_dtype(v) if isinstance(v, type) else v for k, v in kwargs.items()}
    first = args[0] if args else None
    names = ["device", "dtype", "non_blocking"]
    if isinstance(first, DType | Tensor):
        names = ["dtype" if isinstance(first, DType) else "tensor", "non_blocking"]
    given = dict(zip(names, args, strict=False)) | kwargs
    known = {"device", "dtype", "tensor", "non_blocking", "memory_format"}
    kinds = {"dtype": DType, "tensor": Tensor, "memory_format": MemoryFormat}
    wrong_kind = not all(isinstance(given.get(name), kind | None) for name, kind in kinds.items())
    if len(args) > len(names) or set(names[: len(args)]) & set(kwargs) or set(given) - known or wrong_kind:
        got = [type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
        raise ArgumentTypeError(TO_FORMS.format(f"({', '.join(got)})"))
    like, memory_format = given.get("tensor"), given.get("memory_format")
    if like is not None:
        return like.device, like.dtype, memory_format
    device = given.get("device")
    return None if device is None else Device(device), given.get("dtype"), memory_format
