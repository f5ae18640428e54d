"""Logs for TensorBoard, written by the package tensorboardX."""

from .writer import SummaryWriter as SummaryWriter

__all__ = ["SummaryWriter"]
