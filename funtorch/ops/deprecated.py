"""Functions and uses that PyTorch calls deprecated or doubtful: the public forms warn as PyTorch's do, what is used in here does not.

For each name: whether the arguments are such a use, the text, and whether it is given once in a process.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ..cautions import caution, caution_once
from ..core.handle import Handle
from . import registry

GOING = "torch.{0} is deprecated in favor of {1} and will be removed: {2}."
NO_WINDOW = "{0}(): A window was not provided, so it is rectangular, which lets frequencies leak; pass window=torch.ones(n_fft) to mean it."


def _observations(input: Any) -> float:
    shape: tuple[int, ...] = input._payload.shape if isinstance(input, Handle) else ()
    return shape[-1] if len(shape) in (1, 2) else 1 if isinstance(input, Handle) and not shape else math.inf


class Use(NamedTuple):
    """A use that is warned of: ``meant`` looks at the arguments by name (None: each is)."""

    text: str
    meant: Callable[[dict], Any] | None = None
    each: bool = False


USES: dict[str, tuple[Use, ...]] = {
    "range": (
        Use(
            "torch.range is deprecated and will be removed: it includes its end. Use torch.arange, which leaves it out.",
            None,
            True,
        ),
    ),
    "lu": (Use(GOING.format("lu", "torch.linalg.lu_factor", "it gives the same LU and pivots, lu_factor_ex the infos too")),),
    "qr": (Use(GOING.format("qr", "torch.linalg.qr", "some=True is mode='reduced', some=False mode='complete'")),),
    "cholesky": (Use(GOING.format("cholesky", "torch.linalg.cholesky", "upper=True is its upper=True")),),
    "triangular_solve": (
        Use(
            GOING.format(
                "triangular_solve", "torch.linalg.solve_triangular", "the matrix comes first there, and no copy of it is given"
            )
        ),
    ),
    "lu_solve": (Use(GOING.format("lu_solve", "torch.linalg.lu_solve", "the right-hand side comes last there")),),
    "chain_matmul": (Use(GOING.format("chain_matmul", "torch.linalg.multi_dot", "it takes a list")),),
    "cross": (
        Use(
            "Using torch.cross without specifying the dim arg is deprecated: it's the first of size 3, where torch.linalg.cross has -1.",
            lambda given: given.get("dim") is None,
        ),
    ),
    "meshgrid": (
        Use(
            "torch.meshgrid: it will be required to pass the indexing argument; 'ij' is what is done without.",
            lambda given: given.get("indexing") is None,
        ),
    ),
    "stft": (
        Use(NO_WINDOW.format("stft"), lambda given: given.get("window") is None),
        Use(
            "stft with return_complex=False is deprecated: take torch.view_as_real of the complex result.",
            lambda given: given.get("return_complex") is False,
        ),
    ),
    "istft": (Use(NO_WINDOW.format("istft"), lambda given: given.get("window") is None),),
    "index_reduce": (Use("index_reduce() is in beta and the API may change at any time."),),
}
USES["cov"] = USES["corrcoef"] = (
    Use(
        "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.",
        lambda given: _observations(given["input"]) <= given.get("correction", 1) and not {"fweights", "aweights"} & set(given),
        True,
    ),
)
USES["index_reduce_"] = USES["index_reduce"]
_NOT_SAID = Use(
    "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please specify align_corners=True "
    "if the old behavior is desired.",
    lambda given: given.get("align_corners") is None,
    True,
)
USES_OF_NN = {
    "grid_sample": (_NOT_SAID,),
    "affine_grid": (
        _NOT_SAID,
        Use(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True: the one place is the middle.",
            lambda given: given.get("align_corners") and min(given.get("size", (2,))[2:], default=2) <= 1,
            True,
        ),
    ),
}


def _warning(fn: Callable, uses: tuple[Use, ...]) -> Callable:
    signature = inspect.signature(fn)

    always = all(use.meant is None for use in uses)

    @functools.wraps(fn)
    def warned(*args: Any, **kwargs: Any) -> Any:
        given = {} if always else _by_name(signature, args, kwargs)
        for text, meant, each in uses:
            if meant is None or meant(given):
                (caution if each else caution_once)(text)
        return fn(*args, **kwargs)

    return warned


def _by_name(signature: inspect.Signature, args: tuple, kwargs: dict) -> dict:
    try:
        return signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return {}  # the function says what is wrong


def install() -> None:
    """Put the functions that warn into the public places of those that don't."""
    for namespace, table in (("torch", USES), ("nn.functional", USES_OF_NN)):
        for name, uses in table.items():
            plain = registry.names(namespace).get(name) or registry.methods[name]
            registry.replace(plain, _warning(plain, uses))
