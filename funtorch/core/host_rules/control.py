"""Control flow: loops and branches in Python around prepared bodies."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .lowering import spec
from .table import Equation, rule


@rule("while", keys=True)
def while_(eqn: Equation) -> Callable:
    tested, carried = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    start = tested + carried
    test = eqn.program(eqn.params["cond_jaxpr"], eqn.known[:tested])
    body = eqn.program(eqn.params["body_jaxpr"], eqn.known[tested:start])
    single = len(eqn.outputs) == 1

    def run(*args):
        of_test, of_body, state = args[:tested], args[tested:start], args[start:]
        while test(*of_test, *state)[0]:
            state = body(*of_body, *state)
        return state[0] if single else state

    def run_lanes(*args):
        """A batched test: a lane whose test has failed keeps its state."""
        of_test, of_body, state = args[:tested], args[tested:start], args[start:]
        while (going := test(*of_test, *state)[0]).any():
            moved = zip(body(*of_body, *state), state, strict=True)
            state = tuple([np.where(_lanes(going, old), new, old) for new, old in moved])
        return state[0] if single else state

    return run_lanes if eqn.params["cond_jaxpr"].out_avals[0].shape else run


def _lanes(mask: np.ndarray, value: np.ndarray) -> np.ndarray:
    return mask.reshape(mask.shape + (1,) * (value.ndim - mask.ndim))


@rule("cond", keys=True)
def cond(eqn: Equation) -> Callable:
    known = eqn.known[1:]
    branches = [_LazyProgram(eqn.program, branch, known) for branch in eqn.params["branches"]]
    top, single = len(branches) - 1, len(eqn.outputs) == 1

    def run(index, *args):
        results = branches[min(max(int(index), 0), top)](*args)
        return results[0] if single else results

    return run


class _LazyProgram:
    """Prepares at its first call, so that a branch never taken costs nothing."""

    __slots__ = ("function", "how")

    def __init__(self, *how):
        self.how = how
        self.function = None

    def __call__(self, *args):
        if self.function is None:
            program, jaxpr, known = self.how
            self.function = program(jaxpr, known)
        return self.function(*args)


@rule("scan", keys=True)
def scan(eqn: Equation) -> Callable:
    params = eqn.params
    fixed, carried, length = params["num_consts"], params["num_carry"], int(params["length"])
    body = eqn.program(params["jaxpr"], eqn.known[:fixed])
    stacked = [spec(aval) for aval in eqn.outputs[carried:]]
    order = range(length - 1, -1, -1) if params["reverse"] else range(length)
    start, count, single = fixed + carried, len(stacked), len(eqn.outputs) == 1

    def run(*args):
        consts, state, columns = args[:fixed], args[fixed:start], args[start:]
        results = [np.empty(s.shape, s.dtype) for s in stacked]
        for i in order:
            out = body(*consts, *state, *[c[i] for c in columns])
            if count:
                state = out[:carried]
                for result, value in zip(results, out[carried:], strict=True):
                    result[i] = value
            else:
                state = out
        return (*state, *results)[0] if single else (*state, *results)

    return run
