"""Small functions, each written with a loop or branch of funtorch's (`construct`) and as the Python that it stands for (`plain`).

`plain(m, *inputs)` runs with torch and with funtorch. Inputs are float64 arrays.
"""

from typing import NamedTuple

import numpy as np

import funtorch
from funtorch.func import associative_scan, cond, fori_loop, scan, switch, while_loop
from funtorch.func import map as mapped

RNG = np.random.default_rng(5)
A, B = RNG.normal(size=3), RNG.normal(size=3)
ROWS, COLUMNS = RNG.normal(size=(4, 3)), RNG.normal(size=(3, 5))
MATRIX = RNG.normal(size=(3, 3)) * 0.5


class Program(NamedTuple):
    construct: object
    plain: object
    inputs: tuple
    reverse: bool = True  # whether it has a gradient


def cond_of(sign):
    def construct(a, b):
        return cond((a.sum() * sign) > 0, lambda a, b: a.sin() * b, lambda a, b: (a - b) ** 3, (a, b))

    def plain(m, a, b):
        return a.sin() * b if (a.sum() * sign) > 0 else (a - b) ** 3

    return Program(construct, plain, (A, B))


def cond_pytrees():
    def construct(a, b):
        found = cond(b[0] > a[0], lambda p: {"x": p["u"] * 2, "y": (p["v"].exp(), None)},
                     lambda p: {"x": p["v"] * 3, "y": (p["u"].cos(), None)}, ({"u": a, "v": b},))  # fmt: skip
        return found["x"] + found["y"][0]

    def plain(m, a, b):
        return a * 2 + b.exp() if b[0] > a[0] else b * 3 + a.cos()

    return Program(construct, plain, (A, B))


def cond_captures():
    def construct(a, b):
        return cond(b[0] > 0, lambda: a * b, lambda: a.exp())

    def plain(m, a, b):
        return a * b if b[0] > 0 else a.exp()

    return Program(construct, plain, (A, B))


def switch_of(which):
    branches = [lambda a, b: a + b.sin(), lambda a, b: a * b, lambda a, b: (a / (2 + b * b)).tanh()]

    def construct(a, b):
        return switch((a[0] * 0).long() + which, branches, a, b)

    def plain(m, a, b):
        return branches[which](a, b)

    return Program(construct, plain, (A, B))


def while_bounded():
    def construct(a, b):
        return while_loop(lambda i, z: (z * z).sum() < 40, lambda i, z: (i + 1, z * 1.5 + b.tanh()), (0, a), max_steps=20)[1]

    return Program(construct, while_plain, (A, B))


def while_plain(m, a, b):
    z = a
    while (z * z).sum() < 40:
        z = z * 1.5 + b.tanh()
    return z


def while_unbounded():
    def construct(a, b):
        return while_loop(lambda i, z: (z * z).sum() < 40, lambda i, z: (i + 1, z * 1.5 + b.tanh()), (0, a))[1]

    return Program(construct, while_plain, (A, B), reverse=False)


def while_newton():
    def construct(a, b):
        def step(z):
            return (z - (z**3 + z - a) / (3 * z * z + 1),)

        return while_loop(lambda z: (z**3 + z - a).abs().max() > 1e-9, step, (b * 0 + 1,), max_steps=30)[0]

    def plain(m, a, b):
        z = b * 0 + 1
        while (z**3 + z - a).abs().max() > 1e-9:
            z = z - (z**3 + z - a) / (3 * z * z + 1)
        return z

    return Program(construct, plain, (A, B))


def fori():
    def construct(a, b):
        return fori_loop(1, 5, lambda i, v: (v[0] * b.cos() + i, v[1] + v[0]), (a, a * 0))[1]

    def plain(m, a, b):
        v, total = a, a * 0
        for i in range(1, 5):
            v, total = v * b.cos() + i, total + v
        return total

    return Program(construct, plain, (A, B))


def fori_counted():
    def construct(a, b):
        return fori_loop(funtorch.tensor(0), (a[0] * 0).long() + 4, lambda i, v: v * b.cos() + i, a)

    def plain(m, a, b):
        for i in range(4):
            a = a * b.cos() + i
        return a

    return Program(construct, plain, (A, B), reverse=False)


def recurrence(dim=0, reverse=False):
    def construct(h, rows, w):
        def step(c, x):
            c = (c @ w + x).tanh()
            return c, c * x

        c, ys = scan(step, h, rows if dim == 0 else rows.t(), dim=dim, reverse=reverse)
        return c + (ys if dim == 0 else ys.t()).cumsum(0)[-2] * 0.5

    def plain(m, h, rows, w):
        ys = [None] * 4
        for t in range(3, -1, -1) if reverse else range(4):
            h = (h @ w + rows[t]).tanh()
            ys[t] = h * rows[t]
        return h + m.stack(ys).cumsum(0)[-2] * 0.5

    return Program(construct, plain, (A, ROWS, MATRIX))


def scan_pytrees():
    def construct(h, rows):
        def step(c, x):
            return {"h": c["h"] * x["r"].cos() + x["s"][0], "n": c["n"] + 1}, (c["h"].sum(), None)

        c, (sums, nothing) = scan(step, {"h": h, "n": funtorch.tensor(0)}, {"r": rows, "s": [rows * 2]})
        assert nothing is None
        return c["h"] * c["n"] + sums.prod()

    def plain(m, h, rows):
        sums = 1
        for x in rows:
            sums, h = sums * h.sum(), h * x.cos() + x * 2
        return h * 4 + sums

    return Program(construct, plain, (A, ROWS))


def scan_without_xs():
    def construct(a, b):
        return scan(lambda c, _: (c * b.sin() + a, c), a, None, length=3)[1].sum(0)

    def plain(m, a, b):
        c, total = a, 0
        for _ in range(3):
            c, total = c * b.sin() + a, total + c
        return total

    return Program(construct, plain, (A, B))


def scan_of_cond():
    def construct(h, rows):
        def step(c, x):
            c = cond(x.sum() > 0, lambda c: (c * x).tanh() + x, lambda c: c - x**2, (c,))
            return c, c.sum()

        c, ys = scan(step, h, rows)
        return c * ys.sum()

    def plain(m, h, rows):
        total = 0
        for x in rows:
            h = (h * x).tanh() + x if x.sum() > 0 else h - x**2
            total = total + h.sum()
        return h * total

    return Program(construct, plain, (A, ROWS))


def scan_of_scan():
    def construct(h, rows):
        def inner(c, r):
            return c * r.cos() + h.sum(), None

        return scan(lambda c, x: (scan(inner, c + x, rows)[0], c), h, rows)[0]

    def plain(m, h, rows):
        c = h
        for x in rows:
            c = c + x
            for r in rows:
                c = c * r.cos() + h.sum()
        return c

    return Program(construct, plain, (A, ROWS))


def map_of():
    def construct(rows, b):
        return mapped(lambda x, y: (x * y).sin() + x.sum(), rows, b).sum(0)

    def plain(m, rows, b):
        return m.stack([(x * b).sin() + x.sum() for x in rows]).sum(0)

    return Program(construct, plain, (ROWS, B))


def associative(reverse=False):
    def construct(rows, b):
        def combine(left, right):
            return left[0] * right[0], left[1] * right[0] + right[1] * b.cos()[0]

        products, sums = associative_scan(combine, (rows, rows.sin()), 0, reverse=reverse)
        return (products * sums).sum(0)

    def plain(m, rows, b):
        order = range(len(rows) - 1, -1, -1) if reverse else range(len(rows))
        product, total, found = None, None, 0
        for t in order:
            x, s = rows[t], rows[t].sin()
            product, total = (x, s) if product is None else (product * x, total * x + s * b.cos()[0])
            found = found + product * total
        return found

    # Not associative with the factor unless it is one: b is near 0 in value, and the derivative by it is not asked for.
    return Program(construct, plain, (ROWS, B * 0))


def inner_gradient():
    def construct(w, rows):
        def step(w, x):
            g = funtorch.func.grad(lambda w: ((w * x).sin() ** 2).sum())(w)
            return w - 0.1 * g, None

        return scan(step, w, rows)[0]

    def plain(m, w, rows):
        for x in rows:
            w = w - 0.1 * m.func.grad(lambda w, x=x: ((w * x).sin() ** 2).sum())(w)
        return w

    return Program(construct, plain, (A, ROWS))


PROGRAMS = {
    "cond-true": cond_of(np.sign(A.sum())), "cond-false": cond_of(-np.sign(A.sum())), "cond-pytrees": cond_pytrees(),
    "cond-captures": cond_captures(), "switch-0": switch_of(0), "switch-1": switch_of(1), "switch-2": switch_of(2),
    "while-bounded": while_bounded(), "while-unbounded": while_unbounded(), "while-newton": while_newton(), "fori": fori(),
    "fori-counted": fori_counted(), "scan": recurrence(), "scan-reverse": recurrence(reverse=True), "scan-dim": recurrence(1),
    "scan-dim-reverse": recurrence(1, True), "scan-pytrees": scan_pytrees(), "scan-without-xs": scan_without_xs(),
    "scan-of-cond": scan_of_cond(), "scan-of-scan": scan_of_scan(), "map": map_of(), "associative": associative(),
    "associative-reverse": associative(True), "inner-gradient": inner_gradient(),
}  # fmt: skip
REVERSIBLE = [name for name, program in PROGRAMS.items() if program.reverse]
