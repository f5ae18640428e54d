"""From steps to one Python function: straight-line code over local variables, given up at their last use.

The text depends on the program's structure alone; functions and constants come in by closure. So a program
that differs from an earlier one only in shapes finds its code compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .falls import through_xla
from .lowering import Lowering, Step, Value, frozen
from .table import Inline

FOLD_BELOW = 65536  # elements: results of constants that are computed once, at preparation
TEXTS_KEPT = 2048  # compiled texts


@lru_cache(maxsize=TEXTS_KEPT)
def _maker(text: str) -> Callable:
    namespace: dict[str, Any] = {}
    exec(compile(text, "<host program>", "exec"), namespace)
    return namespace["make"]


def live_steps(steps: list[Step], outputs: Iterable[Value]) -> list[Step]:
    """The steps whose results are needed, in order."""
    needed = {id(v) for v in outputs}
    kept = []
    for step in reversed(steps):
        if step.effects or any(id(v) in needed for v in step.outputs):
            needed.update(id(v) for v in step.inputs)
            kept.append(step)
    return kept[::-1]


def built(step: Step, program: Callable) -> Callable | Inline:
    """What runs the step: its rule's function, or XLA where it has none."""
    made = None if step.rule is None else step.rule.build(step.equation(program))
    return through_xla(step.origin) if made is None else made


def folded(step: Step, function: Callable | Inline) -> bool:
    """Runs the step now, if its inputs are constants and its outputs small or views; says whether it did."""
    if step.effects or any([v.data is None for v in step.inputs]):
        return False
    if not (step.rule and step.rule.view) and sum(prod(v.shape) for v in step.outputs) >= FOLD_BELOW:
        return False
    call = function.function(len(step.inputs)) if isinstance(function, Inline) else function
    results = call(*(v.data for v in step.inputs))
    for value, result in zip(step.outputs, results if len(step.outputs) != 1 else [results], strict=True):
        value.data = frozen(np.asarray(result))
    return True


class Writer:
    """Writes the function's text, line by line, and gathers what it closes over."""

    def __init__(self, args: list[Value]):
        self.names: dict[int, str] = {}
        self.closed: dict[str, Any] = {}
        self.lines: list[str] = []
        self.free: list[str] = []
        self.count = 0
        self.direct = ""  # the last step as a call through the border
        self.params = []
        for value in args:
            name = self.fresh()
            self.params.append(name)
            self.names.setdefault(id(value), name)
        self.held = set(self.params)  # what the caller keeps alive anyway

    def fresh(self) -> str:
        if self.free:
            return self.free.pop()
        self.count += 1
        return f"v{self.count - 1}"

    def close(self, thing: Any) -> str:
        name = f"k{len(self.closed)}"
        self.closed[name] = thing
        return name

    def name(self, value: Value) -> str:
        """The variable that holds ``value``; a constant gets one at its first use."""
        found = self.names.get(id(value))
        if found is None:
            if value.data is None:
                raise AssertionError("a value is used before it is made")
            found = self.names[id(value)] = self.close(value.data)
        return found

    def add(self, step: Step, function: Callable | Inline, last: set[int], owned: set[int]) -> None:
        """Writes one step.

        ``last`` holds the ids of the values that no later step reads, ``owned`` those of the values whose
        memory nobody else sees: a ufunc may write over one that is both.
        """
        inputs = [self.name(v) for v in step.inputs]
        given_up = {}
        for value in step.inputs:
            key = id(value)
            if key in last and key in self.names and value.data is None:
                given_up[self.names.pop(key)] = value
        if isinstance(function, Inline):
            text = function.template.format(*inputs, k=[self.close(c) for c in function.constants])
        else:
            over = _writable(step.outputs[0], given_up, owned) if isinstance(function, np.ufunc) else []
            name, listed = self.close(function), ", ".join(inputs + over)
            text, self.direct = f"{name}({listed})", f"border().run({name}, {listed})"
        self.free += given_up
        targets = [self.fresh() for _ in step.outputs]
        self.lines.append(f"{', '.join(targets)} = {text}" if targets else text)
        self.held.difference_update(targets)
        dead = [n for n in given_up if n not in targets and n not in self.held]
        if dead:
            self.lines.append(f"{' = '.join(dead)} = None")
        for value, target in zip(step.outputs, targets, strict=True):
            if id(value) in last:  # made, and read by nobody
                self.free.append(target)
            else:
                self.names[id(value)] = target

    def function(self, results: list[str], border: Callable | None) -> Callable:
        """The function; with a ``border``, ``border().run`` calls it."""
        params = ", ".join(self.params)
        result = "".join(r + ", " for r in results)
        lines = [f"def make(border, {', '.join(self.closed)}):"]
        target = self.lines[0].split(" = ")[0] if len(self.lines) == 1 else ""
        if border is not None and target and self.direct and results in ([target], [f"{results[0].split('(')[0]}({target})"]):
            lines += [f" return lambda {params}: ({result.replace(target, self.direct)})"]
        else:
            lines += [f" def run({params}):", *(f"  {line}" for line in self.lines), f"  return ({result})"]
            lines += [" if border is None: return run"]
            lines += [f" return lambda {params}: border().run(run{''.join(', ' + p for p in self.params)})"]
        return _maker("\n".join(lines))(border, *self.closed.values())


def _writable(output: Value, given_up: dict[str, Value], owned: set[int]) -> list[str]:
    """The argument by which ``output`` is written over a value that is given up, if there is one to fit."""
    for name, value in given_up.items():
        if id(value) in owned and value.shape and value.shape == output.shape and value.dtype == output.dtype:
            return [f"out={name}"]
    return []


def _owned(work: list[tuple[Step, Callable | Inline]]) -> set[int]:
    """The ids of the values in memory of their own: made and read only by steps that never return a view."""
    made: set[int] = set()
    seen: set[int] = set()
    for step, function in work:
        if isinstance(function, np.ufunc | Inline) and step.rule is not None and not step.rule.view:
            made.update(id(v) for v in step.outputs)
        else:
            seen.update(id(v) for v in step.inputs)
    return made - seen


def _lasts(work: list[tuple[Step, Callable | Inline]], outputs: list[Value]) -> list[set[int]]:
    """For each step the ids of the values that neither a later step nor the caller reads."""
    lasts: list[set[int]] = []
    seen = {id(v) for v in outputs}
    for step, _ in reversed(work):
        ids = {id(v) for v in (*step.inputs, *step.outputs)}
        lasts.append(ids - seen)
        seen |= ids
    return lasts[::-1]


def generate(low: Lowering, args: list[Value], outputs: list[Value], border: Callable | None) -> tuple[Callable, tuple[str, ...]]:
    """The function of NumPy arrays that runs the steps of ``low``, for use inside another program, and their names.

    With a ``border`` (which makes contexts), for use by itself: it runs in such a context, and gives arrays
    of rank 0 in place of NumPy scalars.
    """
    work = []
    for step in live_steps(low.steps, outputs):
        function = built(step, low.program)
        if not folded(step, function):
            work.append((step, function))
    writer, owned = Writer(args), _owned(work)
    for (step, function), last in zip(work, _lasts(work, outputs), strict=True):
        writer.add(step, function, last, owned)
    given = {id(v) for v in args}
    results = []
    for value in outputs:
        name = writer.name(value)
        scalar = border is not None and not value.shape and value.data is None and id(value) not in given
        results.append(f"{writer.close(np.asarray)}({name})" if scalar else name)
    only_views = all([step.rule is not None and step.rule.view for step, _ in work])
    run = writer.function(results, None if only_views else border)  # views never warn
    return run, tuple([step.name for step, _ in work])
