"""Transform: a differentiable map with, where there is one, an inverse and the logarithm of its Jacobian's determinant."""

from __future__ import annotations

import weakref
from typing import Any

from ...errors import ArgumentValueError, MissingError
from ...size import Size
from ...tensor import Tensor

__all__ = ["Transform"]


class Transform:
    """Base of all transforms y = f(x).

    A subclass has ``domain`` and ``codomain``, and some of ``_call``, ``_inverse``, ``log_abs_det_jacobian``, ``sign``.

    Args:
        cache_size: 1 to keep the last x and y, so that the inverse of a y that was just made is its very x.

    Raises:
        ValueError: ``cache_size`` is neither 0 nor 1.

    >>> torch.distributions.ExpTransform().inv(torch.tensor(1.0))
    tensor(0.)
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _cached_x_y: tuple[Any, Any] = (None, None)  # which PyTorch's files do not have

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ArgumentValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._inv: Any = None  # a weak reference
        self._cached_x_y = (None, None)
        super().__init__()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_inv": None, "_cached_x_y": (None, None)}

    @property
    def event_dim(self) -> int:
        """The dimensions of an event; ValueError where those of the domain and the codomain differ."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ArgumentValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Transform:
        """The inverse transform; its own inverse is this one."""
        found = self._inv() if self._inv is not None else None
        if found is None:
            found = _InverseTransform(self)
            self._inv = weakref.ref(found)
        return found

    @property
    def sign(self) -> Any:
        """+1 where the transform increases, -1 where it decreases; NotImplementedError if that makes no sense."""
        raise MissingError(f"{type(self).__name__} has no sign")

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with another cache."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise MissingError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        """y for x."""
        known_x, known_y = self._cached_x_y
        if self._cache_size and x is known_x:
            return known_y
        return self._keep(x, self._call(x))[1]

    def _inv_call(self, y: Tensor) -> Tensor:
        known_x, known_y = self._cached_x_y
        if self._cache_size and y is known_y:
            return known_x
        return self._keep(self._inverse(y), y)[0]

    def _keep(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        if self._cache_size:
            self._cached_x_y = x, y
        return x, y

    def _call(self, x: Tensor) -> Tensor:
        raise MissingError(f"{type(self).__name__} has no forward map")

    def _inverse(self, y: Tensor) -> Tensor:
        raise MissingError(f"{type(self).__name__} has no inverse")

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """log |det dy/dx|, without the dimensions of an event. NotImplementedError if there is none."""
        raise MissingError(f"{type(self).__name__} has no log_abs_det_jacobian")

    def forward_shape(self, shape: Any) -> Size:
        """The shape of y for that of x."""
        return shape

    def inverse_shape(self, shape: Any) -> Size:
        """The shape of x for that of y."""
        return shape

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class _InverseTransform(Transform):
    """The inverse of a transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv: Any = transform  # held: whoever has the inverse has the transform

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The transform's codomain."""
        return self._inv.codomain

    @property
    def codomain(self) -> Any:  # type: ignore[override]
        """The transform's domain."""
        return self._inv.domain

    @property
    def bijective(self) -> Any:  # type: ignore[override]
        """As the transform."""
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        """As the transform."""
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        """The transform."""
        return self._inv

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self.inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = object.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Any) -> Size:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Any) -> Size:
        return self._inv.forward_shape(shape)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"
