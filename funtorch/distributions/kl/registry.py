"""The Kullback-Leibler divergence of two distributions, found by their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...cautions import caution
from ...errors import ArgumentTypeError, MissingError
from ...tensor import Tensor
from ..distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY: dict[tuple[type, type], Callable] = {}
_KL_MEMOIZE: dict[tuple[type, type], Callable] = {}


def register_kl(type_p: type, type_q: type) -> Callable:
    """A decorator: the function ``f(p, q)`` is the divergence of these classes and their subclasses.

    Raises:
        TypeError: these are no subclasses of Distribution.

    >>> class Unit(torch.distributions.Normal): ...
    >>> @torch.distributions.register_kl(Unit, Unit)
    ... def no_divergence(p, q): return torch.zeros(p.batch_shape)
    >>> torch.distributions.kl_divergence(Unit(0.0, 1.0), Unit(0.0, 1.0))
    tensor(0.)
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise ArgumentTypeError(f"register_kl(): expected subclasses of Distribution, got {kind}")

    def register(function: Callable) -> Callable:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch(type_p: type, type_q: type) -> Callable | None:
    """The function for the nearest classes above; p's comes first, and a warning if q's would have another."""
    ranks = [
        (type_p.__mro__.index(p), type_q.__mro__.index(q), function)
        for (p, q), function in _KL_REGISTRY.items()
        if issubclass(type_p, p) and issubclass(type_q, q)
    ]
    if not ranks:
        return None
    by_p = min(ranks, key=lambda r: (r[0], r[1]))
    by_q = min(ranks, key=lambda r: (r[1], r[0]))
    if by_p[2] is not by_q[2]:
        names = (type_p.__mro__[by_p[0]].__name__, type_q.__mro__[by_q[1]].__name__)
        caution(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({names[0]}, {names[1]})",
            RuntimeWarning,
        )
    return by_p[2]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    r"""The Kullback-Leibler divergence :math:`KL(p\,\|\,q) = \int p(x) \log (p(x) / q(x))\, dx`.

    Args:
        p, q: distributions whose batch shapes broadcast.

    Returns:
        The divergence in nats, of the batch shape.

    Raises:
        NotImplementedError: none is registered for these classes.

    >>> d = torch.distributions
    >>> d.kl_divergence(d.Normal(0.0, 1.0), d.Normal(1.0, 1.0))
    tensor(0.5000)
    """
    kinds: Any = (type(p), type(q))
    function = _KL_MEMOIZE.get(kinds)
    if function is None:
        function = _dispatch(*kinds)
        if function is None:
            raise MissingError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
        _KL_MEMOIZE[kinds] = function
    return function(p, q)
