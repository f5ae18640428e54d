"""Constraints made of others: over more dimensions, side by side, and for each part of a mixture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import funtorch as torch

from ...errors import ArgumentValueError
from ...tensor import Tensor
from .._asserted import AssertedError
from .constraint import Constraint


class _IndependentConstraint(Constraint):
    """``base_constraint`` in each of ``reinterpreted_batch_ndims`` more dimensions, all together.

    Raises:
        ValueError: (check) the value has too few dimensions.
    """

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        whole = isinstance(reinterpreted_batch_ndims, int) and reinterpreted_batch_ndims >= 0
        if not isinstance(base_constraint, Constraint) or not whole:
            raise AssertedError(
                "independent(): expected a Constraint and an int that is not negative, got "
                f"{base_constraint!r} and {reinterpreted_batch_ndims!r}"
            )
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        """That of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """That of the base and the further dimensions."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        valid = self.base_constraint.check(value)
        count = self.reinterpreted_batch_ndims
        if valid.dim() < count:
            raise ArgumentValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return valid.reshape(*valid.shape[: valid.dim() - count], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The support of a mixture: a value is valid if it is so for all of its components.

    >>> constraints = torch.distributions.constraints
    >>> constraints.MixtureSameFamilyConstraint(constraints.positive)
    MixtureSameFamilyConstraint(GreaterThan(lower_bound=0.0))
    """

    def __init__(self, base_constraint: Constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertedError(f"MixtureSameFamilyConstraint(): expected a Constraint, got {base_constraint!r}")
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        """That of the components."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        """That of the components."""
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise ArgumentValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        valid = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        return valid.reshape(*valid.shape[: value.dim() - self.event_dim], -1).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Several(Constraint):
    """What constraints on parts along a dimension share."""

    cseq: list[Constraint]
    dim: int

    def _take(self, cseq: Sequence[Constraint], name: str) -> None:
        self.cseq = list(cseq)
        if not all(isinstance(each, Constraint) for each in self.cseq):
            raise AssertedError(f"{name}(): expected a sequence of Constraints, got {cseq!r}")

    @property
    def is_discrete(self) -> Any:
        """Whether any part is."""
        return any(each.is_discrete for each in self.cseq)

    def _each(self, name: str, value: Tensor, apart: Callable[[Tensor], Sequence[Tensor]]) -> list[Tensor]:
        """Whether each part of ``value`` satisfies its constraint."""
        if not -value.dim() <= self.dim < value.dim():
            raise AssertedError(f"{name}: dim={self.dim} is not in a value of shape {list(value.shape)}")
        parts = apart(value)
        if len(parts) != len(self.cseq):
            raise AssertedError(
                f"{name}: a value of shape {list(value.shape)} must have {len(self.cseq)} entries along {self.dim}"
            )
        return [each.check(part) for each, part in zip(self.cseq, parts, strict=True)]


class _Cat(_Several):
    """Constraint ``cseq[i]`` on the next ``lengths[i]`` (default 1) entries along ``dim``."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        self._take(cseq, "cat")
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertedError(f"cat(): {len(self.cseq)} constraints need as many lengths, got {self.lengths}")
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self) -> Any:
        """The greatest of the parts'."""
        return max(each.event_dim for each in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        return torch.cat(self._each("cat", value, lambda v: v.split(self.lengths, self.dim)), self.dim)


class _Stack(_Several):
    """Constraint ``cseq[i]`` on entry i along ``dim``."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self._take(cseq, "stack")
        self.dim = dim
        super().__init__()

    @property
    def event_dim(self) -> Any:
        """The greatest of the parts', and one more where ``dim`` lies within the event."""
        most = max(each.event_dim for each in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Tensor) -> Tensor:
        return torch.stack(self._each("stack", value, lambda v: v.unbind(self.dim)), self.dim)
