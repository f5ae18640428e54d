"""GradScaler: losses are scaled up so that small gradients survive float16; steps with infinite gradients are left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from .. import accelerator, cuda
from ..dtypes import float16, float32, int32
from ..errors import ArgumentValueError, OpError
from ..ops import registry
from ..tensor import Tensor
from .settings import known

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


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
        self._stages: dict[int, str] = {}  # by optimiser, since the last update
        self._found: dict[int, Tensor] = {}

    def _possible(self) -> bool:
        if self._device == "cuda" and not cuda.is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=3)
            return False
        if self._device in ("tpu", "xla") and not accelerator.is_available():
            warnings.warn(f"GradScaler is enabled, but there is no {self._device} device.  Disabling.", stacklevel=3)
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
            return outputs * scale.to(outputs.dtype) if outputs.dtype != scale.dtype else outputs * scale
        if isinstance(outputs, Iterable) and not isinstance(outputs, (str, bytes)):
            made = [self.scale(each) for each in outputs]
            return type(outputs)(made) if isinstance(outputs, (list, tuple)) else iter(made)  # type: ignore[call-arg]
        raise ArgumentValueError("outputs must be a Tensor or an iterable of Tensors")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser's parameters by the scale, in place: before clipping, for example.

        Raises RuntimeError if that was done already since the last `update`, or after `step`.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage == UNSCALED:
            raise OpError("unscale_() has already been called on this optimizer since the last update().")
        if stage == STEPPED:
            raise OpError("unscale_() is being called after step().")
        self._check_scaled("unscale_")
        self._found[id(optimizer)] = self._unscale(optimizer)
        self._stages[id(optimizer)] = UNSCALED

    def _check_scaled(self, attempted: str) -> None:
        if self._scale is None:
            raise AssertionError(
                f"Attempted {attempted} but _scale is None.  This may indicate your script did not use "
                "scaler.scale(loss or outputs) earlier in the iteration."
            )

    def _unscale(self, optimizer: Any) -> Tensor:
        """Whether a gradient has an infinity or NaN, as a Tensor; the gradients are divided."""
        assert self._scale is not None
        inverse = self._scale.double().reciprocal().float()
        found = _full(0.0)
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is float16:
                    raise ArgumentValueError("Attempting to unscale FP16 gradients.")
                grad = grad.detach()
                found = found.maximum((~grad.isfinite()).any().to(found.dtype))
                grad.mul_(inverse.to(grad.dtype))
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
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise OpError("step() has already been called since the last update().")
        self._check_scaled("step")
        if stage == READY:
            self.unscale_(optimizer)
        if all(p.grad is None for group in optimizer.param_groups for p in group["params"]):
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None
        if not self._found[id(optimizer)].item():
            result = optimizer.step(*args, **kwargs)
        self._stages[id(optimizer)] = STEPPED
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
            if not self._found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(scale, tracker)
        self._stages, self._found = {}, {}

    def _adapt(self, scale: Tensor, tracker: Tensor) -> None:
        """Back off, or count, or grow: without asking, so that it can be part of a program."""
        found = sum(self._found.values(), _full(0.0)) > 0
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
