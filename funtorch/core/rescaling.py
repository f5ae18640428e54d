"""Tables whose rows a lookup has rescaled on its way, unasked: what had read them before is not derived any more.

Saved values can't be overwritten, so any other in-place write leaves gradients as they were. This one is hidden in a
lookup: whoever used the table before it would get the gradient of a table that the loss has not seen as a whole.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from ..errors import OpError
from .handle import Handle
from .tape import Leaf, Node, next_sequence

MESSAGE = (
    "one of the variables needed for gradient computation has been modified by an inplace operation: a lookup with max_norm "
    "has rescaled rows of the weight of shape {}, which {} had read before. Look up first, or give {} weight.clone()."
)
# When each was last rescaled. Empty in most programs.
rescaled: weakref.WeakKeyDictionary[Leaf, int] = weakref.WeakKeyDictionary()
any_rescaled: list[None] = []  # holds an entry once there was one


def note_rescaled(table: Handle) -> None:
    """The rows of a table were rescaled; a leaf that no node of the tape holds needs no note."""
    leaf = table._leaf() if table._leaf is not None else None
    if leaf is not None:
        rescaled[leaf] = next_sequence()
        any_rescaled[:] = [None]


def check_rescaled(nodes: Sequence[Any]) -> None:
    """Raise PyTorch's error if one of these nodes needs what a table held before it was rescaled."""
    for node in nodes:
        if not isinstance(node, Node):
            continue
        edges = iter(node.edges)
        for marked, read in zip(node.recipe.mask, node.recipe.reads, strict=True):
            edge = next(edges) if marked else None
            if edge is None or not read:
                continue
            leaf = _viewed(edge[0])
            if node.seq < rescaled.get(leaf, -1):
                name = node.recipe.op.name
                raise OpError(MESSAGE.format(list(leaf.tensor._payload.shape), name, name))


def _viewed(node: Any) -> Any:
    """The leaf or node of which a node of the tape is a view."""
    while isinstance(node, Node) and node.recipe.op.view:
        node = node.edges[0][0]
    return node
