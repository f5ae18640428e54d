"""Complex numbers: their parts, as views, their making, their conjugates and angles."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.handle import value_of
from ..core.strides import unchanged
from ..dtypes import default
from ..errors import OpError
from . import registry
from .declare import Array, function, op
from .operands import is_inexact, kind_of, number, shown_as
from .trigonometric import angle_of


def _doubled(strides: tuple) -> tuple:
    """Strides and offsets count elements, and a complex element holds two real ones."""
    return tuple(2 * s for s in strides)


@shown_as("real")
@op(
    name="_real", method=False, view=True,
    inverse=lambda base, value: jax.lax.complex(value, base.imag),
    layout=lambda shape, strides, offset: (shape, _doubled(strides), 2 * offset),
)  # fmt: skip
def _real(input: Array):
    """Real parts, as a view."""
    return input.real


@shown_as("imag")
@op(
    name="_imag", method=False, view=True,
    inverse=lambda base, value: jax.lax.complex(base.real, value),
    layout=lambda shape, strides, offset: (shape, _doubled(strides), 2 * offset + 1),
)  # fmt: skip
def _imag(input: Array):
    """Imaginary parts, as a view."""
    return input.imag


@function()
def real(input: Any) -> Any:
    """Real parts: a view of complex input, real input itself. input (*)."""
    return _real(input) if input.is_complex() else input


@function()
def imag(input: Any) -> Any:
    """Imaginary parts, a view. input (*) complex. Raises RuntimeError for real input."""
    if not input.is_complex():
        raise OpError("imag is not implemented for tensors with non-complex dtypes.")
    return _imag(input)


registry.add_method("real", property(real, lambda self, value: real(self).copy_(value)))  # type: ignore[arg-type]
registry.add_method("imag", property(imag, lambda self, value: imag(self).copy_(value)))  # type: ignore[arg-type]


@op(
    view=True,
    inverse=lambda base, value: jax.lax.complex(value[..., 0], value[..., 1]),
    layout=lambda shape, strides, offset: ((*shape, 2), (*_doubled(strides), 1), 2 * offset),
)
def view_as_real(input: Array):
    """Real and imaginary parts along a new last dimension, a view. input (*) complex; z (*, 2).

    Raises RuntimeError for real input.
    """
    if not jnp.iscomplexobj(input):
        raise OpError("view_as_real is only supported for complex tensors")
    return jnp.stack([input.real, input.imag], -1)


@op(
    view=True,
    inverse=lambda base, value: jnp.stack([value.real, value.imag], -1),
    layout=lambda shape, strides, offset: (shape[:-1], tuple(s // 2 for s in strides[:-1]), offset // 2),
)
def view_as_complex(input: Array):
    """The pairs along the last dimension as complex numbers, a view. input (*, 2) of floats; z (*).

    Raises RuntimeError for other input.
    """
    if jnp.iscomplexobj(input) or not is_inexact(input):
        raise OpError(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: "
            + kind_of(input)
        )
    if not input.ndim:
        raise OpError("Input tensor must have one or more dimensions")
    if input.shape[-1] != 2:
        raise OpError("Tensor must have a last dimension of size 2")
    return jax.lax.complex(input[..., 0], input[..., 1])


@op(
    name="_conj", method=False, view=True,
    inverse=lambda base, value: jnp.conj(value),
    layout=unchanged,
)  # fmt: skip
def _conj(input: Array):
    """Complex conjugate, as a view."""
    return jnp.conj(input)


@function(method=True)
def conj(input: Any) -> Any:
    """Complex conjugate: a view of complex input, real input itself. input (*)."""
    return _conj(input) if input.is_complex() else input


@op(inplace=True)
def conj_physical(input: Array):
    """Complex conjugate, in new memory. input (*)."""
    return jnp.conj(input) if jnp.iscomplexobj(input) else input


def _signs(input: Any) -> tuple[bool, bool]:
    """Whether a view shows its storage's elements conjugated, and whether negated: both are put off, as by PyTorch."""
    value_of(input)
    chains, handle = [], input
    while handle._base is not None:
        chains.append(handle._chain)
        handle = handle._base
    conj = neg = False
    for link in (link for chain in reversed(chains) for link in chain):
        name = getattr(link, "op", link).name
        neg ^= name == "_neg_view" or (name == "imag" and conj)
        conj = conj != (name == "_conj") and name not in _PARTS
    return conj, neg


_PARTS = ("real", "imag", "view_as_real")


@function(method=True)
def is_conj(input: Any) -> bool:
    """Whether the Tensor is a conjugated view. input (*)."""
    return _signs(input)[0]


@op(
    name="_neg_view", method=False, view=True,
    inverse=lambda base, value: jnp.negative(value),
    layout=unchanged,
)  # fmt: skip
def _neg_view(input: Array):
    """Negated elements, as a view."""
    return jnp.negative(input)


@function(method=True)
def is_neg(input: Any) -> bool:
    """Whether the Tensor is a negated view: ``x.conj().imag`` is one. input (*)."""
    return _signs(input)[1]


@function(method=True)
def resolve_conj(input: Any) -> Any:
    """The Tensor with its conjugation carried out. input (*)."""
    return input.clone() if is_conj(input) else input


@function(method=True)
def resolve_neg(input: Any) -> Any:
    """The Tensor with its negation carried out. input (*)."""
    return input.clone() if is_neg(input) else input


def _pair(x: Array, y: Array, name: str) -> tuple[Array, Array]:
    for part in (x, y):
        if jnp.iscomplexobj(part) or not is_inexact(part):
            raise OpError(
                f"Expected both inputs to be Half, Float or Double tensors but got {kind_of(x)} and {kind_of(y)} in {name}()"
            )
    if x.dtype != y.dtype:
        raise OpError(
            f"Expected object of scalar type {kind_of(x)} but got scalar type {kind_of(y)} for second argument of {name}()"
        )
    wide = jnp.float64 if x.dtype == jnp.float64 else jnp.float32
    first, second = jnp.broadcast_arrays(x, y)
    return first.astype(wide), second.astype(wide)


@op(method=False, exact_out=True)
def complex(real: Array, imag: Array):
    """Complex numbers from their parts: z = a + b i. real (*), imag (*): floats of one type. Raises RuntimeError otherwise."""
    return jax.lax.complex(*_pair(real, imag, "complex"))


@op(method=False, exact_out=True)
def polar(abs: Array, angle: Array):
    """Complex numbers from modulus and angle: z = r e^(i a). abs (*), angle (*): floats of one type.

    Raises RuntimeError otherwise.
    """
    r, a = _pair(abs, angle, "polar")
    return jax.lax.complex(r * jnp.cos(a), r * jnp.sin(a))


@op()
def angle(input: Array):
    """Angle in radians, in (-pi, pi]; 0 or pi for real input. input (*); z real. Its gradient at 0 is 0."""
    if jnp.iscomplexobj(input):
        return angle_of(input.imag, input.real)
    x = input if is_inexact(input) else input.astype(default().numpy)
    side = jnp.where(x < 0, number(jnp.pi, x.dtype), number(0, x.dtype))
    return jnp.where(jnp.isnan(x), x, side)
