"""scikit-learn's handwritten digits: 1,797 real 8x8 images of ten classes."""

from __future__ import annotations

import dataclasses
from typing import Any

import funtorch as torch
from funtorch.errors import MissingError

NEEDS = "funtorch demo needs scikit-learn's digits: pip install 'funtorch-jax[demo]'"


@dataclasses.dataclass(frozen=True)
class Digits:
    """Images (N, 1, 8, 8) in [0, 1] and labels (N,), split four to one."""

    train_images: Any
    train_labels: Any
    test_images: Any
    test_labels: Any


def load(seed: int, device: str) -> Digits:
    """The digits in a random order that ``seed`` gives. Raises MissingError with what to install."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingError(NEEDS) from None
    found = load_digits()
    images = torch.tensor(found.images / 16, dtype=torch.float32, device=device).unsqueeze(1)  # (N, 1, 8, 8)
    labels = torch.tensor(found.target, dtype=torch.int64, device=device)
    order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(seed))
    images, labels = images[order], labels[order]
    held = len(labels) // 5
    return Digits(images[held:], labels[held:], images[:held], labels[:held])
