"""Writes docs/operations.md: which of PyTorch's public names are there, and which checks of `make parity` each one passes.

    python docs/build.py            the page, from docs/pytorch_names.json and tests/parity/recorded.json
    python docs/build.py --names    first the list of names, from the PyTorch that is installed

The figures come from the record of the last parity run that was accepted; without one, the page says only what is there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
NAMES = HERE / "pytorch_names.json"
PAGE = HERE / "operations.md"
RECORD = HERE.parent / "tests" / "parity" / "recorded.json"

# Namespace, and what its names are called on the page.
NAMESPACES = {
    "torch": "functions", "Tensor": "methods and attributes", "nn.functional": "functions", "linalg": "functions",
    "fft": "functions", "special": "functions", "nn": "classes", "nn.init": "functions", "optim": "classes",
    "func": "functions", "autograd": "functions and classes", "utils.data": "functions and classes",
}  # fmt: skip
# What belongs to PyTorch's own backends and builds, or is only there for its compilers; names with an underscore at the end are
# in-place forms, which the methods show.
INTERNAL = re.compile(
    r"(cudnn|miopen|mkldnn|fbgemm|quantized?|fake_quantize|fused|native|sym|import|parse|batch_norm|q|(get|set|is)_autocast)_"
    r"|.*(autocast|torch_function|_quant$|_type_comment|DataPipe)|(is|to)_(ipu|xla|maia|vulkan|mkldnn|mps|mtia|xpu)|Profiler|[hs]{1,2}p?(add)?mm$"
    r"|(Tensor|DeviceType|ScalingType|SwizzleType|argument_validation|as_subclass|assert_int_or_pair|choose_qparams_optimized|classproperty"
    r"|compiled_with_cxx11_abi|debug_unwrap|dsmm|fork|get_file_path|init_num_threads|ipu|is_tensor_like|is_vulkan_available|kineto_available|mtia"
    r"|prepare_multiprocessing_environment|profiler.*|reinforce|segment_reduce|storage_type|thread_safe_generator|unify_type_list|volatile|wait|xpu)$"
)


def torch_names() -> dict[str, Any]:
    """PyTorch's public names by namespace, and its version."""
    import torch

    classes = {"nn", "optim"}
    found: dict[str, Any] = {"version": torch.__version__.split("+")[0]}
    for space in NAMESPACES:
        holder = torch if space == "torch" else torch.Tensor if space == "Tensor" else importlib.import_module(f"torch.{space}")
        names = [n for n in dir(holder) if not n.startswith("_") and not INTERNAL.match(n)]
        if space == "Tensor":
            found[space] = names
            continue
        listed = set(getattr(holder, "__all__", names)) | (set(names) if space != "torch" else set())
        values = {n: getattr(holder, n) for n in names if n in listed or space == "torch"}
        found[space] = [n for n, value in values.items() if _is_api(space, n, value, space in classes)]
    return found


def _is_api(space: str, name: str, value: Any, classes: bool) -> bool:
    if classes:
        return isinstance(value, type) and value.__module__.startswith(f"torch.{space}")
    if space == "torch":
        return callable(value) and not isinstance(value, type) and not name.endswith("_")
    foreign = getattr(value, "__module__", None) or ""
    return (
        callable(value)
        and (foreign.startswith("torch") or not foreign)
        and not getattr(value, "__name__", "").startswith("boolean_dispatch")
    )


def is_there(space: str, name: str) -> bool:
    """Whether funtorch has more than the name."""
    import funtorch
    from funtorch.naming.missing import NotThere

    holder: Any = funtorch
    for part in () if space == "torch" else space.split("."):
        holder = getattr(holder, part)
    return hasattr(holder, name) and not isinstance(getattr(holder, name), NotThere)


def recorded() -> dict[str, dict[str, set[str]]]:
    """For each name of the parity record without its variant: aspect to the letters of all its dtypes and variants."""
    if not RECORD.exists():
        return {}
    record = json.loads(RECORD.read_text())
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, letters in record["names"].items():
        if set(letters) <= {"M", "-"}:  # what was not there when parity was recorded
            continue
        for column, letter in zip(record["columns"], letters, strict=True):
            for each in {name, name.rpartition(".")[0]} - {""}:
                if letter != "-":
                    found[each][column.split(":")[0].split(".")[-1]].add(letter)
    return found


def checks(aspects: dict[str, set[str]]) -> tuple[str, str]:
    """What passes and what does not, in words. An aspect passes if it does for every dtype and variant."""
    good = [a for a, letters in aspects.items() if letters <= {"P", "X"} and "P" in letters]
    bad = [a for a, letters in aspects.items() if letters & {"F", "M"}]
    return ", ".join(good), ", ".join(bad)


def section(space: str, kind: str, names: list[str], record: dict[str, dict[str, set[str]]]) -> list[str]:
    """The lines of one namespace."""
    there = [n for n in names if is_there(space, n)]
    absent = [n for n in names if n not in there]
    title = space if space in ("torch", "Tensor") else f"torch.{space}"
    lines = [f"## {title}", "", f"{len(there)} of {len(names)} {kind}.", ""]
    keys = {n: n if space in ("torch", "Tensor", "optim") else f"{space}.{n}" for n in there}
    known = [n for n in there if space != "Tensor" and keys[n] in record]
    if known:
        lines += ["| name | passes | does not |", "|---|---|---|"]
        lines += [f"| `{n}` | {' | '.join(checks(record[keys[n]]))} |" for n in known]
        lines.append("")
    rest = [n for n in there if n not in known]
    if rest:
        lines += [f"{'There, without a row in the record' if known else 'There'}: {quoted(rest)}.", ""]
    if absent:
        lines += [f"Not there: {quoted(absent)}.", ""]
    return lines


def quoted(names: list[str]) -> str:
    """Names in code style, with commas."""
    return ", ".join(f"`{n}`" for n in names)


def page() -> str:
    """The text of docs/operations.md."""
    table, record = json.loads(NAMES.read_text()), recorded()
    counts = [f"{sum(is_there(s, n) for n in table[s])} of {len(table[s])} in `{s}`" for s in NAMESPACES]
    lines = [
        "# Operations",
        "",
        f"Written by `make docs`. The names are the public ones of PyTorch {table['version']}, without those of its own backends, "
        "its quantisation and its compilers.",
        "",
        f"There are {', '.join(counts)}.",
        "",
    ]
    if record:
        lines += [
            "*passes* and *does not* name the aspects of `make parity` (PyTorch's own operator, module and optimiser databases run "
            "against funtorch): an aspect passes if it does for every dtype and variant that the database has.",
            "",
        ]
    for space, kind in NAMESPACES.items():
        lines += section(space, kind, table[space], record)
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Write docs/operations.md.")
    parser.add_argument("--names", action="store_true", help="take the list of names anew from the PyTorch that is installed")
    if parser.parse_args().names:
        NAMES.write_text(json.dumps(torch_names(), indent=0) + "\n")
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
