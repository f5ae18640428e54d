"""Imported by multiprocessing's server of forks before all else: ``torch`` is funtorch in it, and so in its children.

In any other process importing this changes nothing.
"""

import sys

from .running import stand_in

if any("multiprocessing.forkserver" in each for each in sys.orig_argv):
    stand_in()
