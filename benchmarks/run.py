"""Times funtorch beside its peers, and prints one table: ``python benchmarks/run.py [subject...]``."""

import argparse
import importlib
import os

from rich.console import Console
from timing import FULL, QUICK, Row, table

SUBJECTS = (
    "startup", "changing_shapes", "eager_ops", "eager_training", "layers", "compiled_step", "per_sample", "maml", "import_time",
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("subjects", nargs="*", help=f"of {', '.join(SUBJECTS)}; all where none is named")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter rounds, noisier")
    options = parser.parse_args()
    unknown = sorted(set(options.subjects) - set(SUBJECTS))
    if unknown:
        parser.error(f"no subject {', '.join(unknown)}: choose from {', '.join(SUBJECTS)}")

    console = Console(width=None if os.isatty(1) else 130)
    rows = measured(options.subjects or SUBJECTS, options.quick, console)
    console.print(table(rows, caption=machine()))


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
    return f"{versions}, {os.cpu_count()} cores, {torch.get_num_threads()} torch threads, {load}"


if __name__ == "__main__":
    main()
