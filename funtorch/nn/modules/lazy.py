"""Lazy modules: the number of input features is read from the first input; then they become ordinary ones."""

from __future__ import annotations

from typing import Any

from ...autograd.modes import no_grad
from ...dtypes import int64
from ...errors import ArgumentValueError, MissingError, OpError
from ...ops import registry
from ..module import Module
from ..module_loading import own_state
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .linear import Linear

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d",
    "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear",
]  # fmt: skip

Base: Any = Module


class LazyModuleMixin(Base):
    """What lazy modules share: the first call makes the parameters, and then ``cls_to_become`` is the module's class.

    A subclass has `initialize_parameters`, which takes what `forward` takes.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        for name, tensor in own_state(self):
            destination[prefix + name] = tensor if keep_vars or is_lazy(tensor) else tensor.detach()

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Give what has no shape yet that of what is being loaded."""
        for name, tensor in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if given is not None and is_lazy(tensor) and not is_lazy(given):
                tensor.materialize(given.shape)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Leave out what has no shape, neither here nor there."""
        waiting = {prefix + n for n, t in own_state(self) if is_lazy(t) and is_lazy(state_dict.get(prefix + n))}
        given = {key: value for key, value in state_dict.items() if key not in waiting}
        super()._load_from_state_dict(given, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        missing_keys[:] = [key for key in missing_keys if key not in waiting]

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Converts as a Module does, but a buffer without a shape stays one."""
        waiting = {name: buffer for name, buffer in self._buffers.items() if is_lazy(buffer)}
        super()._apply(fn, recurse)
        for name, buffer in waiting.items():
            buffer.data = self._buffers[name]
            self._buffers[name] = buffer
        return self

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Make the parameters for an input. Raises NotImplementedError where a subclass doesn't define it."""
        raise MissingError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(t) for t in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module: Any, args: tuple, kwargs: dict[str, Any] | None = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise OpError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become


class LazyLinear(LazyModuleMixin, Linear):
    """A `Linear` whose ``in_features`` is the last size of the first input.

    Args:
        out_features: M.
        bias: whether there is b.

    Example:
        >>> import funtorch
        >>> layer = LazyLinear(2)
        >>> layer(funtorch.zeros(5, 3)).shape, layer
        (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw new parameters, if there are any."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Make the parameters for an input (*, K)."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # the parameters were loaded
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    """What lazy convolutions share."""

    def _set_lazy(self, out_channels: int, bias: bool, where: dict[str, Any]) -> None:
        self.weight = UninitializedParameter(**where)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**where)

    def reset_parameters(self) -> None:
        """Draw new parameters, if there are any."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Make the parameters for an input (N, C, *) or (C, *)."""
        if not self.has_uninitialized_params():
            return
        self.in_channels = self._get_in_channels(input)
        if self.in_channels % self.groups:
            raise ArgumentValueError("in_channels must be divisible by groups")
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()

    def _get_in_channels(self, input: Any) -> int:
        single = self.dims + 1
        if input.dim() not in (single, single + 1):
            raise OpError(
                f"Expected {single}D (unbatched) or {single + 1}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}"
            )
        return input.shape[input.dim() - single]


class _LazyConv(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        where = {"device": device, "dtype": dtype}
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode, **where)
        self._set_lazy(out_channels, bias, where)


class _LazyConvTranspose(_LazyConvXdMixin):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0, groups: int = 1,
        bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        where = {"device": device, "dtype": dtype}
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode, **where)
        self._set_lazy(out_channels, bias, where)


class _LazyNormBase(LazyModuleMixin):
    """What lazy norms share."""

    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        where = {"device": device, "dtype": dtype}
        super().__init__(0, eps, momentum, False, False, **where, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(**where)
            if bias:
                self.bias = UninitializedParameter(**where)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**where)
            self.running_var = UninitializedBuffer(**where)
            self.num_batches_tracked = registry.names("torch")["tensor"](0, dtype=int64, device=device)

    def reset_parameters(self) -> None:
        """Reset parameters and statistics, if there are any."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """Make parameters and statistics for an input (N, C, *)."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(tensor):
                tensor.materialize((self.num_features,))
        self.reset_parameters()


DOC = """A `{}` that takes the number of its input's channels from the first input.

    Args: those of `{}`, without the number of input channels.

    Raises:
        RuntimeError, ValueError: an input that doesn't fit.
    """


def _lazy(base: type, mixin: type) -> Any:
    """The lazy form of a class."""
    members = {"cls_to_become": base, "__doc__": DOC.format(base.__name__, base.__name__), "__module__": __name__}
    return type(f"Lazy{base.__name__}", (mixin, base), members)


LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(base, _LazyConv) for base in (Conv1d, Conv2d, Conv3d))
LazyConvTranspose1d = _lazy(ConvTranspose1d, _LazyConvTranspose)
LazyConvTranspose2d = _lazy(ConvTranspose2d, _LazyConvTranspose)
LazyConvTranspose3d = _lazy(ConvTranspose3d, _LazyConvTranspose)
LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy(b, _LazyNormBase) for b in (BatchNorm1d, BatchNorm2d, BatchNorm3d))
LazyInstanceNorm1d = _lazy(InstanceNorm1d, _LazyNormBase)
LazyInstanceNorm2d = _lazy(InstanceNorm2d, _LazyNormBase)
LazyInstanceNorm3d = _lazy(InstanceNorm3d, _LazyNormBase)
