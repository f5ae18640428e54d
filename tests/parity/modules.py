"""The module database as a suite: each nn.Module built from the same arguments and weights on both Sides.

The weights come from PyTorch's module, so that initialisation (which has columns of its own elsewhere) plays no part.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from parity import lookup
from parity.candidate import MissingError, Side, SkipError
from parity.convert import Crossing, portable
from parity.derivatives import noise
from parity.samples import result_tensors, seed_all, spread
from parity.verdict import FAIL, MISSING, NOTHING, ORACLE, PASS, Cell, first_difference

SAMPLES = 4


@functools.cache
def database() -> dict[str, Any]:
    """PyTorch's module database by name."""
    from torch.testing._internal.common_modules import module_db

    return {info.name: info for info in module_db}


@contextmanager
def _remembering_arguments(cls: type) -> Iterator[None]:
    """Modules of ``cls`` made inside keep their constructor's arguments, so that they can be made again."""
    original = cls.__init__

    @functools.wraps(original)
    def remembering(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.made_with = args, kwargs

    cls.__init__ = remembering
    try:
        yield
    finally:
        cls.__init__ = original


def draw(info: Any, training: bool, count: int) -> list[Any]:
    """A spread of the entry's module inputs, in float64."""
    seed_all()
    options = dict(device="cpu", dtype=torch.float64, requires_grad=True, training=training)
    with _remembering_arguments(torch.nn.TransformerEncoderLayer):
        inputs = info.module_inputs_func(info, **options)
    return spread([item for item in inputs if item.forward_input is not None], count)


class ModuleCrossing(Crossing):
    """Also carries modules and option objects that are constructor arguments."""

    def __call__(self, value: Any) -> Any:
        if isinstance(value, torch.nn.Module):
            return self.module(value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: self(getattr(value, f.name)) for f in dataclasses.fields(value) if f.init}
            return self.side.find(f"nn.{type(value).__name__}")(**fields)
        return super().__call__(value)

    def module(self, value: torch.nn.Module) -> Any:
        args, kwargs = value.made_with
        made = self.side.find(f"nn.{type(value).__name__}")(*self(args), **self(kwargs))
        made.load_state_dict(self.mapping(value.state_dict()))
        return made


@dataclass
class Trial:
    """One module input on one Side: the module with PyTorch's weights, and the arguments of its forward."""

    side: Side
    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self) -> Any:
        self.side.seed(lookup.SEED)
        return self.module(*self.args, **self.kwargs)


def _construct(side: Side, info: Any, item: Any, training: bool) -> Any:
    cross = ModuleCrossing(side)
    side.seed(lookup.SEED)
    given = item.constructor_input
    made = side.find(info.name)(*cross(tuple(given.args)), **cross(given.kwargs))
    made = made.to(side.find("float64"))
    return made.train() if training else made.eval()


def trial(side: Side, info: Any, item: Any, training: bool) -> Trial:
    """Builds the module, gives it the weights of PyTorch's module, and takes the inputs across."""
    cross = ModuleCrossing(side)
    made = _construct(side, info, item, training)
    if not info.is_lazy:
        made.load_state_dict(cross.mapping(_construct(ORACLE, info, item, training).state_dict()))
    given = item.forward_input
    return Trial(side, made, cross(tuple(given.args)), cross(given.kwargs))


def forward(side: Side, info: Any, item: Any, training: bool) -> Any:
    """The result of forward."""
    attempt = trial(side, info, item, training)
    with side.module.no_grad():
        return attempt()


def state(side: Side, info: Any, item: Any, training: bool) -> Any:
    """Names and values of the state_dict after a forward: running statistics have moved."""
    attempt = trial(side, info, item, training)
    with side.module.no_grad():
        attempt()
    return dict(attempt.module.state_dict())


def init(side: Side, info: Any, item: Any, training: bool) -> Any:
    """The state_dict of a new module after manual_seed: the initial weights."""
    if info.is_lazy:
        raise SkipError("has no weights yet")
    return dict(_construct(side, info, item, training).state_dict())


def grad(side: Side, info: Any, item: Any, training: bool) -> Any:
    """Gradients of the inputs and the parameters, by backward()."""
    attempt = trial(side, info, item, training)
    outs = [out for out in result_tensors(side, attempt()) if out.requires_grad]
    if not outs:
        raise SkipError("no result requires grad")
    side.module.autograd.backward(outs, [noise(side, out, i) for i, out in enumerate(outs)])
    leaves = result_tensors(side, [attempt.args, attempt.kwargs])
    named = dict(attempt.module.named_parameters())
    grads = [leaf.grad for leaf in leaves if leaf.requires_grad]
    return grads, {name: parameter.grad for name, parameter in named.items()}


def text(side: Side, info: Any, item: Any, training: bool) -> Any:
    """The module's repr."""
    return repr(_construct(side, info, item, training))


PROGRAMS: dict[str, tuple[Callable, bool]] = {
    "module.train": (forward, True),
    "module.eval": (forward, False),
    "module.state": (state, True),
    "module.init": (init, True),
    "module.grad": (grad, True),
    "module.grad_eval": (grad, False),
    "module.repr": (text, True),
}


def check(name: str, column: str, candidate: Side) -> Cell:
    """Runs one module in one column."""
    info = database()[name]
    program, training = PROGRAMS[column]
    tried = 0
    for i, item in enumerate(draw(info, training, SAMPLES)):
        try:
            expected = portable(ORACLE, program(ORACLE, info, item, training))
        except (SkipError, RuntimeError, NotImplementedError):
            continue
        tried += 1
        reason = first_difference(lambda item=item: program(candidate, info, item, training), expected, candidate)
        if isinstance(reason, MissingError):
            return Cell(MISSING, str(reason))
        if reason is not None:
            return Cell(FAIL, f"input {i} ({item.desc}): {reason}")
    return Cell(PASS if tried else NOTHING)
