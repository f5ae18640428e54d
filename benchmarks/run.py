"""Times funtorch beside its peers, and prints one table: ``python benchmarks/run.py [subject...]``."""

import argparse
import importlib
import os
import sys

from clock import CPU_TIME
from rich.console import Console
from timing import FULL, QUICK, Row, table

SUBJECTS = (
    "startup", "changing_shapes", "eager_ops", "eager_training", "layers", "compiled_step", "compiled_networks", "per_sample", "maml", "import_time",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}; all where none is named")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, noisier")
    parser.add_argument("--one-core", action="store_true", help="CPU time on one core: for a machine that others use")
    options = parser.parse_args()
    if options.one_core and CPU_TIME not in os.environ:
        begin_again_on_one_core()
    unknown = sorted(set(options.subjects) - set(SUBJECTS))
    if unknown:
        parser.error(f"no subject {', '.join(unknown)}: choose from {', '.join(SUBJECTS)}")

    console = Console(width=None if os.isatty(1) else 130)
    rows = measured(options.subjects or SUBJECTS, options.quick, console)
    console.print(table(rows, caption=machine()))


def begin_again_on_one_core() -> None:
    """This program once more, where it and those it starts have one core, before libraries have counted them."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ |= {CPU_TIME: "1", "OMP_NUM_THREADS": "1"}
    os.execv(sys.executable, [sys.executable, *sys.argv])


def measured(subjects: list[str], quick: bool, console: Console) -> list[Row]:
    """The rows of all subjects, while a line says which one is being measured."""
    rows = []
    with console.status("measuring") as status:
        for subject in subjects:
            for row in importlib.import_module(subject).rows(QUICK if quick else FULL):
                rows.append(row)
                status.update(f"measuring {subject}: {len(rows)} rows")
    return rows


def machine() -> str:
    """Versions, cores, threads, and the load, which says whether others disturbed the times, as a caption."""
    import jax
    import torch

    versions = f"jax {jax.__version__} on {jax.default_backend()}, torch {torch.__version__}"
    load = f"load {os.getloadavg()[0]:.1f}"
    cores = f"{len(os.sched_getaffinity(0))} cores, {torch.get_num_threads()} torch threads"
    return f"{versions}, {'CPU' if os.environ.get(CPU_TIME) else 'wall-clock'} time, {cores}, {load}"


if __name__ == "__main__":
    main()
