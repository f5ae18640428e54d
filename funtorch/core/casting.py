"""Automatic casts: while `amp.autocast` is on, listed functions get their arguments in another floating-point type.

Which function is cast how is PyTorch's own choice, one table for each kind of device. The casts are ops like any other, on the
tape and under every transform.
"""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from .call import call
from .engine import host_possible
from .handle import Handle
from .op import Op
from .state import state

LOWER, FULL, WIDEST = "lower", "float32", "widest"  # to autocast's type; to float32; to the widest type among the arguments


def _policies(lower: str, full: str, widest: str) -> dict[str, str]:
    return {
        **dict.fromkeys(lower.split(), LOWER),
        **dict.fromkeys(full.split(), FULL),
        **dict.fromkeys(widest.split(), WIDEST),
    }


_PRODUCTS = """
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc bmm mm linalg.vecdot baddbmm addmm addbmm
    linear matmul scaled_dot_product_attention inner chain_matmul linalg.multi_dot affine_grid prelu cov
    corrcoef lstm.input rnn_tanh.input rnn_tanh.data rnn_relu.input rnn_relu.data rnn_tanh_cell rnn_relu_cell
"""
_LOSSES = """
    mse_loss cosine_embedding_loss nll_loss hinge_embedding_loss poisson_nll_loss smooth_l1_loss cross_entropy l1_loss
    margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss kl_div multilabel_margin_loss
    binary_cross_entropy_with_logits
"""
POLICIES = {
    "cpu": _policies(
        _PRODUCTS,
        _LOSSES
        + """
        avg_pool3d binary_cross_entropy grid_sample polar prod quantile nanquantile stft cdist trace view_as_complex cholesky
        cholesky_inverse cholesky_solve inverse lu_solve orgqr ormqr pinverse max_pool3d max_unpool2d max_unpool3d
        adaptive_avg_pool3d adaptive_max_pool3d huber_loss ctc_loss fractional_max_pool2d fractional_max_pool3d
        fft.fft fft.ifft fft.fft2 fft.ifft2 fft.fftn fft.ifftn fft.rfft fft.irfft fft.rfft2 fft.irfft2 fft.rfftn fft.irfftn
        fft.hfft fft.ihfft linalg.cond linalg.matrix_rank linalg.solve linalg.cholesky linalg.svdvals linalg.eigvals
        linalg.eigvalsh linalg.inv linalg.householder_product linalg.tensorinv linalg.tensorsolve geqrf qr svd
        triangular_solve lu linalg.qr linalg.cholesky_ex linalg.svd linalg.eig linalg.eigh linalg.lstsq linalg.inv_ex
        pad interpolate max_unpool1d
        """,
        "stack cat index_copy",
    ),
    "gpu": _policies(
        _PRODUCTS + " addmv addr mv lstm.data gru.input gru.data gru_cell lstm_cell",
        _LOSSES
        + """
        acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan pow softplus layer_norm group_norm
        norm nuclear_norm cosine_similarity cdist dist pdist renorm logsumexp softmax log_softmax softmin
        cumprod cumsum prod sum linalg.vector_norm linalg.matrix_norm
        """,
        "addcdiv addcmul atan2 bilinear cross dot vdot grid_sample index_put scatter_add cat stack",
    ),
}
NAMES = frozenset(POLICIES["cpu"]) | frozenset(POLICIES["gpu"])
_CASTABLE = frozenset(map(np.dtype, (jnp.float16, jnp.bfloat16, np.float32)))


def _multiplies(input: Any, other: Any) -> bool:
    return min(input._payload.ndim, other._payload.ndim) > 0 and max(input._payload.ndim, other._payload.ndim) > 1


# Whether a call with these arguments is cast, where that depends on them: PyTorch casts the functions of which it is made.
_WHERE: dict[str, Callable[..., bool]] = {
    "inner": _multiplies,
    "interpolate": lambda input, size, factor, mode, *rest: mode == "area" and input._payload.ndim == 5,
    "pad": lambda input, pad, mode, value: mode == "replicate" or (mode == "reflect" and len(pad) < 6),
}

# An entry for each autocast that is open on any thread: where it's empty, nobody has to look into ``state``.
active: list[None] = []


class Casting:
    """What is in force on a thread: the type for each kind of device, and the casts of parameters that were made already."""

    def __init__(self, types: dict[str, np.dtype | None], cached: bool) -> None:
        self.types = types
        self.cached = cached
        self.casts: dict[tuple[int, np.dtype, bool], tuple[weakref.ref, int, Any]] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Casting) and (self.types, self.cached) == (other.types, other.cached)

    def __hash__(self) -> int:
        return hash((*self.types.items(), self.cached))


@contextlib.contextmanager
def resumed(casting: Casting | None) -> Iterator[None]:
    """What was in force once is so again, on this thread."""
    before, state.autocast = state.autocast, casting
    active.append(None)
    try:
        yield
    finally:
        active.pop()
        state.autocast = before


def uncast(fn: Callable, *args: Any, **kwargs: Any) -> Any:
    """``fn`` called without casts on this thread."""
    before, state.autocast = state.autocast, None
    try:
        return fn(*args, **kwargs)
    finally:
        state.autocast = before


@functools.lru_cache(maxsize=None)
def _to(dtype: np.dtype) -> Op:
    return Op(lambda x: x.astype(dtype), "to_copy")


def _kind(args: Sequence[Any]) -> str:
    on_host = host_possible() or any(isinstance(a, Handle) and type(a._payload) is np.ndarray for a in args)
    return "cpu" if on_host else "gpu"


def _castable(x: Any) -> bool:
    return isinstance(x, Handle) and x._payload.dtype in _CASTABLE


def _cast(x: Any, dtype: np.dtype, casting: Casting) -> Any:
    if not _castable(x) or x._payload.dtype == dtype:
        return x
    # A parameter is cast once, as PyTorch does; one that was written since, or cast without grad, is cast anew.
    keep = casting.cached and x._requires and x._node is None and x._base is None and state.recorder is None
    key = (id(x), dtype, state.grad)
    if keep and key in casting.casts:
        ref, version, earlier = casting.casts[key]
        if version == x._writes and ref() is x:
            return earlier
    made = call(_to(dtype), (x,))
    if keep:
        casting.casts[key] = (weakref.ref(x), x._writes, made)
    return made


def policy_of(name: str, args: Sequence[Any]) -> tuple[str | None, np.dtype | None]:
    """How the arguments of the function ``name`` are cast on this thread, and autocast's type; None where they aren't."""
    casting = state.autocast
    if casting is None:
        return None, None
    kind = _kind(_flat(args))
    lower = casting.types.get(kind)
    return (None if lower is None else POLICIES.get(kind, {}).get(name)), lower


def _flat(args: Sequence[Any]) -> list[Any]:
    return [x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,))]


def function_key(name: str, namespace: str) -> str | None:
    """The name of a function in the tables, or None if none of them has it."""
    key = name if namespace in ("torch", "nn.functional") else f"{namespace}.{name}"
    return key if key in NAMES else None


def casting_first(fn: Callable, name: str, namespace: str) -> Callable:
    """``fn`` with its arguments cast, unless it writes into a given Tensor, and with no casts inside; itself if no table has it."""
    key = function_key(name, namespace)
    if key is None:
        return fn

    @functools.wraps(fn)
    def casting(*args: Any, **kwargs: Any) -> Any:
        if not active or state.autocast is None:
            return fn(*args, **kwargs)
        given = [*args, *kwargs.values()]
        if policy_of(key, given)[0] is None:
            return fn(*args, **kwargs)
        if kwargs.get("out") is None:
            given = cast_arguments(key, given)
        return uncast(fn, *given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True)))

    return casting


def cast_arguments(name: str, args: Sequence[Any], call: Sequence[Any] = ()) -> list[Any]:
    """The arguments of the function ``name`` as autocast wants them on this thread; sequences of Tensors are cast within.

    ``call`` has all arguments, of which ``args`` are the arrays.
    """
    casting, (policy, lower) = state.autocast, policy_of(name, args)
    if casting is None or policy is None or lower is None:
        return list(args)
    if name in _WHERE and not (all([isinstance(a, Handle) for a in args]) and _WHERE[name](*call)):
        return list(args)
    if policy == LOWER:
        dtype = lower
    elif policy == FULL:
        dtype = np.dtype(np.float32)
    else:
        found = {x._payload.dtype for x in _flat(args) if _castable(x)}
        dtype = found.pop() if len(found) == 1 else np.dtype(np.float32)

    def each(x: Any) -> Any:
        if isinstance(x, (list, tuple)):
            return type(x)(map(each, x)) if type(x) in (list, tuple) else x
        return _cast(x, dtype, casting)

    return uncast(lambda: [each(a) for a in args])  # type: ignore[no-any-return]
