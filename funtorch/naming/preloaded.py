"""Imported by multiprocessing's server of forks before all else: ``torch`` is funtorch in it, and so in its children."""

from .running import stand_in

stand_in()
