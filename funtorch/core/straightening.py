"""On the tape, the square of a root of squares (see `core.squares`) and the root are one node: that of the sum below the root.

Only a walk whose gradients may be derived again puts that node in the place of the two; any other gives the same without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .tape import Node, Recipe, recipes

if TYPE_CHECKING:
    from .backward import Graph


def straightened(graph: Graph, targets: Sequence[tuple[Any, int]]) -> list[Node]:
    """Put one node for each square and its root in a graph. Gives the nodes that are no longer in it."""
    replaced = []
    for i, node in enumerate(graph.nodes):
        if (
            isinstance(node, Node)
            and node.recipe.op.squares
            and (root := _root_of(node)) is not None
            and (root, 0) not in targets
        ):
            graph.put(i, _sum_node(node, root))
            replaced.append(node)
    return replaced


def _root_of(square: Node) -> Node | None:
    """The node of the root that a node squares, if all that it saved is there, and nobody waits for its gradient."""
    first = square.edges[0]
    if first is None or len(square.edges) != square.recipe.op.squares or any(edge != first for edge in square.edges):
        return None
    root = first[0]
    if not isinstance(root, Node) or root.recipe.op.squared is None or root.recipe.outs != square.recipe.outs:
        return None
    gone = square.is_freed() or root.is_freed() or root.overwritten
    return None if gone or square.packed or square.hooks is not None or root.stepwise() else root


def _sum_node(square: Node, root: Node) -> Node:
    """The node of the sum below the root, in the square's place."""
    recipe = _recipe(root.recipe)
    saved = [value if read else None for value, read in zip(root.saved, recipe.reads, strict=True)]
    node = Node(recipe, saved, root.edges, root.level)
    node.seq, node.prehooks, node.retained = square.seq, square.prehooks, square.retained
    return node


def _recipe(root: Recipe) -> Recipe:
    below = root.op.squared
    assert below is not None
    key = (root.mask, root.avals)
    found = below.recipes.get(key)
    if found is None:
        found = Recipe(below, root.mask, root.avals, root.outs)
        recipes.add(below.recipes, key, found)
    found.recent = True
    return found
