"""torch's own forms of some losses: ``reduction`` is a number, 0 (none, which is what they do by themselves), 1 (mean) or 2 (sum)."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentTypeError
from . import ctc, likelihood_loss, ranking_loss
from .declare import function

NAMES = {1: "mean", 2: "sum"}


def _name(loss: str, reduction: Any) -> str:
    """The word for a number. Raises TypeError for what is no int."""
    if isinstance(reduction, bool) or not isinstance(reduction, int):
        raise ArgumentTypeError(f"{loss}(): argument 'reduction' must be int, not {type(reduction).__name__}")
    return NAMES.get(reduction, "none")


@function()
def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """`nn.functional.margin_ranking_loss`, with a number for the reduction."""
    how = _name("margin_ranking_loss", reduction)
    return ranking_loss.margin_ranking_loss(input1, input2, target, margin, reduction=how)


@function()
def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 0) -> Any:
    """`nn.functional.hinge_embedding_loss`, with a number for the reduction."""
    return ranking_loss.hinge_embedding_loss(input, target, margin, reduction=_name("hinge_embedding_loss", reduction))


@function()
def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """`nn.functional.cosine_embedding_loss`, with a number for the reduction."""
    how = _name("cosine_embedding_loss", reduction)
    return ranking_loss.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


@function()
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    reduction: int = 0,
) -> Any:  # fmt: skip
    """`nn.functional.triplet_margin_loss`, with a number for the reduction."""
    how = _name("triplet_margin_loss", reduction)
    return ranking_loss.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=how)


@function()
def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Any:
    """`nn.functional.kl_div`, with a number for the reduction, whose mean is that over all elements."""
    how = _name("kl_div", reduction)
    likelihood_loss.refuse_integers(input, target)
    return likelihood_loss._kl_div(input, target, how, log_target)


@function()
def poisson_nll_loss(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """`nn.functional.poisson_nll_loss`, with a number for the reduction."""
    how = _name("poisson_nll_loss", reduction)
    return likelihood_loss.poisson_nll_loss(input, target, log_input, full, eps=eps, reduction=how)


@function()
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0
) -> Any:
    """`nn.functional.binary_cross_entropy_with_logits`, with a number for the reduction."""
    how = _name("binary_cross_entropy_with_logits", reduction)
    return likelihood_loss.binary_cross_entropy_with_logits(input, target, weight, reduction=how, pos_weight=pos_weight)


@function()
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """`nn.functional.ctc_loss`, with a number for the reduction."""
    how = _name("ctc_loss", reduction)
    return ctc.ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, how, zero_infinity)
