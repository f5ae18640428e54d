"""Random programs of views, writes in place and gathers: as PyTorch runs them, eagerly and under chains of transforms."""

import random

import numpy as np
import pytest
import torch as reference

import funtorch

SHAPE = (2, 3)
# "{a}" and "{b}" are variables of the program. Lines that PyTorch refuses, for their shapes or otherwise, are left out.
VALUES = (
    "{a}.sin()", "{a} * {b}", "{a} + {b}", "{a} ** 2", "{a}.tanh()", "({a} ** 2 + 1).log()", "m.where({a} > {b}, {a}, {b} * 2)",
    "{a}.sum(0)", "{a}.mean(-1, keepdim=True)", "{a}.softmax(-1)", "{a}.cumsum(0)", "{a}.logsumexp(0)", "{a}.amax(-1)",
    "{a}.sort(-1)[0]", "{a}.prod(0)", "{a}.var(0)", "{a} @ {b}.mT", "m.cat([{a}, {b}])", "m.stack([{a}, {b}], -1)",
    "{a}[m.tensor([1, 0])]", "{a}[..., [0, -1]]", "{a}.gather(-1, {a}.argsort(-1))", "{a}.index_add(0, m.tensor([0]), {a}[:1])",
    "{a}.scatter(0, {a}.argmax(0, keepdim=True), 0.5)", "m.zeros_like({a})", "{a}.clone()", "{a}.detach()",
)  # fmt: skip
VIEWS = (
    "{a}[0]", "{a}[..., 1:]", "{a}[:, None]", "{a}.t()", "{a}.mT", "{a}.reshape(-1)", "{a}.view(-1)", "{a}.movedim(0, -1)",
    "{a}.unsqueeze(1)", "{a}.squeeze()", "{a}.diagonal()", "{a}.narrow(0, 1, 1)", "{a}.expand(2, *{a}.shape)", "{a}.flatten()",
    "{a}.unfold(-1, 2, 1)", "{a}[..., ::2]", "{a}.select(-1, -1)",
)  # fmt: skip
WRITES = (
    "{a}.add_({b})", "{a}.mul_(-1.5)", "{a}.copy_({b})", "{a} *= {b}", "{a}.zero_()", "{a}.clamp_(-0.5, 0.7)", "{a}.sin_()",
    "{a}[0] = {b}", "{a}[{a} > 0.3] = 0.5", "{a}[..., 1:] += 1", "{a}[[0]] *= {b}", "{a}.index_fill_(0, m.tensor([0]), 2.0)",
    "{a}.masked_fill_({a} > 0, 0.25)", "{a}.t_()", "{a}.unsqueeze_(0)", "{a}[0].mul_({b}.sum())",
    "{a}.index_put_((m.tensor([0, 0]),), {b}.sum(), accumulate=True)",
)  # fmt: skip
FREELY = (*WRITES, "with m.no_grad(): {a}.mul_(2)", "{a}.detach()[..., :1].mul_(2)")  # values alone


def start(m, values, grad=False):
    x = m.tensor(values, requires_grad=grad)
    return {"m": m, "x": x, "v0": x * 1.0, "v1": x.cos()}


def variables(env):
    return [name for name in env if name[0] == "v"]


def total(env):
    return sum((env[name] * (n + 1)).sum() for n, name in enumerate(variables(env)))


def grown(seed, tables):
    """A program of up to eight lines that PyTorch runs, and differentiates twice."""
    draw = random.Random(seed)
    lines: list[str] = []
    env = start(reference, values_of(seed), True)
    for _ in range(16):
        table = draw.choice(tables)
        line = draw.choice(table).format(a=draw.choice(variables(env)), b=draw.choice(variables(env)))
        line = line if table in (WRITES, FREELY) else f"v{len(variables(env))} = {line}"
        tried = start(reference, values_of(seed), True)
        try:
            exec("\n".join([*lines, line]), tried)
            (slope,) = reference.autograd.grad(total(tried), tried["x"], create_graph=True)
            if slope.requires_grad:
                reference.autograd.grad(slope.sum(), tried["x"], allow_unused=True)
            sizes = [tried[name].detach().clone().abs().max().item() + tried[name].numel() for name in variables(tried)]
        except (RuntimeError, IndexError):
            continue
        if max(sizes) < 100:
            lines.append(line)
            env = tried
        if len(lines) == 8:
            break
    return lines


def values_of(seed):
    return np.random.RandomState(seed).randn(*SHAPE).round(3)


def function(m, lines):
    """The program as a function from x to a vector of all that it has made."""
    code = compile("\n".join(lines), "<program>", "exec")

    def f(x):
        env = {"m": m, "x": x, "v0": x * 1.0, "v1": x.cos()}
        exec(code, env)
        return m.cat([env[name].reshape(-1) for name in variables(env)])

    return f


def weights(m, n):
    return m.cos(m.arange(n, dtype=m.float64) * 1.3)


def slope(m, f):
    def g(x):
        z = x * 1.0 if x.requires_grad else x.detach().requires_grad_()
        y = f(z)
        (found,) = m.autograd.grad((y * weights(m, y.numel())).sum(), z, create_graph=True)
        return found.reshape(-1)

    return g


def pushed(m, f):
    """The derivative in one direction from the gradients of each output: PyTorch nests no forward mode."""

    def g(x):
        z = x * 1.0 if x.requires_grad else x.detach().requires_grad_()
        rows = [m.autograd.grad(y, z, create_graph=True, allow_unused=True)[0] if y.requires_grad else None for y in f(z)]
        return m.stack([(row.reshape(-1) @ weights(m, z.numel())) if row is not None else z.sum() * 0 for row in rows])

    return g


def mapped(m, f):
    return lambda x: f(x) - 0.5 * f(x * 2) + f(-x)


def backward(m, f):
    def g(x):
        z = x.clone()
        z = z if z.requires_grad else z.requires_grad_()
        y = f(z)
        (y * weights(m, y.numel())).sum().backward(create_graph=True, inputs=[z])
        return z.grad.reshape(-1)

    return g


def vmapped(m, f):
    def g(x):
        return (m.vmap(f, in_dims=-1, out_dims=1)(m.stack([x, x * 2, -x], -1)) * m.tensor([1.0, -0.5, 1.0], dtype=m.float64)).sum(
            1
        )

    return g


OURS = {
    "backward": backward,
    "grad": lambda m, f: lambda x: m.func.grad(lambda x: (lambda y: (y * weights(m, y.numel())).sum())(f(x)))(x).reshape(-1),
    "jvp": lambda m, f: lambda x: m.func.jvp(f, (x,), (weights(m, x.numel()).reshape(x.shape),))[1],
    "jacfwd": lambda m, f: lambda x: m.func.jacfwd(f)(x).flatten(1) @ weights(m, x.numel()),
    "jacrev": lambda m, f: lambda x: m.func.jacrev(f)(x).flatten(1) @ weights(m, x.numel()),
    "linearize": lambda m, f: lambda x: m.func.linearize(f, x)[1](weights(m, x.numel()).reshape(x.shape)),
    "vmap": vmapped,
}
PLAINLY = {
    "backward": slope, "grad": slope, "vmap": mapped, "jvp": pushed, "jacfwd": pushed, "jacrev": pushed, "linearize": pushed,
}  # fmt: skip


@pytest.mark.parametrize("engine", ["auto", "host"])
@pytest.mark.parametrize("seed", range(40))
def test_eager_as_torch(seed, engine):
    lines = grown(seed, (VALUES, VALUES, VIEWS, FREELY))
    found = []
    for m in (reference, funtorch):
        env = start(m, values_of(seed), True)
        with funtorch.set_engine(engine):
            exec("\n".join(lines), env)
            made = [env[name] for name in variables(env)]
            kinds = [(t.requires_grad, t.is_leaf, tuple(t.shape), str(t.dtype)[-7:]) for t in made]
            total(env).backward()
        found.append(([t.detach().numpy() for t in made] + [env["x"].grad.numpy()], kinds))
    (expected, kinds), (ours, our_kinds) = found
    assert our_kinds == kinds, lines
    for a, b in zip(expected, ours, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-9, err_msg="\n".join(lines))


@pytest.mark.parametrize("seed", range(100, 140))
def test_transformed_as_torch(seed):
    draw = random.Random(seed)
    lines, chain = grown(seed, (VALUES, VALUES, VIEWS, WRITES)), draw.choices(sorted(OURS), k=draw.choice([1, 2]))
    found = []
    for m, table in ((reference, PLAINLY), (funtorch, OURS)):
        f = function(m, lines)
        for name in reversed(chain):
            f = table[name](m, f)
        with funtorch.set_engine("host"):
            found.append(f(m.tensor(values_of(seed))).detach().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8, atol=1e-8, err_msg=f"{chain}: " + "\n".join(lines))
