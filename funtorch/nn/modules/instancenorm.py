"""Normalisation of each channel of each sample, with running statistics."""

from __future__ import annotations

from typing import Any

from ...cautions import caution
from ...errors import ArgumentValueError
from .. import functional as F
from .batchnorm import _NormBase, _of_rank

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]

NOT_TRACKED = (
    "Unexpected running stats buffer(s) {0} for {1} with track_running_stats=False. If state_dict is a checkpoint saved before "
    "0.4.0, this may be expected because {1} does not track running stats by default since 0.4.0. Please remove these keys from "
    "state_dict. If the running stats are actually needed, instead set track_running_stats=True in {1} to enable them. See the "
    "documentation of {1} for details."
)
INSTANCE = """Mean 0 and variance 1 for each channel of each sample.

    Args:
        num_features: C.
        eps: keeps the root away from 0.
        momentum: the share of a batch in the running statistics.
        affine: whether there are w and b.
        track_running_stats: whether there are running statistics, which evaluation mode uses.
        bias: whether there is b.

    Raises:
        ValueError: an input of another rank, or with a single place in each channel.

    input {}; z the same.
    """


class _InstanceNorm(_NormBase):
    """What the instance norms share: `forward`, also for an input without the batch dimension."""

    rank_without_batch: int

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        if local_metadata.get("version") is None and not self.track_running_stats:
            # PyTorch before 0.4 kept running statistics of every layer.
            found = [key for name in ("running_mean", "running_var") if (key := prefix + name) in state_dict]
            if found:
                error_msgs.append(NOT_TRACKED.format(" and ".join(f'"{key}"' for key in found), type(self).__name__))
            for key in found:
                state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )  # fmt: skip

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same."""
        self._check_input_dim(input)
        single = input.dim() == self.rank_without_batch
        channels = input.shape[0 if single else 1]
        if channels != self.num_features:
            if self.affine:
                raise ArgumentValueError(
                    f"expected input's size at dim={0 if single else 1} to match num_features ({self.num_features}), but got: "
                    f"{channels}."
                )
            _warn_of_channels(0 if single else 1)
        z = F.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return z.squeeze(0) if single else z


def _warn_of_channels(dim: int) -> None:
    caution(
        f"input's size at dim={dim} does not match num_features. You can silence this warning by not passing in num_features, "
        "which is not used because affine=False"
    )


def _instance(name: str, rank: int, doc: str) -> type:
    made = _of_rank(name, _InstanceNorm, (rank - 1, rank), doc, __name__)
    made.rank_without_batch = rank - 1
    return made


InstanceNorm1d = _instance("InstanceNorm1d", 3, INSTANCE.format("(N, C, L) or (C, L)"))
InstanceNorm2d = _instance("InstanceNorm2d", 4, INSTANCE.format("(N, C, H, W) or (C, H, W)"))
InstanceNorm3d = _instance("InstanceNorm3d", 5, INSTANCE.format("(N, C, D, H, W) or (C, D, H, W)"))
