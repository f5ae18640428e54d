"""Products of matrices in float8, each with factors that bring its numbers back to their sizes."""

from __future__ import annotations

import enum
from typing import Any

import jax.numpy as jnp

from ..core.handle import Handle, form_of
from ..dtypes import as_dtype, bfloat16, dtype, float32
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError
from .activation import PURE
from .assignment import cast
from .declare import Array, function, op

FLOAT8 = 1  # bytes


class ScalingType(enum.Enum):
    """How the factors of a matrix lie: one for all, one for each row of the first and column of the second, or one for each block."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(enum.Enum):
    """The order of blocks' factors in memory."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


@op(namespace=PURE, name="scaled_mm", out=False)
def _scaled_mm(mat_a: Array, mat_b: Array, scale_a: Array, scale_b: Array, bias: Array | None):
    """(s_a a) (s_b b) + bias, in float32."""
    product = (mat_a.astype(jnp.float32) * scale_a) @ (mat_b.astype(jnp.float32) * scale_b)
    return product if bias is None else product + bias.astype(jnp.float32)


def _single(given: Any, name: str) -> Any:
    """What a list of one holds. Raises NotImplementedError for a list of several: factors of two kinds for one matrix."""
    if not isinstance(given, (list, tuple)):
        return given
    if len(given) != 1:
        raise MissingError(f"scaled_mm(): {name} with {len(given)} entries is not in funtorch; give one")
    return given[0]


def _factors(scale: Any, recipe: Any, side: str, wanted: tuple[int, int]) -> Any:
    """The factors of a matrix, in a shape that broadcasts to it. Raises NotImplementedError for those of blocks."""
    scale, recipe = _single(scale, f"scale_{side}"), _single(recipe, f"scale_recipe_{side}")
    if not isinstance(scale, Handle):
        raise ArgumentTypeError(f"scaled_mm(): scale_{side} must be Tensor, not {type(scale).__name__}")
    if not isinstance(recipe, ScalingType):
        raise ArgumentTypeError(f"scaled_mm(): scale_recipe_{side} must be ScalingType, not {type(recipe).__name__}")
    if recipe not in (ScalingType.TensorWise, ScalingType.RowWise):
        raise MissingError(f"scaled_mm(): scale_recipe_{side}={recipe} is not in funtorch: TensorWise and RowWise are")
    shape = form_of(scale).shape
    fits = scale.numel() == 1 if recipe is ScalingType.TensorWise else shape == wanted  # type: ignore[attr-defined]
    if scale.dtype is not float32 or not fits:  # type: ignore[attr-defined]
        form = "one number" if recipe is ScalingType.TensorWise else list(wanted)
        raise ArgumentValueError(
            f"scaled_mm(): Invalid scaling configuration: {recipe.name} takes float32 factors of {form}, got scale_{side} "
            f"{scale.dtype} of {list(shape)}"  # type: ignore[attr-defined]
        )
    return scale.reshape(()) if recipe is ScalingType.TensorWise else scale  # type: ignore[attr-defined]


@function("nn.functional")
def scaled_mm(
    mat_a: Any, mat_b: Any, scale_a: Any, scale_recipe_a: Any, scale_b: Any, scale_recipe_b: Any, swizzle_a: Any = None,
    swizzle_b: Any = None, bias: Any = None, output_dtype: dtype | None = bfloat16, contraction_dim: Any = (),
    use_fast_accum: bool = False,
) -> Any:  # fmt: skip
    """The product of two float8 matrices that were scaled: z = (s_a a) (s_b b) + bias, summed up in float32.

    Args:
        mat_a: (M, K) of a float8 type; mat_b: (K, N) of one.
        scale_a, scale_b: float32 factors: one (TensorWise), or (M, 1) and (1, N) (RowWise); or a list of one such Tensor.
        scale_recipe_a, scale_recipe_b: a `ScalingType`, the same for both.
        swizzle_a, swizzle_b, contraction_dim, use_fast_accum: accepted, without effect for these.
        bias: (N).
        output_dtype: the result's; that of ``mat_a`` for None.

    Returns:
        (M, N).

    Raises:
        ValueError: types, sizes or factors that don't fit.
        NotImplementedError: factors for blocks.

    >>> a = torch.ones(2, 4).to(torch.float8_e4m3fn)
    >>> way = nn.functional.ScalingType.TensorWise
    >>> nn.functional.scaled_mm(a, a.t(), torch.tensor(2.0), way, torch.tensor(0.5), way, output_dtype=torch.float32)
    tensor([[4., 4.],
            [4., 4.]])
    """
    shapes = form_of(mat_a).shape, form_of(mat_b).shape
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or shapes[0][1] != shapes[1][0]:
        raise ArgumentValueError(f"scaled_mm(): mat_a and mat_b shapes cannot be multiplied ({shapes[0]} and {shapes[1]})")
    for name, mat in (("mat_a", mat_a), ("mat_b", mat_b)):
        if not mat.dtype.is_floating_point or mat.dtype.itemsize != FLOAT8:
            raise ArgumentValueError(
                f"scaled_mm(): Invalid scaling configuration: {name} must be of a float8 type, got {mat.dtype}"
            )
    left = _factors(scale_a, scale_recipe_a, "a", (shapes[0][0], 1))
    right = _factors(scale_b, scale_recipe_b, "b", (1, shapes[1][1]))
    if (len(form_of(left).shape) == 0) != (len(form_of(right).shape) == 0):
        raise ArgumentValueError("scaled_mm(): Invalid scaling configuration: scale_a and scale_b must be of one kind")
    result = _scaled_mm(mat_a, mat_b, left, right, bias)
    return cast(result, mat_a.dtype if output_dtype is None else as_dtype(output_dtype))
