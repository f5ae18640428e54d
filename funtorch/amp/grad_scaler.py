"""GradScaler: losses are scaled up so that small gradients survive float16; steps with infinite gradients are left out."""

from __future__ import annotations

import enum
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from .. import accelerator, cuda
from ..cautions import caution
from ..dtypes import float16, float32, int32
from ..errors import ArgumentValueError, OpError
from ..ops import registry
from ..tensor import Tensor
from .settings import known

MIDWAY = "A GradScaler instance may only be pickled at the beginning of an iteration, or at the end after scaler.update()."


class OptState(enum.Enum):
    """Where an optimiser is between two updates."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    """What is known of an optimiser before its gradients are looked at."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    r"""Scales a loss by :math:`s`, and gradients back by :math:`1/s` before the optimiser's step.

    A step whose gradients have an infinity or NaN is left out, and :math:`s` is multiplied by ``backoff_factor``; after
    ``growth_interval`` good steps in a row, by ``growth_factor``.

    Args:
        device: the kind of device: "cuda", "cpu", "tpu", "xla".
        init_scale: the first :math:`s`. growth_factor: > 1. backoff_factor: < 1. growth_interval: > 0.
        enabled: False makes every method do what the code would do without it.

    Raises:
        AssertionError: a factor outside of its range.

    Warns and is disabled where there is no such device. Source: Micikevicius et al., "Mixed Precision Training", 2018.

    >>> import funtorch as torch
    >>> torch.amp.GradScaler("cpu").scale(torch.ones(()))
    tensor(65536.)
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = known(device, "GradScaler()")
        self._enabled = bool(enabled) and self._possible()
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = float(init_scale)
        self._scale: Tensor | None = None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None
        # By id, since the last update.
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(_refresh_per_optimizer_state)

    def _possible(self) -> bool:
        if self._device == "cuda" and not cuda.is_available():
            caution("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            return False
        if self._device in ("tpu", "xla") and not accelerator.is_available():
            caution(f"GradScaler is enabled, but there is no {self._device} device.  Disabling.")
            return False
        return True

    def _state(self) -> tuple[Tensor, Tensor]:
        """The scale and the count of good steps, made when they are first needed."""
        if self._scale is None or self._growth_tracker is None:
            self._scale = _full(self._init_scale)
            self._growth_tracker = _full(self._init_growth_tracker, whole=True)
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """A Tensor, or an iterable of such, times the scale. Raises ValueError for anything else."""
        if not self._enabled:
            return outputs
        scale, _ = self._state()
        if isinstance(outputs, Tensor):
            if outputs.dtype.itemsize == 2 and outputs.dim():  # in that type the scale itself may be infinite
                return (outputs.float() * scale).to(outputs.dtype)
            return outputs * scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            made = map(self.scale, outputs)
            return type(outputs)(made) if isinstance(outputs, (list, tuple)) else made  # type: ignore[call-arg]
        raise ArgumentValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser's parameters by the scale, in place: before clipping, for example.

        Raises RuntimeError if that was done already since the last `update`, or after `step`.
        """
        if not self._enabled:
            return
        stage = self._stage(optimizer)
        if stage is OptState.UNSCALED:
            raise OpError("unscale_() has already been called on this optimizer since the last update().")
        if stage is OptState.STEPPED:
            raise OpError("unscale_() is being called after step().")
        self._check_scaled("unscale_")
        self._look_into(optimizer, False)

    def _stage(self, optimizer: Any) -> OptState:
        return self._per_optimizer_states[id(optimizer)]["stage"]  # type: ignore[no-any-return]

    def _look_into(self, optimizer: Any, halves: bool) -> None:
        found = self._unscale(optimizer, halves)
        kept = {} if found is None else {found.device: found}
        self._per_optimizer_states[id(optimizer)] = {"stage": OptState.UNSCALED, "found_inf_per_device": kept}

    def _check_scaled(self, attempted: str) -> None:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {attempted} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def _unscale(self, optimizer: Any, halves: bool) -> Tensor | None:
        """Whether a gradient has an infinity or NaN, as a Tensor, None without gradients; these are divided.

        ``halves``: gradients of float16 may be among them.
        """
        assert self._scale is not None
        inverse = self._scale.double().reciprocal().float()
        found: Tensor | None = None
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is float16 and not halves:
                    raise ArgumentValueError("Attempting to unscale FP16 gradients.")
                grad = grad if grad.is_sparse else grad.detach()  # a sparse one shares no memory with what is detached from it
                bad = (~(grad._values() if grad.is_sparse else grad).isfinite()).any().float()
                found = bad if found is None else found.maximum(bad)
                grad.copy_(grad.float() * inverse) if grad.dtype is float16 else grad.mul_(inverse.to(grad.dtype))
        return found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step(*args, **kwargs)`` on unscaled gradients, unless one of them is infinite or NaN; its result, or None.

        Raises RuntimeError if it was called already since the last `update`, or with a closure, AssertionError if nothing was
        scaled or no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise OpError("Closure use is not currently supported if GradScaler is enabled.")
        stage = self._stage(optimizer)
        if stage is OptState.STEPPED:
            raise OpError("step() has already been called since the last update().")
        self._check_scaled("step")
        if stage is OptState.READY:  # PyTorch's fused optimisers divide by themselves, also in float16
            self._look_into(optimizer, bool(optimizer.defaults.get("fused")))
        known_of = self._per_optimizer_states[id(optimizer)]
        if not known_of["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None
        if not any(found.item() for found in known_of["found_inf_per_device"].values()):
            result = optimizer.step(*args, **kwargs)
        known_of["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Set the scale for what follows, by what the steps since the last update found, or to ``new_scale``.

        Raises AssertionError if nothing was scaled, if no optimiser was unscaled or stepped, or for a ``new_scale`` that is no single float.
        """
        if not self._enabled:
            return
        self._check_scaled("update")
        scale, tracker = self._state()
        if new_scale is not None:
            if isinstance(new_scale, Tensor):
                if new_scale.numel() != 1 or new_scale.requires_grad or not new_scale.is_floating_point():
                    raise AssertionError(
                        "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
                        "requires_grad=False."
                    )
                scale.copy_(new_scale.detach().reshape(()))
            else:
                scale.fill_(float(new_scale))
        else:
            looked = [x for each in self._per_optimizer_states.values() for x in each["found_inf_per_device"].values()]
            if not looked:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, tracker, looked)
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _adapt(self, scale: Tensor, tracker: Tensor, looked: list[Tensor]) -> None:
        """Back off, or count, or grow: without asking, so that it can be part of a program."""
        found = sum(looked, _full(0.0)) > 0
        good = tracker + 1
        grown = scale * self._growth_factor
        grows = (good == self._growth_interval) & grown.isfinite()
        where = registry.names("torch")["where"]
        scale.copy_(where(found, scale * self._backoff_factor, where(grows, grown, scale)))
        tracker.copy_(where(found | (good == self._growth_interval), 0, good))

    def get_scale(self) -> float:
        """The scale as a Python number; 1 where it is disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        """How many good steps there were since the scale changed."""
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set `get_growth_factor`."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """By what the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set `get_backoff_factor`."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set `get_growth_interval`."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales at all."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Scale, factors, interval and count, under PyTorch's keys; empty where it is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._get_growth_tracker(),
        }  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled. Raises AssertionError midway between two updates."""
        if self._enabled and self._per_optimizer_states:
            raise AssertionError(MIDWAY)
        return self.__dict__.copy()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put back what `state_dict` gave. Raises RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise OpError("The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler.")
        self._init_scale, self._init_growth_tracker = float(state_dict["scale"]), state_dict["_growth_tracker"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        if self._scale is not None and self._growth_tracker is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)


def _full(value: float, whole: bool = False) -> Tensor:
    """A 0-dim Tensor of float32, or of int32."""
    return registry.names("torch")["full"]((), value, dtype=int32 if whole else float32)
