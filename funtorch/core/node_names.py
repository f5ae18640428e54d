"""Names of nodes, and classes by name. PyTorch has a class for each kind of node (``AddBackward0``), which code that draws graphs reads.

Here all nodes are made of one class, which is quick, and get the class with their name when somebody looks at them. The names are
those of the functions that PyTorch's own kernels have, where one op here is one node there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Avals = Sequence[tuple]  # shape and dtype of each argument

_classes: dict[tuple[type, str], type] = {}


def _product(statics: Mapping, avals: Avals) -> str:
    left, right = (len(shape) for shape, _ in avals)
    return {(1, 1): "dot", (2, 1): "mv", (2, 2): "mm"}.get((left, right), "unsafe_view")


def _linear(statics: Mapping, avals: Avals) -> str:
    bias = len(avals) == 3
    return {1: "add" if bias else "mv", 2: "addmm" if bias else "mm"}.get(len(avals[0][0]), "view" if bias else "unsafe_view")


def _padded(statics: Mapping, avals: Avals) -> str:
    kind = {"reflect": "reflection", "replicate": "replication"}.get(statics["mode"])
    return "constant_pad_nd" if kind is None else f"{kind}_pad{len(statics['pad']) // 2}d"


def _resized(statics: Mapping, avals: Avals) -> str:
    return f"upsample_{statics['mode'].replace('-', '_')}{len(avals[0][0]) - 2}d"


def _real_to(statics: Mapping, avals: Avals) -> str:
    return "fft_c2c" if avals[0][1].kind == "c" else "fft_r2c"


def _by_reduction(statics: Mapping, avals: Avals) -> str:
    return {"mean": "mean", "sum": "sum"}.get(statics["reduction"], "abs")


def _subtracted(statics: Mapping, avals: Avals) -> str:
    return "rsub" if not avals[0][0] and avals[1][0] else "sub"


# What an op is called in PyTorch's graphs: a name, or a function of the op's statics and the arguments' shapes and dtypes.
NAMES: dict[str, str | Callable[[Mapping, Avals], str]] = {
    **{f"{way}{n}d": "convolution" for way in ("conv", "conv_transpose") for n in (1, 2, 3)},
    **{name: f"native_{name}" for name in ("batch_norm", "group_norm", "layer_norm")},
    **{name: f"linalg_{name}" for name in ("cholesky_ex", "det", "eig", "eigh", "inv_ex", "qr", "solve_ex", "svd", "vector_norm")},
    **{f"{way}{end}": _real_to for way in ("fft", "ifft", "rfft") for end in ("", "2", "n")},
    **{f"irfft{end}": "fft_c2r" for end in ("", "2", "n")},
    **{f"max_pool{n}d": f"max_pool{n}d_with_indices" for n in (2, 3)},
    "cross_entropy": "nll_loss", "dropout": "mul", "grid_sample": "grid_sampler_2d", "interpolate": _resized, "l1_loss": _by_reduction,
    "linear": _linear, "logsigmoid": "log_sigmoid", "matmul": _product, "outer": "mul", "pad": _padded, "prelu": "prelu_kernel",
    "selu": "elu", "softsign": "div", "square": "pow", "sub": _subtracted, "tanhshrink": "sub",
}  # fmt: skip
# Which of PyTorch's forms of a function it is, where that is not the first.
FORMS: dict[str, Callable[[Mapping, Avals], int]] = {
    "sum": lambda statics, avals: int(statics.get("dim") is not None),
    "max": lambda statics, avals: int("dim" not in statics),
    "median": lambda statics, avals: int("dim" in statics),
    "clamp": lambda statics, avals: int(all(not shape for shape, _ in avals[1:])),
    "pow": lambda statics, avals: 0 if "exponent" in statics or len(avals) < 2 else 1 if avals[0][0] else 2,
    "rsub": lambda statics, avals: 1,
}
FORMS |= {"mean": FORMS["sum"], "prod": FORMS["sum"], "min": FORMS["max"]}


def backward_name(op: str, statics: Mapping, avals: Avals) -> str:
    """The name of an op's node: ``AddBackward0`` for ``add``."""
    op = op.strip("_")
    found = NAMES.get(op, op)
    name = found if isinstance(found, str) else found(statics, avals)
    form = FORMS[name](statics, avals) if name in FORMS and (name == op or name == "rsub") else 0
    words = "".join(part[:1].upper() + part[1:] for part in name.split("_") if part)
    return re.sub(r"(?<=\d)[a-z]", lambda letter: letter[0].upper(), words) + f"Backward{form}"


def named(node: Any) -> Any:
    """The node itself, of the class that has its name. None stays None."""
    if node is None or node.is_named:
        return node
    kind, name = type(node), node.name()
    found = _classes.get((kind, name))
    if found is None:
        members = {"__slots__": (), "__module__": kind.home, "is_named": True}
        found = _classes[kind, name] = type(name, (kind,), members)
    node.__class__ = found
    return node


class Named:
    """What nodes of all kinds show of themselves."""

    __slots__ = ()
    home = "builtins"  # the module that their classes say they are from
    is_named = False

    def name(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"<{type(named(self)).__name__} object at {id(self):#x}>"
