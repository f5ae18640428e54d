"""Distribution: shapes, checks of parameters and values, and what every family can be asked for."""

from __future__ import annotations

from typing import Any, ClassVar

import funtorch as torch

from ..cautions import caution
from ..errors import ArgumentValueError, MissingError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._validity import require
from .utils import lazy_property

__all__ = ["Distribution"]

INVALID_PARAMETER = (
    "Expected parameter {name} ({kind} of shape {shape}) of distribution {distribution} to satisfy the constraint {constraint}, "
    "but found invalid values:\n{value}"
)
INVALID_VALUE = (
    "Expected value argument ({kind} of shape {shape}) to be within the support ({constraint}) of the distribution {distribution}, "
    "but found invalid values:\n{value}"
)
NO_CONSTRAINTS = (
    "{cls} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution with "
    "`validate_args=False` to turn off validation."
)
NO_SUPPORT = (
    "{cls} does not define `support` to enable sample validation. Please initialize the distribution with `validate_args=False` "
    "to turn off validation."
)
CUSTOM_INIT = "Subclass {mine} of {cls} that defines a custom __init__ method must also define a custom .expand() method."


class Distribution:
    """Base of all distributions over values of shape ``batch_shape + event_shape``.

    Args:
        batch_shape: the shape of independent, differently parameterised distributions.
        event_shape: the shape of one value.
        validate_args: whether parameters and values are checked; the default of the class if None.

    Raises:
        ValueError: a parameter is outside its constraint.

    >>> d = torch.distributions.Normal(torch.zeros(3), torch.ones(3))
    >>> d.batch_shape, d.event_shape, d.sample((2,)).shape
    (torch.Size([3]), torch.Size([]), torch.Size([2, 3]))
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    arg_constraints: Any
    # Attributes that are expanded with the batch, and how many of their last dimensions belong to an event.
    _expanded: ClassVar[dict[str, int]] = {}
    # Attributes that are distributions of the same batch.
    _parts: ClassVar[tuple[str, ...]] = ()
    # Attributes that stay as they are.
    _kept: ClassVar[tuple[str, ...]] = ()
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Say whether distributions check their parameters and values unless told otherwise.

        Raises:
            ValueError: ``value`` is neither True nor False.
        """
        if value not in (True, False):
            raise ArgumentValueError(f"set_default_validate_args(): expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = (), event_shape: Any = (), validate_args: bool | None = None) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        found: Any = getattr(self, "arg_constraints", None)
        if found is None:
            caution(NO_CONSTRAINTS.format(cls=type(self)))
            return
        for name, constraint in found.items():
            computed = name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property)
            if constraints.is_dependent(constraint) or computed:
                continue
            self._refuse_unless(constraint, getattr(self, name), INVALID_PARAMETER, name)

    def _refuse_unless(self, constraint: Any, value: Any, message: str, name: str = "") -> None:
        def say() -> str:
            return message.format(
                name=name,
                kind=type(value).__name__,
                shape=tuple(value.shape),
                distribution=repr(self),
                constraint=repr(constraint),
                value=value,
            )

        what = f"parameter {name}" if name else "value argument"
        short = f"Expected {what} of {type(self).__name__} to satisfy the constraint {type(constraint).__name__.lstrip('_')}"
        require(constraint.check(value), ArgumentValueError, short, say)

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single value."""
        return self._event_shape

    @property
    def support(self) -> Any:
        """The `constraints.Constraint` that values satisfy."""
        raise MissingError(f"{type(self)} does not define support")

    @property
    def mean(self) -> Tensor:
        """The mean: batch_shape + event_shape."""
        raise MissingError(f"{type(self)} does not implement mean")

    @property
    def mode(self) -> Tensor:
        """The value of the greatest probability: batch_shape + event_shape."""
        raise MissingError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance: batch_shape + event_shape."""
        raise MissingError(f"{type(self)} does not implement variance")

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Values (sample_shape + batch_shape + event_shape), which pass no gradient on."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        """Like `sample`, as a differentiable function of the parameters. Raises NotImplementedError if there is none."""
        raise MissingError(f"{type(self)} does not implement rsample: its samples have no gradient")

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``; deprecated."""
        caution("sample_n(n) will go: write sample((n,)) instead", FutureWarning)
        return self.sample((n,))

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density, or of the probability, at ``value`` (S + B + E): (S + B).

        Raises:
            ValueError: the shape does not fit, or the value is outside the support.
        """
        raise MissingError(f"{type(self)} does not implement log_prob")

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of a value up to ``value``."""
        raise MissingError(f"{type(self)} does not implement cdf")

    def icdf(self, value: Tensor) -> Tensor:
        """The value whose `cdf` is ``value``."""
        raise MissingError(f"{type(self)} does not implement icdf")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution along a new first dimension; without ``expand``, of batch shape (1, ...)."""
        raise MissingError(f"{type(self)} does not implement enumerate_support")

    def entropy(self) -> Tensor:
        """The entropy in nats: batch_shape."""
        raise MissingError(f"{type(self)} does not implement entropy")

    def perplexity(self) -> Tensor:
        """The exponential of the entropy: batch_shape."""
        return torch.exp(self.entropy())

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with parameters expanded to ``batch_shape``.

        Raises:
            NotImplementedError: a subclass has its own ``__init__`` and no own ``expand``.
        """
        owner = next((c for c in type(self).__mro__ if {"_expanded", "_parts"} & set(c.__dict__)), Distribution)
        if owner is Distribution:
            raise MissingError(f"{type(self)} does not implement expand")
        batch_shape = Size(batch_shape)
        new = self._get_checked_instance(owner, _instance)
        for name, event_dims in self._expanded.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                setattr(new, name, value.expand(batch_shape + value.shape[value.dim() - event_dims :]))
        for name in self._parts:
            setattr(new, name, getattr(self, name).expand(batch_shape))
        for name in self._kept:
            setattr(new, name, getattr(self, name))
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is not None:
            return _instance
        if type(self).__init__ is not cls.__init__:
            raise MissingError(CUSTOM_INIT.format(mine=type(self).__name__, cls=cls.__name__))
        return self.__new__(type(self))

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """The shape of a sample."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ArgumentValueError("The value argument to log_prob must be a Tensor")
        shape, expected = value.shape, self._batch_shape + self._event_shape
        if shape[len(shape) - len(self._event_shape) :] != self._event_shape:
            raise ArgumentValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        for i, j in zip(reversed(shape), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ArgumentValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")
        try:
            support: Any = self.support
        except NotImplementedError:
            caution(NO_SUPPORT.format(cls=type(self)))
            return
        self._refuse_unless(support, value, INVALID_VALUE)

    def _checked(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        known = [(name, self.__dict__[name]) for name in getattr(self, "arg_constraints", {}) if name in self.__dict__]
        shown = (f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in known)
        return f"{type(self).__name__}({', '.join(shown)})"
