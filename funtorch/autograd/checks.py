"""gradcheck, gradgradcheck: derivatives compared with finite differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.handle import Handle
from ..core.variables import variable
from .comparison import Check, GradcheckError, Options, as_tuple, parts, whole
from .engine import grad


def gradcheck(
    func: Callable,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of ``func`` with central differences ``(f(x + eps) - f(x - eps)) / (2 eps)``.

    Args:
        func: a function of Tensors to a Tensor or several.
        inputs: its arguments; those that require grad are checked, and should be of double precision.
        raise_exception: raise on a mismatch, rather than return False.
        nondet_tol: how far two runs of the same backward may differ.
        check_undefined_grad: also with cotangents that are zero or absent.
        check_batched_grad, check_batched_forward_grad: also under ``vmap``.
        check_forward_ad: also forward mode.
        fast_mode: compare along random directions only.
        masked: accepted as in PyTorch.

    Returns:
        True if all agree within ``atol`` and ``rtol``.

    Raises:
        RuntimeError: they don't (GradcheckError).
        ValueError: no input requires grad.

    >>> import funtorch as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(torch.sin, x)
    True
    """
    options = Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_batched_forward_grad,
        check_forward_ad, check_backward_ad, fast_mode,
    )  # fmt: skip
    if not check_forward_ad and not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    try:
        Check(func, as_tuple(inputs), options).run()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable,
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradients of ``func``, as functions of its inputs and of cotangents ``grad_outputs`` (random if None).

    >>> import funtorch as torch
    >>> x = torch.ones(2, dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(torch.sin, x)
    True
    """
    inputs = as_tuple(inputs)
    roots = [o for o in as_tuple(func(*inputs)) if isinstance(o, Handle) and o.requires_grad]
    if grad_outputs is None:
        random = np.random.RandomState(1)
        cotangents = tuple(
            whole(random.randn(parts(np.zeros(tuple(o.shape), o._payload.dtype)).size), o).requires_grad_() for o in roots
        )
    else:
        cotangents = as_tuple(grad_outputs)
    count = len(cotangents)
    numbers = [i for i, x in enumerate(inputs) if isinstance(x, Handle) and x._requires]

    def gradients(*args: Any) -> tuple:
        given, pulled = args[:-count], args[-count:]
        given = tuple(variable(x, True) if i in numbers else x for i, x in enumerate(given))  # at the level of a jvp too
        outs = [o for o in as_tuple(func(*given)) if isinstance(o, Handle) and o.requires_grad]
        grads = grad(outs, [given[i] for i in numbers], pulled, create_graph=True, allow_unused=True)
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        gradients, (*inputs, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes, check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
    )  # fmt: skip
