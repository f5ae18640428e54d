"""Branches and loops that become part of a program: Python functions over Tensors, lifted to one Op each."""

from .associative import associative_scan
from .branches import cond, switch
from .loops import fori_loop, while_loop
from .scans import map, scan

__all__ = ["associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"]
