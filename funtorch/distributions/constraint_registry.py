"""From a constraint to a transform of unconstrained numbers that satisfies it.

``biject_to(constraint)`` is bijective, with a Jacobian: for densities. ``transform_to(constraint)`` may be any simple transform:
for parameters that are optimised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentTypeError, MissingError
from . import constraints, transforms
from .constraints import Constraint
from .transforms import Transform

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """Functions from constraints to transforms, by the class of the constraint.

    >>> torch.distributions.transform_to(torch.distributions.constraints.simplex)
    SoftmaxTransform()
    """

    def __init__(self) -> None:
        self._registry: dict[type, Callable] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Callable | None = None) -> Callable:
        """Register ``factory(constraint)`` for a class of constraints (or that of an instance); without one, a decorator.

        Raises:
            TypeError: ``constraint`` is neither.
        """
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = type(constraint) if isinstance(constraint, Constraint) else constraint
        if not isinstance(kind, type) or not issubclass(kind, Constraint):
            raise ArgumentTypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint: Constraint) -> Transform:
        """The transform whose codomain is ``constraint``. Raises NotImplementedError if none is registered."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise MissingError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _moved(first: Transform, loc: Any, scale: Any) -> Transform:
    return transforms.ComposeTransform([first, transforms.AffineTransform(loc, scale)])


def _from_below(c: Any) -> Transform:
    return _moved(transforms.ExpTransform(), c.lower_bound, 1)


def _from_above(c: Any) -> Transform:
    return _moved(transforms.ExpTransform(), c.upper_bound, -1)


def _between(c: Any) -> Transform:
    low, high = c.lower_bound, c.upper_bound
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    return _moved(transforms.SigmoidTransform(), low, high - low)


SIMPLE: dict[Any, Callable] = {
    constraints.real: lambda c: transforms.identity_transform,
    constraints.greater_than: _from_below,
    constraints.greater_than_eq: _from_below,
    constraints.less_than: _from_above,
    constraints.interval: _between,
    constraints.half_open_interval: _between,
    constraints.corr_cholesky: lambda c: transforms.CorrCholeskyTransform(),
}
ONLY_BIJECTIVE: dict[Any, Callable] = {constraints.simplex: lambda c: transforms.StickBreakingTransform()}
ONLY_SIMPLE: dict[Any, Callable] = {
    constraints.simplex: lambda c: transforms.SoftmaxTransform(),
    constraints.lower_cholesky: lambda c: transforms.LowerCholeskyTransform(),
    constraints.positive_definite: lambda c: transforms.PositiveDefiniteTransform(),
    constraints.positive_semidefinite: lambda c: transforms.PositiveDefiniteTransform(),
}


def _of_parts(registry: ConstraintRegistry) -> dict[Any, Callable]:
    """For constraints that are made of others."""
    return {
        constraints.independent: lambda c: transforms.IndependentTransform(
            registry(c.base_constraint), c.reinterpreted_batch_ndims
        ),
        constraints.cat: lambda c: transforms.CatTransform([registry(each) for each in c.cseq], c.dim, c.lengths),
        constraints.stack: lambda c: transforms.StackTransform([registry(each) for each in c.cseq], c.dim),
    }


for _registry, _own in ((biject_to, ONLY_BIJECTIVE), (transform_to, ONLY_SIMPLE)):
    for _constraint, _factory in {**SIMPLE, **_own, **_of_parts(_registry)}.items():
        _registry.register(_constraint, _factory)
