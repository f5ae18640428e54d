"""What families share that are a transformed base, whose parameters they show."""

from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution

__all__ = ["SeenThrough"]


class SeenThrough(TransformedDistribution):
    """A transformed distribution without parameters of its own: it is expanded with its base."""

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        owner = next(c for c in type(self).__mro__ if "arg_constraints" in c.__dict__)
        return super().expand(batch_shape, _instance=self._get_checked_instance(owner, _instance))
