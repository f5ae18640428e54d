"""Helpers for training: gradient clipping, and parameters as one vector."""

from __future__ import annotations

