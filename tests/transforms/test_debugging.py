"""debug_print, values shown inside transforms, checks in programs, and NaN checks that name op and line."""

import re
import warnings

import pytest

import funtorch
from funtorch import nn
from funtorch.func import cond, debug_print, fori_loop, grad, hessian, jvp, scan, vmap, while_loop

# debug_print


def shown(x):
    debug_print("x = {} {:.1f}", x, x.sum())
    return (x * x).sum()


ONE, TWO = "x = tensor([1., 1.]) 2.0", "x = tensor([2., 2.]) 4.0"
ONES = funtorch.ones(2)
BOTH = funtorch.tensor([[1.0, 1.0], [2.0, 2.0]])
PRINTS = {
    "eager": (lambda: shown(ONES), [ONE]),
    "grad": (lambda: grad(shown)(ONES), [ONE]),
    "backward": (lambda: shown(ONES.clone().requires_grad_()).backward(), [ONE]),
    "vmap": (lambda: vmap(shown)(BOTH), [ONE, TWO]),
    "vmap-1": (lambda: vmap(shown, in_dims=1)(BOTH.t()), [ONE, TWO]),
    "jvp": (lambda: jvp(shown, (ONES,), (BOTH[1],)), [ONE]),
    "vmap of grad": (lambda: vmap(grad(shown))(BOTH), [ONE, TWO]),
    "grad of vmap": (lambda: grad(lambda x: vmap(shown)(x).sum())(BOTH), [ONE, TWO]),
    "vmap of vmap": (lambda: vmap(vmap(shown))(BOTH[None]), [ONE, TWO]),
    "jvp of vmap": (lambda: jvp(vmap(shown), (BOTH,), (BOTH,)), [ONE, TWO]),
    "hessian": (lambda: hessian(shown)(ONES), [ONE]),
    "scan": (lambda: scan(lambda c, x: (c + shown(x), None), funtorch.zeros(()), BOTH), [ONE, TWO]),
    "grad of scan": (lambda: grad(lambda z: scan(lambda c, x: (c + shown(x), None), funtorch.zeros(()), z)[0])(BOTH), [ONE, TWO]),
    "jvp of scan": (lambda: jvp(lambda z: scan(lambda c, x: (c + shown(x), None), funtorch.zeros(()), z)[0], (BOTH,), (BOTH,)), [ONE, TWO]),
    "vmap of scan": (lambda: vmap(lambda z: scan(lambda c, x: (c + shown(x), None), funtorch.zeros(()), z)[0])(BOTH[:, None]), [ONE, TWO]),
    "cond": (lambda: cond(ONES[0] > 0, lambda: shown(ONES), lambda: shown(BOTH[1])), [ONE]),
    "fori": (lambda: fori_loop(0, 2, lambda i, z: z + 0 * shown(z) + 1, ONES), [ONE, TWO]),
    "while": (lambda: while_loop(lambda z: z[0] < 3, lambda z: z + 0 * shown(z) + 1, (ONES,)), [ONE, TWO]),
    "vmap in cond": (lambda: cond(ONES[0] > 0, lambda: vmap(shown)(BOTH), lambda: BOTH[0]), [ONE, TWO]),
    "words": (lambda: vmap(lambda x: (debug_print("here", ), x)[1])(BOTH), ["here"]),
    "mixed": (lambda: vmap(lambda x: (debug_print("{} {} {}", "a", x[0], ONES), x)[1])(BOTH),
              ["a 1.0 tensor([1., 1.])", "a 2.0 tensor([1., 1.])"]),
}  # fmt: skip


@pytest.mark.parametrize("name", PRINTS)
def test_debug_print(name, capfd):
    run, expected = PRINTS[name]
    run()
    lines = capfd.readouterr().out.splitlines()
    assert lines == expected


def test_debug_print_in_compiled_code(capfd):
    @funtorch.compile
    def f(x):
        y = vmap(lambda x: (debug_print("lane {}", x), x)[1])(x)
        debug_print("sum {}", y.sum())
        return y

    for k in range(4):
        f(funtorch.tensor([1.0, 2.0]) * k)
    assert f.counts["compiled"] == 2
    lines = capfd.readouterr().out.splitlines()
    assert lines == [text for k in range(4) for text in (f"lane {k}.0", f"lane {2 * k}.0", f"sum {3 * k}.0")]


# What a debugger shows


def test_values_inside_transforms_show_level_and_value():
    texts = []

    def look(x):
        texts.append(repr(x))
        return x * 2

    vmap(look, in_dims=1)(BOTH)
    jvp(look, (ONES,), (BOTH[1],))
    jvp(vmap(look), (BOTH,), (BOTH,))
    scan(lambda c, x: (c, look(x)), ONES, BOTH)
    lanes = "tensor([[1., 1.],\n        [2., 2.]])"
    assert texts[0] == f"BatchedTensor(lvl=1, shape=[2], bdim=1, value={lanes})"
    assert texts[1] == "DualTensor(lvl=1, shape=[2], value=tensor([1., 1.]), tangent=tensor([2., 2.]))"
    assert (
        texts[2]
        == f"BatchedTensor(lvl=2, shape=[2], bdim=0, value=DualTensor(lvl=1, shape=[2, 2], value={lanes}, tangent={lanes}))"
    )
    assert texts[3] == "tensor(traced, size=(2,), dtype=torch.float32)"


# Checks


def checked(x):
    funtorch._assert(x.sum() < 10, "too large")
    return x * 2


CHECKED = {
    "eager": checked,
    "vmap": lambda x: vmap(checked)(funtorch.stack([x, x * 0])),
    "grad": lambda x: grad(lambda x: checked(x).sum())(x),
    "jvp": lambda x: jvp(checked, (x,), (x,)),
    "scan": lambda x: scan(lambda c, a: (c, checked(a)), x[0], x),
    "second step": lambda x: scan(lambda c, a: (checked(c), None), x[0], x)[0],
    "scan of scan": lambda x: scan(lambda c, a: (c, scan(lambda c, b: (c, checked(b)), a, x)[1]), x[0], x),
    "cond": lambda x: cond(x[0] > 0, lambda: checked(x), lambda: x),
    "fori": lambda x: fori_loop(0, 2, lambda i, z: checked(z), x),
    "while": lambda x: while_loop(lambda z: z[0] < 0, lambda z: z, (checked(x),)),
    "while's test": lambda x: while_loop(lambda z: checked(z)[0] < 0, lambda z: z + 1, (x,)),
    "while bounded": lambda x: while_loop(lambda i, z: i < 1, lambda i, z: (i + 1, checked(z)), (0, x), max_steps=3),
    "vmap of scan": lambda x: vmap(lambda x: scan(lambda c, a: (c, checked(a)), x[0], x)[1])(funtorch.stack([x * 0, x])),
    "grad of scan": lambda x: grad(lambda x: scan(lambda c, a: (c + checked(a), None), x[0], x)[0])(x),
    "vmap in scan": lambda x: scan(lambda c, a: (c, vmap(checked)(a * funtorch.ones(3))), x[0], x),
}
SMALL, LARGE = funtorch.tensor([1.0, 3.0]), funtorch.tensor([7.0, 30.0])


@pytest.mark.parametrize("name", CHECKED)
def test_a_check_raises_where_it_fails_and_only_there(name):
    CHECKED[name](SMALL)
    with pytest.raises(AssertionError, match="too large"):
        CHECKED[name](LARGE)
    CHECKED[name](SMALL)


@pytest.mark.parametrize("name", CHECKED)
def test_a_check_in_a_program_changes_nothing_where_it_fails(name):
    """The program has run; its results, buffers, draws and gradients are thrown away."""
    funtorch.manual_seed(0)
    layer, bn, count = nn.Linear(2, 2), nn.BatchNorm1d(2), funtorch.zeros(3)
    optimizer = funtorch.optim.SGD(layer.parameters(), lr=0.1)

    def step(x):
        CHECKED[name](x)
        loss = bn(layer(x * funtorch.rand(4, 2))).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        count.add_(1)
        return loss

    def everything():
        tensors = [*layer.parameters(), *bn.buffers(), count, *(p.grad for p in layer.parameters()), funtorch.get_rng_state()]
        return [t.detach().clone() for t in tensors]

    compiled = funtorch.compile(step)
    for _ in range(4):
        compiled(SMALL.clone())
    assert compiled.counts["compiled"] >= 1
    before, failures = everything(), compiled.counts["guard_failures"]
    with pytest.raises(AssertionError, match="too large"):
        compiled(LARGE.clone())
    assert compiled.counts["guard_failures"] == failures + 1
    # A loop that has drawn no numbers, and what comes after the check has not run.
    assert all(funtorch.equal(a, b) for a, b in zip(before, everything(), strict=True))
    compiled(SMALL.clone())
    assert not funtorch.equal(before[0], everything()[0])


@pytest.mark.parametrize(("check", "kind"), [(funtorch._assert, AssertionError), (funtorch._assert_async, RuntimeError), (funtorch.compiler.check, RuntimeError)])  # fmt: skip
def test_the_three_checks(check, kind):
    for true in (funtorch.tensor(True), funtorch.tensor([2.0])):
        check(true, "no")
    for false in (funtorch.tensor(False), funtorch.tensor([[0]])):
        with pytest.raises(kind, match="no"):
            check(false, "no")
        with pytest.raises(kind, match="no"):
            cond(funtorch.tensor(True), lambda false=false: check(false, "no"), lambda: None)
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        check(funtorch.ones(2), "no")
    with pytest.raises(RuntimeError, match="no value is ambiguous"):
        check(funtorch.ones(0), "no")


def test_checks_of_python_values_and_default_texts():
    funtorch._assert(True, "no")
    funtorch.compiler.check(1 > 0, "no")
    with pytest.raises(AssertionError, match="no"):
        funtorch._assert([], "no")
    with pytest.raises(RuntimeError, match="no"):
        funtorch.compiler.check(False, "no")
    with pytest.raises(RuntimeError, match="single nonzero value, but got zero"):
        funtorch._assert_async(funtorch.tensor(0))


def test_the_first_failed_check_is_told():
    def f(x):
        funtorch._assert(x < 5, "five")
        funtorch._assert(x < 3, "three")
        return x

    def run(*values):
        scan(lambda c, a: (c, f(a)), funtorch.zeros(()), funtorch.tensor(values))

    for values, text in (((4.0, 6.0), "three"), ((6.0, 4.0), "five")):
        with pytest.raises(AssertionError, match=text):
            run(*values)


# NaN


class Spoilt(funtorch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return g * float("nan")


def root(x):
    return (x.sqrt() * 0).sum()  # this line


def compiled(x):
    return funtorch.compile(root)(x)


ZEROS = funtorch.zeros(2)
NANS = {
    "backward": ("SqrtBackward0", lambda: root(ZEROS.clone().requires_grad_()).backward()),
    "grad": ("SqrtBackward0", lambda: grad(root)(ZEROS)),
    "vmap of grad": ("SqrtBackward0", lambda: vmap(grad(root))(funtorch.zeros(3, 2))),
    "grad of vmap": ("SqrtBackward0", lambda: grad(lambda x: vmap(root)(x).sum())(funtorch.zeros(3, 2))),
    "jvp of grad": ("SqrtBackward0", lambda: jvp(grad(root), (ZEROS,), (ONES,))),
    "function": ("SpoiltBackward", lambda: Spoilt.apply(ZEROS.clone().requires_grad_()).sum().backward()),
    "compile": ("SqrtBackward0", lambda: compiled(ZEROS.clone().requires_grad_()).backward()),
    "scan": ("ScanBackward0", lambda: grad(lambda x: scan(lambda c, a: (c + root(a), None), ZEROS[0], x)[0])(ZEROS)),
    "loop": ("SqrtBackward0", lambda: grad(lambda x: vmap(root, mode="loop")(x).sum())(funtorch.zeros(3, 2))),
}


@pytest.mark.parametrize("name", NANS)
def test_anomaly_mode_names_op_and_line(name):
    op, run = NANS[name]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with funtorch.autograd.set_detect_anomaly(True), pytest.raises(RuntimeError, match=f"Function '{op}' returned nan"):
            run()
    text = str(told[-1].message)
    last = re.findall(r'File "(.*?)", line', text)[-1]
    assert f"Error detected in {op}" in text and last.endswith("test_debugging.py")
    if op == "SqrtBackward0":
        assert text.rstrip().endswith("# this line") or "x.sqrt()" in text.splitlines()[-1]


def test_anomaly_mode_without_nan_check_and_after_it():
    x = ZEROS.clone().requires_grad_()
    with funtorch.autograd.set_detect_anomaly(True, check_nan=False):
        root(x).backward()
    assert x.grad.isnan().all()
    f = funtorch.compile(root)
    with funtorch.autograd.set_detect_anomaly(True):
        for _ in range(3):
            f(ONES.clone().requires_grad_())
    assert f.counts["compiled"] == 0  # no program can tell the line
    for _ in range(3):
        f(ONES.clone().requires_grad_())
    assert f.counts["compiled"] == 1
