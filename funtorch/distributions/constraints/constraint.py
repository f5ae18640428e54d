"""A constraint says which values are valid; some depend on the parameters of the distribution that they belong to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError, MissingError
from ...tensor import Tensor

__all__ = ["Constraint", "dependent_property", "is_dependent"]

UNKNOWN: Any = NotImplemented  # said of a property that depends on the instance


class Constraint:
    """A region over which a variable is valid.

    Attributes:
        is_discrete: whether the values are discrete.
        event_dim: how many rightmost dimensions are judged together.

    >>> torch.distributions.constraints.positive.check(torch.tensor([-1.0, 2.0]))
    tensor([False,  True])
    """

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Tensor) -> Tensor:
        """Whether each event of ``value`` (B, E) is valid: bool (B).

        Raises:
            NotImplementedError: a subclass has no rule.
        """
        raise MissingError(f"{type(self).__name__}.check() is not implemented")

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Dependent(Constraint):
    """A constraint on a variable that depends on other variables, so that nothing can be checked."""

    def __init__(self, *, is_discrete: Any = UNKNOWN, event_dim: Any = UNKNOWN) -> None:
        self._is_discrete, self._event_dim = is_discrete, event_dim
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        """As said when it was made; NotImplementedError if nothing was."""
        return self._known("is_discrete")

    @property
    def event_dim(self) -> Any:
        """As said when it was made; NotImplementedError if nothing was."""
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        found = getattr(self, f"_{name}")
        if found is UNKNOWN:
            raise MissingError(f".{name} cannot be determined statically")
        return found

    def __call__(self, *, is_discrete: Any = UNKNOWN, event_dim: Any = UNKNOWN) -> _Dependent:
        """This constraint with more said about it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is UNKNOWN else is_discrete,
            event_dim=self._event_dim if event_dim is UNKNOWN else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ArgumentValueError("Cannot determine validity of dependent constraint")


class dependent_property(property, _Dependent):  # noqa: N801
    """A property whose value is a constraint; asked of the class, it is itself a dependent constraint.

    >>> Uniform = torch.distributions.Uniform
    >>> torch.distributions.constraints.is_dependent(Uniform.support), Uniform(0.0, 2.0).support
    (True, Interval(lower_bound=0.0, upper_bound=2.0))
    """

    def __init__(self, fn: Callable | None = None, *, is_discrete: Any = UNKNOWN, event_dim: Any = UNKNOWN) -> None:
        property.__init__(self, fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn: Callable) -> dependent_property:  # type: ignore[override]
        """Decorate ``fn``, with what was said of it."""
        return dependent_property(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether ``constraint`` depends on other variables.

    >>> torch.distributions.constraints.is_dependent(torch.distributions.constraints.real)
    False
    """
    return isinstance(constraint, _Dependent)
