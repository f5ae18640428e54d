"""A softmax over many classes whose rare ones cost less."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...errors import ArgumentValueError, OpError
from ...ops import registry
from .. import functional as F
from ..module import Module
from .container import ModuleList, Sequential
from .linear import Linear

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_torch = registry.names("torch")
BAD_CUTOFFS = (
    "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each value is between 1 and "
    "n_classes-1"
)


class _ASMoutput(NamedTuple):
    """The log-probabilities of the targets (N), and the loss, the mean of their negatives."""

    output: Any
    loss: Any


def _checked(cutoffs: Sequence[int], n_classes: int) -> list[int]:
    found = list(cutoffs)
    if not found:
        raise ArgumentValueError("cutoffs should be a sequence of length larger than 0")
    if found != sorted(set(found)) or found[0] <= 0 or found[-1] > n_classes - 1 or any(int(c) != c for c in found):
        raise ArgumentValueError(BAD_CUTOFFS)
    return found


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-softmax in two steps: over the frequent classes and the clusters of the others, then within a cluster.

    Args:
        in_features: K.
        n_classes: C; the classes are numbered from the most frequent to the rarest.
        cutoffs: where the clusters begin, between 1 and C - 1.
        div_value: cluster i works on K / div_value^(i + 1) features.
        head_bias: whether the first step has a bias.

    Attributes:
        head: a Linear from K to cutoffs[0] and the number of clusters; tail: two Linears for each cluster.

    Raises:
        ValueError: bad cutoffs. RuntimeError: inputs that don't fit, or targets out of range.

    Example:
        >>> import funtorch
        >>> layer = AdaptiveLogSoftmaxWithLoss(16, 10, [3, 6])
        >>> layer(funtorch.zeros(5, 16), funtorch.tensor([0, 2, 4, 7, 9])).output.shape
        torch.Size([5])

    Source: Grave et al., "Efficient softmax approximation for GPUs", 2017.
    """

    def __init__(
        self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*_checked(cutoffs, n_classes), n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **where)
        self.tail = ModuleList()
        for number, (low, high) in enumerate(itertools.pairwise(self.cutoffs), 1):
            width = int(in_features // div_value**number)
            pair = Linear(in_features, width, bias=False, **where), Linear(width, high - low, bias=False, **where)
            self.tail.append(Sequential(*pair))

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        self.head.reset_parameters()
        for pair in self.tail:
            for layer in pair.children():
                layer.reset_parameters()

    def _check(self, input: Any, target: Any) -> None:
        if target.dim() > 1:
            raise OpError("0D or 1D target tensor expected, multi-target not supported")
        if target.dim() == 1 and input.size(0) != target.size(0):
            raise OpError("Input and target should have the same size in the batch dimension.")
        if input.dim() != target.dim() + 1:
            raise OpError(
                f"{target.dim()}D target tensor expects {target.dim() + 1}D input tensors, but found inputs with size {input.size()}"
            )
        if target.numel():
            low, high = target.min().item(), target.max().item()
            if low < 0 or high >= self.n_classes:
                raise OpError(
                    f"Target values should be in [0, {self.n_classes - 1}], but values in range [{low}, {high}] were found. "
                )

    def forward(self, input_: Any, target_: Any) -> _ASMoutput:
        """input (N, K), target (N) of int64, or both without N: ``output`` (N) and ``loss`` ()."""
        self._check(input_, target_)
        single = target_.dim() == 0
        input, target = (input_.unsqueeze(0), target_.unsqueeze(0)) if single else (input_, target_)
        output = input.new_zeros(target.size(0))
        in_head = target.clone()  # the class, or the cluster, among what the first step tells apart
        for number, (low, high) in enumerate(itertools.pairwise(self.cutoffs)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            inner = F.log_softmax(self.tail[number](input.index_select(0, rows)), dim=1)
            own = inner.gather(1, (target.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
            output = output.index_copy(0, rows, own)
            in_head = in_head.index_fill(0, rows, self.shortlist_size + number)
        outer = F.log_softmax(self.head(input), dim=1)
        output = output + outer.gather(1, in_head.unsqueeze(1)).squeeze(1)
        return _ASMoutput(output.squeeze(0) if single else output, (-output).mean())

    def _get_full_log_prob(self, input: Any, head_output: Any) -> Any:
        outer = F.log_softmax(head_output, dim=1)
        parts = [outer[:, : self.shortlist_size]]
        for number, pair in enumerate(self.tail):
            at = self.shortlist_size + number
            parts.append(F.log_softmax(pair(input), dim=1) + outer[:, at : at + 1])
        return _torch["cat"](parts, 1)

    def log_prob(self, input: Any) -> Any:
        """The log-probabilities of all classes: input (N, K); z (N, C)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Any) -> Any:
        """The most likely class: input (N, K); z (N) of int64."""
        head_output = self.head(input)
        found = head_output.argmax(dim=1)
        elsewhere = found >= self.shortlist_size
        if not bool(elsewhere.any()):
            return found
        # A class outside of the first step may be less likely than one in it, even where its cluster is the likeliest.
        return _torch["where"](elsewhere, self._get_full_log_prob(input, head_output).argmax(dim=1), found)
