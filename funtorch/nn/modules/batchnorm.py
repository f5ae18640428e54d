"""Normalisation of each channel over a batch or over a sample, with running statistics."""

from __future__ import annotations

from typing import Any

from ...dtypes import int64
from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]

_torch = registry.names("torch")


class _NormBase(Module):
    """What `BatchNorm1d` and its kin share: a weight and a bias, running statistics, their loading and resetting."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        where = {"device": device, "dtype": dtype}
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            self.register_parameter(name, Parameter(_torch["empty"](num_features, **where)) if wanted else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", _torch["zeros"](num_features, **where) if tracked else None)
        self.register_buffer("running_var", _torch["ones"](num_features, **where) if tracked else None)
        count = _torch["tensor"](0, dtype=int64, device=device) if tracked else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the variance to 1 and the count to 0."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset the running statistics, the weight to 1 and the bias to 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        """Raise ValueError for an input of another rank."""

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, unexpected_keys: Any,
        error_msgs: Any,
    ) -> None:  # fmt: skip
        version = local_metadata.get("version", None)
        key = prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            # State dicts of PyTorch before 0.4.1 don't have the count.
            held = self.num_batches_tracked
            state_dict[key] = _torch["tensor"](0, dtype=int64) if held is None else held
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    """What the batch norms share: `forward`."""

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same. Raises ValueError for another rank, or a single value for each channel in training."""
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:  # the plain average of all batches
                momentum = 1.0 / self.num_batches_tracked
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        tracked = not self.training or self.track_running_stats
        return F.batch_norm(
            input,
            self.running_mean if tracked else None,
            self.running_var if tracked else None,
            self.weight,
            self.bias,
            by_batch,
            momentum,
            self.eps,
        )


def _of_rank(name: str, base: type, ranks: tuple[int, ...], doc: str, module: str) -> Any:
    """A norm whose input must have one of these ranks."""
    words = " or ".join(f"{rank}D" for rank in ranks)

    def _check_input_dim(self: Any, input: Any) -> None:
        if input.dim() not in ranks:
            raise ArgumentValueError(f"expected {words} input (got {input.dim()}D input)")

    return type(name, (base,), {"_check_input_dim": _check_input_dim, "__doc__": doc, "__module__": module})


BATCH = """Mean 0 and variance 1 for each channel over the batch: z = (x - mean) / sqrt(var + eps) w + b.

    Args:
        num_features: C.
        eps: keeps the root away from 0.
        momentum: the share of a batch in the running statistics; None: the plain average of all batches.
        affine: whether there are w and b.
        track_running_stats: whether there are running statistics, which evaluation mode uses.
        bias: whether there is b.

    Attributes:
        weight: (C), ones; bias: (C), zeros.
        running_mean: (C); running_var: (C), of unbiased variances; num_batches_tracked: ().

    Raises:
        ValueError: an input of another rank, or with a single value for each channel in training mode.

    input {}; z the same.
    """

BatchNorm1d = _of_rank("BatchNorm1d", _BatchNorm, (2, 3), BATCH.format("(N, C) or (N, C, L)"), __name__)
BatchNorm2d = _of_rank("BatchNorm2d", _BatchNorm, (4,), BATCH.format("(N, C, H, W)"), __name__)
BatchNorm3d = _of_rank("BatchNorm3d", _BatchNorm, (5,), BATCH.format("(N, C, D, H, W)"), __name__)


class SyncBatchNorm(_BatchNorm):
    """Batch norm over an input of any rank. It acts as `BatchNorm1d` does, on one process.

    Args:
        process_group: kept, without effect.
        num_features, eps, momentum, affine, track_running_stats, bias: as in `BatchNorm1d`.

    Raises:
        ValueError: an input of fewer than two dimensions.
    """

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ArgumentValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """A module with each batch norm in it replaced by a `SyncBatchNorm` with the same parameters and statistics."""
        made: Module = module
        if isinstance(module, _BatchNorm):
            made = cls(
                module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group,
                bias=module.bias is not None,
            )  # fmt: skip
            made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked = module.num_batches_tracked
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
