"""What a compiled function knows of one structure of arguments, its settings, and who called it."""

from __future__ import annotations

import random
import sys
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np

from ..core.watcher import PACKAGE
from .surroundings import Surroundings
from .variants import Variant


class Settings:
    """How compiled functions run on this process."""

    enabled = True
    variants = 8  # programs for arguments of one structure; more paths than these stay eager
    recordings = 6  # calls of which no two agree, before arguments of a structure stay eager
    worthwhile = 4  # compiled calls after which a value among the arguments was worth its program
    structures = 64  # of arguments that a function knows at once


settings = Settings()


class Entry:
    """What is known of a function for arguments of one structure: recordings, compiled variants, or why it stays eager."""

    __slots__ = ("key", "signatures", "variants", "recordings", "misses", "uses", "eager", "reason", "cause")

    def __init__(self, key: tuple, cause: str) -> None:
        self.key = key
        self.signatures: OrderedDict[Any, tuple[list[weakref.ref], Surroundings, list]] = OrderedDict()
        self.variants: list[Variant] = []  # the one that ran last comes first
        self.recordings = 0
        self.misses = 0  # recordings since a program ran
        self.uses = 0  # compiled calls
        self.eager: str | None = None
        self.reason: str | None = None  # why the last recording did not become a program
        self.cause = cause  # what made this structure another one than those before


def foreign_draws() -> tuple:
    """Where the random numbers of Python and NumPy are."""
    state = np.random.get_state(legacy=False)["state"]
    return random.getstate(), state["key"].tobytes(), state["pos"]


def user_level() -> int:
    """The stack level, for a warning, of the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    return level
