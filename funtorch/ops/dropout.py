"""Dropout: random zeros, elementwise or by channel. Draws are PyTorch's: one for each element, or for each channel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..cautions import caution
from ..core.meta import is_meta
from ..core.rounding import HALVES
from ..dtypes import bool_
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from . import registry
from .activation import PURE
from .assignment import TYPE_NAMES
from .creation import ones, zeros
from .declare import Array, function, op
from .placing import without_data
from .random import bernoulli_mask, in_memory_order

SELU_FLOOR = 1.7580993408473766  # SELU's limit at minus infinity, without its sign
NO_FLOAT = "result type Float can't be cast to the desired output type {}"
TOO_SMALL = (
    "{0}: Received a {1}-D input to {0}, which is deprecated and will result in an error in a future release. To retain the "
    "behavior and silence this warning, please use dropout instead. Note that {0} exists to provide channel-wise dropout on "
    "inputs with {2} spatial dimensions, a channel dimension, and an optional batch dimension (i.e. {3}D or {4}D inputs)."
)
WITHOUT_BATCH = (
    "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired - input is "
    "interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a future release to interpret "
    "the input as one without a batch dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise dropout behavior, "
    "please switch to using dropout1d instead."
)


@op(namespace=PURE, name="dropout", out=False, inplace=True)
def masked(input: Array, mask: Array, p):
    """x mask / (1 - p). input (*), mask broadcast to it."""
    kind = np.float32 if input.dtype in HALVES else input.dtype  # in which PyTorch divides half types
    scale = np.asarray(0 if p == 1 else 1, kind) / np.asarray(1 if p == 1 else 1 - p, kind)
    return input * (mask * scale.astype(input.dtype))


@op(namespace=PURE, name="alpha_dropout", out=False, inplace=True)
def masked_like_selu(input: Array, mask: Array, p):
    """a (x where the mask is 1, else SELU's floor) + b, with a and b that keep mean and variance."""
    a = 0.0 if p == 1 else 1 / math.sqrt((SELU_FLOOR**2 * p + 1) * (1 - p))
    shift = (mask - np.asarray(1, input.dtype)) * np.asarray(SELU_FLOOR * a, input.dtype)
    return input * (mask * np.asarray(a, input.dtype)) + (shift + np.asarray(SELU_FLOOR * a * p, input.dtype))


_IN_PLACE = {masked: registry.names(PURE)["dropout_"], masked_like_selu: registry.names(PURE)["alpha_dropout_"]}


def _mask(input: Any, shape: tuple, p: float) -> Any:
    """Ones and zeros for an input. Nothing is drawn for one without data, nor where all is dropped."""
    if is_meta(input):
        return without_data(shape, input.dtype.numpy)
    return zeros(shape, dtype=input.dtype) if p == 1 else bernoulli_mask(shape, 1 - p, input.dtype)


def _dropped(form: Any, input: Any, p: float, training: bool, inplace: bool, by_channel: bool) -> Any:
    if not 0 <= p <= 1:
        raise ArgumentValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not isinstance(input, Tensor):
        raise ArgumentTypeError(f"dropout(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if not training or p == 0 or not input.numel():
        return input
    if not (input.dtype.is_floating_point or input.dtype.is_complex):
        raise OpError(NO_FLOAT.format(TYPE_NAMES[input.dtype.name]))
    if by_channel:
        if input.dim() < 2:
            raise OpError("Feature dropout requires at least 2 dimensions in the input")
        mask = _mask(input, tuple(input.shape[:2]) + (1,) * (input.dim() - 2), p)
    else:
        mask = in_memory_order(input, lambda shape: _mask(input, shape, p))
    return (_IN_PLACE[form] if inplace else form)(input, mask, float(p))


@function("nn.functional")
def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Zero each element with probability p, and scale the others by 1 / (1 - p).

    Args:
        input: (*) of floats.
        p: in [0, 1].
        training: if false, ``input`` itself is returned.
        inplace: change ``input``.

    Raises:
        ValueError: p outside [0, 1].
        RuntimeError: integers.

    Source: Srivastava et al., "Dropout", 2014.
    """
    return _dropped(masked, input, p, training, inplace, False)


@function("nn.functional")
def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout to the floor of SELU that keeps mean and variance. input (*) of floats; other arguments: as in `dropout`.

    Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
    """
    return _dropped(masked_like_selu, input, p, training, inplace, False)


@function("nn.functional")
def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """`alpha_dropout` of whole channels. input (N, C, *) of floats; other arguments: as in `dropout`."""
    return _dropped(masked_like_selu, input, p, training, inplace, True)


@function("nn.functional")
def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels. input (N, C, L) or (C, L) of floats; other arguments: as in `dropout`.

    Raises RuntimeError for another rank.
    """
    _check_probability(p)
    if input.dim() not in (2, 3):
        raise OpError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional batch dimension "
            "(i.e. 2D or 3D inputs)."
        )
    return _with_batch(input, 3, p, training, inplace)


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ArgumentValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _with_batch(input: Any, rank: int, p: float, training: bool, inplace: bool) -> Any:
    """Dropout of channels, of an input that lacks the batch dimension unless it has ``rank`` dimensions."""
    if input.dim() == rank:
        return _dropped(masked, input, p, training, inplace, True)
    result = _dropped(masked, input.unsqueeze(0), p, training, inplace, True)
    return input if inplace else result.squeeze(0)


@function("nn.functional")
def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels. input (N, C, H, W) of floats, or (N, C, L) with a warning; other arguments: as in `dropout`."""
    _check_probability(p)
    if input.dim() not in (3, 4):
        caution(TOO_SMALL.format("dropout2d", input.dim(), 2, 3, 4))
    if input.dim() == 3:
        caution(WITHOUT_BATCH)
    return _dropped(masked, input, p, training, inplace, True)


@function("nn.functional")
def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels. input (N, C, D, H, W) or (C, D, H, W) of floats; other arguments: as in `dropout`."""
    _check_probability(p)
    if input.dim() not in (4, 5):
        caution(TOO_SMALL.format("dropout3d", input.dim(), 3, 4, 5))
    return _with_batch(input, 5, p, training, inplace)


def _torch_form(name: str, form: Any, by_channel: bool) -> None:
    """torch's own form: all arguments are required, and another one changes the input."""

    def plain(input: Any, p: float, train: bool) -> Any:
        return _dropped(form, input, p, train, False, by_channel)

    def changing(input: Any, p: float, train: bool) -> Any:
        return _dropped(form, input, p, train, True, by_channel)

    for fn, public in ((plain, name), (changing, f"{name}_")):
        fn.__name__ = public
        fn.__doc__ = f"`nn.functional.{name}`, with all arguments given. input (*) of floats."
        registry.add("torch", public, fn)


_torch_form("dropout", masked, False)
_torch_form("feature_dropout", masked, True)
_torch_form("alpha_dropout", masked_like_selu, False)
_torch_form("feature_alpha_dropout", masked_like_selu, True)


@function()
def native_dropout(input: Any, p: float, train: bool | None) -> tuple[Any, Any]:
    """Dropout, with the mask that it drew.

    Args:
        input: (*) of floats.
        p: in [0, 1].
        train: if False, nothing is dropped; None means True.

    Returns:
        (*), and its mask of bools, True where an element was kept.

    Raises RuntimeError for ``p`` outside of [0, 1].
    """
    if not 0 <= p <= 1:
        raise OpError(f"native_dropout(): bernoulli_ expects p to be in [0, 1], but got p={1 - p}")
    if train is False or not input.numel():
        return input.clone(), ones(input.shape, dtype=bool_)
    mask = in_memory_order(input, lambda shape: _mask(input, shape, p))
    return masked(input, mask, float(p)), mask.to(bool_)
