"""The text of the public function that ``@op`` makes: its signature, its checks, promotion, binding and the call.

It is written for each op, since what an op has no need of would cost every call of it: two Tensors of one dtype are added
without a loop over parameters. `arguments` has the functions that it calls where an argument is not what is expected.
"""

from __future__ import annotations

from collections.abc import Iterator

from .declaration import MISSING, NUMPY_NAMES, Declaration

# The check of a parameter by its kind. {0}: its name; {1}: the arguments that an error needs.
_CHECKS = {
    "array": "if not isinstance({0}, Handle): {0} = tensor_argument({1})",
    "optional": "if {0} is not None and not isinstance({0}, Handle): tensor_argument({1})",
    "sequence": "{0} = sequence_argument({1})",
    "operand": "if not isinstance({0}, Handle): {0} = operand_argument({1})",
    "operand?": "if {0} is not None and not isinstance({0}, Handle): {0} = operand_argument({1})",
}
# How many arrays it brings: None for one.
_PRESENT = {
    "array": "None",
    "operand": "None",
    "optional": "(-1 if {0} is None else None)",
    "operand?": "(-1 if {0} is None else None)",
    "sequence": "len({0})",
}
# What it adds to the tuple of arrays.
_GIVEN = {
    "array": "{0}",
    "operand": "{0}",
    "optional": "*(() if {0} is None else ({0},))",
    "operand?": "*(() if {0} is None else ({0},))",
    "sequence": "*{0}",
}


# What is computed of floats in the type of ``out``, where that is given and no ``dtype``.
IN_TYPE_OF_OUT = frozenset({"cumprod", "cumsum", "mean", "nanmean", "nansum", "prod", "sum"})


def text_of(declared: Declaration, out: bool) -> str:
    """The definition of the public function, with an ``out=`` argument or without."""
    checks, promotion = list(_checks(declared)), _promotion(declared)
    lines = [*_other_spellings(declared, out), *_autocast(declared, out)]
    if out and declared.name in IN_TYPE_OF_OUT:
        inexact = "isinstance(out, Handle) and isinstance(input, Handle) and input._payload.dtype.kind not in 'biu'"
        lines.append(f"if out is not None and dtype is None and {inexact}: dtype = out.dtype")
    operands = declared.of_kind("operand")
    if declared.promote == "arith" and len(operands) == 2 and not declared.check:
        lines += _for_two_tensors(declared, operands, checks, promotion)
    else:
        lines += [*checks, *_own_check(declared), *promotion, _binding(declared)]
    lines += [*_run(declared), _result(declared, out)]
    return f"def {declared.name.split('.')[-1]}({_signature(declared, out)}):\n    " + "\n    ".join(lines)


def _numpy_names(declared: Declaration) -> list[tuple[str, str]]:
    return [(p.name, NUMPY_NAMES[p.name]) for p in declared.parameters if p.name in NUMPY_NAMES]


def _other_spellings(declared: Declaration, out: bool) -> Iterator[str]:
    """NumPy's names, PyTorch's older order of arguments, and what is missing once both were looked at."""
    name = declared.name
    renamed = _numpy_names(declared)
    for old, new in renamed:
        yield f"if {new} is not MISSING: {old} = {new}"
    if any(p.name == "keepdim" for p in declared.parameters):
        yield f"if keepdim.__class__ is not bool: keepdim = flag_argument(keepdim, {name!r})"
    if declared.older:
        arrays = ", ".join(array for array, _ in declared.arrays())
        named = ", ".join(f"{key}={key}" for key in (*declared.older, *(["out"] if out else [])))
        yield f"if older: return older_order(itself(), {declared.older}, ({arrays}, *older), dict({named}))"
    if renamed:
        for p in declared.parameters:
            if p.default is MISSING:
                yield f"if {p.name} is MISSING: missing({name!r}, {p.name!r})"


def _autocast(declared: Declaration, out: bool) -> Iterator[str]:
    """Casts, but not for a result that is written into a given Tensor."""
    if declared.cast_as is not None:
        arrays = ", ".join(array for array, _ in declared.arrays())
        given = f"({arrays},), ({', '.join(p.name for p in declared.parameters)},)"
        yield f"if casting{' and out is None' if out else ''}: {arrays}, = cast_arguments({declared.cast_as!r}, {given})"


def _checks(declared: Declaration) -> Iterator[str]:
    for position, (p, kind) in enumerate(zip(declared.parameters, declared.kinds, strict=True), 1):
        if kind != "static":
            yield _CHECKS[kind].format(p.name, f"{p.name}, {declared.name!r}, {p.name!r}, {position}")


def _own_check(declared: Declaration) -> Iterator[str]:
    if declared.check:
        yield f"check({', '.join(p.name for p in declared.parameters)})"


def _promotion(declared: Declaration) -> list[str]:
    if declared.promote is None:
        return ["cast = None"]
    floating = declared.promote == "float"
    optional = declared.of_kind("operand?")
    names = declared.of_kind("operand") + optional
    listed = ", ".join(names)
    if not optional:
        return [f"cast, ({listed},) = prepare(({listed},), {floating})"]
    return [
        f"given = [x for x in ({listed},) if x is not None]",
        f"cast, given = prepare(tuple(given), {floating})",
        "given = iter(given)",
        *[f"{n} = None if {n} is None else next(given)" for n in names],
    ]


def _for_two_tensors(declared: Declaration, operands: list[str], checks: list[str], promotion: list[str]) -> list[str]:
    """The checks, the promotion and the binding. Two Tensors of one dtype alone have no need of these: the Op is ``known`` by it."""
    a, b = operands
    same = f"isinstance({a}, Handle) and isinstance({b}, Handle) and {a}._payload.dtype is {b}._payload.dtype"
    others = [line for line in checks if "operand_argument" not in line]
    usual = [line for line in (*checks, *promotion) if line not in others]
    given = [array for array, kind in declared.arrays() if kind in ("array", "operand")]
    left_out = [f"{p.name} is defaults[{i}]" for i, p in enumerate(declared.parameters) if p.name not in given]
    as_ever = " and ".join(left_out)
    bind = _binding(declared)
    return [
        *others,
        f"if {same}:",
        f"    _kind = {a}._payload.dtype",
        f"    bound = known.get(_kind){as_ever and f' if {as_ever} else None'}",
        "    if bound is None:",
        "        cast = FROM_NUMPY[_kind]",
        f"        {bind}",
        f"        {as_ever and f'if {as_ever}: '}known[_kind] = bound",
        "else:",
        *[f"    {line}" for line in (*usual, bind)],
    ]


def _binding(declared: Declaration) -> str:
    present = ", ".join(_PRESENT[kind].format(name) for name, kind in declared.arrays())
    statics = [f"{name} if type({name}) in ATOMS else static({name})" for name in declared.of_kind("static")]
    return f"bound = bind({', '.join(['cast', f'({present},)', *statics])})"


def _run(declared: Declaration) -> Iterator[str]:
    arrays = declared.arrays()
    if len(arrays) <= 2 and all(kind in ("array", "operand") for _, kind in arrays):
        yield f"result = call_{len(arrays)}(bound, {', '.join(name for name, _ in arrays)})"
    else:
        yield f"result = call(bound, ({''.join(f'{_GIVEN[kind].format(name)}, ' for name, kind in arrays)}))"
    if declared.result is not None:
        yield "result = wrap(result)"


def _result(declared: Declaration, out: bool) -> str:
    if not out:
        return "return result"
    return f"return result if out is None else into(out, result, {declared.name!r}{', True' * declared.exact_out})"


def _signature(declared: Declaration, out: bool) -> str:
    parts, starred, optional = [], False, False
    for number, p in enumerate(declared.parameters):
        if p.by_name and not starred:
            parts.append("*older" if declared.older else "*")
            starred = True
        optional = optional or p.default is not MISSING or p.name in NUMPY_NAMES
        parts.append(f"{p.name}=defaults[{number}]" if optional else p.name)
    extra = [f"{new}=MISSING" for _, new in _numpy_names(declared)] + (["out=None"] if out else [])
    if extra and not starred:
        parts.append("*")
    return ", ".join([*parts, *extra])
