"""Generators of random numbers. The CPU's is the Mersenne twister with PyTorch's own draws: a seed gives PyTorch's numbers."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from ..devices import CPU, device, jax_device
from ..errors import ArgumentTypeError, MissingError, OpError
from .handle import Handle, make
from .mersenne import MersenneTwister
from .watcher import refuse

SEEDS = "it seeds a generator"
MOVES = "it reads or sets the state of a generator"


def _of_generators(where: Any) -> device:
    """A device on which numbers are drawn. Raises RuntimeError where there is none such."""
    chosen = _device(where)
    if chosen.type == "meta":
        raise OpError("Generator(): the device 'meta' has no values, and so draws none")
    jax_device(chosen)
    return CPU if chosen.type == "cpu" else chosen


class Generator:
    """A source of random numbers of its own, apart from the global one.

    >>> import funtorch as torch
    >>> g = torch.Generator().manual_seed(0)
    >>> torch.rand(1, generator=g)
    tensor([0.4963])
    """

    def __init__(self, device: Any = None) -> None:
        self.device = CPU if device is None or device == "cpu" else _of_generators(device)
        self.twister = MersenneTwister()

    def manual_seed(self, seed: int) -> Generator:
        """Start the sequence that belongs to ``seed``, and return the generator. Raises RuntimeError for what is no whole number."""
        if isinstance(seed, bool) or not hasattr(seed, "__index__"):
            raise OpError(f"manual_seed(): argument 'seed' must be int, not {type(seed).__name__}")
        refuse(SEEDS)
        self.twister.seed(int(seed))
        return self

    def seed(self) -> int:
        """Start a sequence from a seed that the system's entropy gives, and return the seed."""
        refuse(SEEDS)
        value = secrets.randbits(53)
        self.twister.seed(value)
        return value

    def initial_seed(self) -> int:
        """The seed that the present sequence started from."""
        return self.twister.initial_seed()

    def get_state(self) -> Any:
        """The state as a Tensor of bytes, laid out as PyTorch's."""
        refuse(MOVES)
        return make(np.asarray(self.twister.get_state()))

    def set_state(self, new_state: Any) -> Generator:
        """Go on from a state that `get_state` gave."""
        if not isinstance(new_state, Handle):
            raise ArgumentTypeError(f"set_state(): expected a torch.ByteTensor, but got {type(new_state).__name__}")
        refuse(MOVES)
        self.twister.set_state(np.asarray(new_state.numpy()))
        return self

    def mark(self) -> Any:
        """Where the sequence is, to `go_back` to."""
        return self.twister.mark()

    def go_back(self, mark: Any) -> None:
        """Go on from a place that `mark` gave."""
        self.twister.go_back(mark)

    def clone_state(self) -> Generator:
        """A generator with the same state, that goes on by itself."""
        new = Generator(self.device)
        new.twister = self.twister.copy()
        return new

    def graphsafe_get_state(self) -> Generator:
        """PyTorch has it for CUDA graphs. Raises NotImplementedError."""
        raise MissingError("graphsafe_get_state() is not supported in this Generator; get_state() is")

    def graphsafe_set_state(self, state: Generator) -> None:
        """PyTorch has it for CUDA graphs. Raises NotImplementedError."""
        raise MissingError("graphsafe_set_state() is not supported in this Generator; set_state() is")

    def get_offset(self) -> int:
        """PyTorch's GPU generators have an offset. Raises RuntimeError."""
        raise OpError("get_offset(): this Generator does not use an offset")

    def set_offset(self, offset: int) -> None:
        """PyTorch's GPU generators have an offset. Raises RuntimeError."""
        raise OpError("set_offset(): this Generator does not use an offset")

    def __reduce__(self) -> tuple:
        # As PyTorch pickles one: its device, then (seed, an offset that only GPUs have, state).
        return type(self), (self.device,), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, saved: tuple) -> None:
        self.set_state(saved[-1])


def _device(value: Any) -> device:
    return value if isinstance(value, device) else device(value)


default_generator = Generator()


def manual_seed(seed: int) -> Generator:
    """Seed the global generator, and return it. ``seed``: what ``int()`` takes."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the global generator from the system's entropy, and return the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the global generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """The state of the global generator as a Tensor of bytes."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Let the global generator go on from ``new_state``."""
    default_generator.set_state(new_state)


def thread_safe_generator() -> None:
    """None, which stands for the global generator: a DataLoader's workers are processes, and each has a generator of its own."""
    return None
