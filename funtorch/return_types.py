"""``funtorch.return_types``: the named tuples that ops with several results return."""

from .ops.return_types import *  # noqa: F403
