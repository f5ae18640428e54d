"""The demo's parts, run one after another with progress bars, and the table at the end."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..errors import MissingError, OpError
from . import digits

PARTS = ("train", "compile", "per-sample", "maml", "hvp")
TITLES = {
    "train": "train a CNN eagerly",
    "compile": "the whole step compiled",
    "per-sample": "per-sample gradients, vmap(grad)",
    "maml": "second-order MAML, unseen classes",
    "hvp": "Hessian-vector product",
}
TARGET_ACCURACY = 0.97


def _functions() -> dict[str, Callable]:
    from . import classifier, meta

    return {
        "train": classifier.train,
        "compile": classifier.compile_step,
        "per-sample": classifier.per_sample,
        "maml": meta.maml,
        "hvp": classifier.hessian_vector,
    }


def _passed(part: str, result: dict[str, Any]) -> bool:
    if part == "train":
        return result["test_accuracy"] >= TARGET_ACCURACY
    return bool(result["rises"] if part == "maml" else result["agree"])


def _told(part: str, r: dict[str, Any]) -> str:
    """What a part found, in a line."""
    if part == "train":
        return f"test accuracy {r['test_accuracy']:.1%} after {r['steps']} steps"
    if part == "compile":
        return f"{r['eager_ms']:.2f} ms a step eager, {r['compiled_ms']:.2f} ms compiled; losses differ by at most {r['largest_loss_difference']:.1e}"
    if part == "per-sample":
        return f"{r['vectorised_ms']:.1f} ms at once, {r['loop_ms']:.1f} ms in a loop: {r['speed_up']:.0f} times as fast; difference {r['largest_difference']:.1e}"
    if part == "maml":
        return f"accuracy {r['accuracy_after_0']:.1%} → {r['accuracy_after_1']:.1%} → {r['accuracy_after_5']:.1%} after 0, 1, 5 inner steps"
    return f"norm {r['norm']:.4f}; differs from finite differences by {r['relative_difference']:.1e}"


def run(only: Sequence[str] | None = None, seed: int = 0, device: str = "cpu", json_file: str | None = None) -> int:
    """Run the demo and print its table; returns 0 if each part reached what it should, 1 if not, 2 if it can't run."""
    console = Console()
    chosen = list(only or PARTS)
    unknown = [part for part in chosen if part not in PARTS]
    if unknown:
        console.print(f"funtorch demo: no part called {', '.join(unknown)}; there are {', '.join(PARTS)}")
        return 2
    start = time.perf_counter()
    try:
        data = digits.load(seed, device)
    except (MissingError, OpError) as error:
        console.print(str(error), markup=False)
        return 2
    functions, results = _functions(), {}
    bar = Progress(
        TextColumn("{task.description:34}"),
        BarColumn(),
        TextColumn("{task.completed:>3.0f}/{task.total:.0f}"),
        TimeElapsedColumn(),
        console=console,
    )
    with bar:

        def progress(part: str, total: int) -> Callable:
            task = bar.add_task(TITLES[part], total=total)
            return lambda: bar.advance(task)

        for part in chosen:
            results[part] = functions[part](data, seed, device, progress)
    _show(console, results, time.perf_counter() - start)
    if json_file:
        with open(json_file, "w") as file:
            json.dump(results, file, indent=2)
    return 0 if all(_passed(part, result) for part, result in results.items()) else 1


def _show(console: Console, results: dict[str, dict[str, Any]], seconds: float) -> None:
    table = Table(title=f"funtorch on 1,797 handwritten digits ({seconds:.0f} s)")
    for heading in ("part", "result", "as it should be"):
        table.add_column(heading)
    for part, result in results.items():
        table.add_row(TITLES[part], _told(part, result), "yes" if _passed(part, result) else "NO")
    console.print(table)
