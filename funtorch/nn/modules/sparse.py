"""Tables of vectors."""

from __future__ import annotations

from typing import Any, Self

from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]

SHAPE = "Shape of weight does not match num_embeddings and embedding_dim"
NO_TABLE = "Embeddings parameter is expected to be 2-dimensional"


class _Table(Module):
    """What `Embedding` and `EmbeddingBag` share: the table, whose row at ``padding_idx`` is 0."""

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None

    def _set_up(self, weight: Any, freeze: bool, where: dict[str, Any]) -> None:
        shape = (self.num_embeddings, self.embedding_dim)
        if self.padding_idx is not None:
            if not -shape[0] <= self.padding_idx < shape[0]:
                raise AssertionError(
                    "padding_idx must be within num_embeddings" if type(self) is EmbeddingBag else
                    "Padding_idx must be within num_embeddings"
                )  # fmt: skip
            self.padding_idx %= shape[0]
        if weight is None:
            self.weight = Parameter(registry.names("torch")["empty"](shape, **where), requires_grad=not freeze)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != shape:
                raise AssertionError(SHAPE)
            self.weight = Parameter(weight, requires_grad=not freeze)

    def reset_parameters(self) -> None:
        """Draw a new table."""
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self) -> None:
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])


class Embedding(_Table):
    """Rows of a table: z = w[x].

    Args:
        num_embeddings: V.
        embedding_dim: D.
        padding_idx: a row that is 0 and gets no gradient.
        max_norm: rows that are used are scaled down in place to this norm of order ``norm_type``.
        scale_grad_by_freq: divide the gradient of a row by how often it was used.
        sparse: the gradient of the table is a sparse Tensor of the rows that were used; for `optim.SparseAdam`, SGD or Adagrad.

    Attributes:
        weight: (V, D), drawn from the standard normal distribution.

    Raises:
        AssertionError: ``padding_idx`` out of range.
        IndexError: an index out of range.

    Example:
        >>> import funtorch
        >>> Embedding(10, 3)(funtorch.tensor([[1, 2]])).shape
        torch.Size([1, 2, 3])
    """

    __constants__ = [
        "num_embeddings", "embedding_dim", "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse",
    ]  # fmt: skip

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        self._set_up(_weight, _freeze, {"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        """input (*) of int64; z (*, D)."""
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        )

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        parts += [f"{name}=True" for name in ("scale_grad_by_freq", "sparse") if getattr(self, name)]
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
    ) -> Self:  # fmt: skip
        """A layer with a given table (V, D); ``freeze``: it isn't trained. Raises AssertionError for another rank."""
        if embeddings.dim() != 2:
            raise AssertionError(NO_TABLE)
        rows, columns = embeddings.shape
        return cls(rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze)


class EmbeddingBag(_Table):
    """Rows of a table, reduced in bags.

    Args:
        num_embeddings: V.
        embedding_dim: D.
        mode: "sum", "mean" or "max".
        include_last_offset: whether offsets have one more element, the end of the last bag.
        padding_idx: an index that doesn't count, and whose row is 0.
        max_norm, norm_type, scale_grad_by_freq, sparse: as in `Embedding`.

    Attributes:
        weight: (V, D), drawn from the standard normal distribution.

    Raises:
        AssertionError: ``padding_idx`` out of range.
        RuntimeError: an index out of range.
    """

    __constants__ = [
        "num_embeddings", "embedding_dim", "max_norm", "norm_type", "scale_grad_by_freq", "mode", "sparse",
        "include_last_offset", "padding_idx",
    ]  # fmt: skip

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Any = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset
        self.padding_idx = padding_idx
        self._set_up(_weight, False, {"device": device, "dtype": dtype})

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """input (B, L) or (K), offsets (B), per_sample_weights: input's shape; z (B, D)."""
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse,
            per_sample_weights, self.include_last_offset, self.padding_idx,
        )  # fmt: skip

    def extra_repr(self) -> str:
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        parts += ["scale_grad_by_freq=True"] if self.scale_grad_by_freq else []
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls, embeddings: Any, freeze: bool = True, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, include_last_offset: bool = False,
        padding_idx: int | None = None,
    ) -> Self:  # fmt: skip
        """A layer with a given table (V, D); ``freeze``: it isn't trained. Raises AssertionError for another rank."""
        if embeddings.dim() != 2:
            raise AssertionError(NO_TABLE)
        rows, columns = embeddings.shape
        made = cls(
            rows, columns, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings, include_last_offset, padding_idx
        )
        made.weight.requires_grad = not freeze
        return made
