"""Views, in-place writes, detach, .data and versions, with gradients."""

import pytest
from same import caught, check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def leaf(m, *values):
    return m.tensor(values, dtype=m.float64, requires_grad=True)


@program
def leaf_in_place(m):
    x = leaf(m, 1.0, 2.0)
    with m.no_grad():
        x.mul_(3)
    return caught(lambda: x.add_(1), 0), caught(lambda: x[0].add_(1), 0), caught(lambda: x.__setitem__(0, 1.0), 0), x


@program
def view_of_a_result(m):
    x = leaf(m, 1.0, 2.0, 3.0)
    y = x * 2
    v = y[1:]
    v.mul_(10)
    (y**2).sum().backward()
    return y, v, x.grad, y.requires_grad, v.is_leaf


@program
def write_a_recorded_value_into_a_plain_tensor(m):
    x, base = leaf(m, 1.0, 2.0), m.zeros(3, dtype=m.float64)
    view = base[:2]
    before = view.requires_grad
    base[1:] = x
    (base**2 + base).sum().backward()
    return base, view, before, view.requires_grad, base.requires_grad, x.grad


@program
def write_through_a_chain(m):
    x = leaf(m, 1.0, 2.0, 3.0, 4.0)
    y = (x * 1).view(2, 2)
    y.t()[0].add_(x[:2] * 5)
    y[:, 1].exp_()
    z = (y * m.tensor([[1.0, 2], [3, 4]], dtype=m.float64)).sum()
    z.backward()
    return y, x.grad


@program
def stale_view_reads_its_base(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 1
    v = y.view(2, 1)
    y.mul_(x)
    v.sum().backward()
    return v, x.grad


@program
def base_overwritten(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 1
    y.fill_(3)
    y[0] = 7.0
    return y, y.requires_grad, m.autograd.grad(y.sum(), x)


@program
def several_views(m):
    x = leaf(m, 1.0, 2.0, 3.0, 4.0)
    parts = (x * 1).split(2)
    rows = (x * 1).view(2, 2).unbind(0)
    return caught(lambda: parts[0].add_(1), 3), caught(lambda: rows[1].mul_(2), 0), caught(lambda: (x * 1).chunk(2)[0].zero_(), 3)


@program
def several_views_without_history(m):
    x = m.arange(4.0)
    a, b = x.split(2)
    a.add_(10)
    with m.no_grad():
        x.chunk(2)[1].zero_()
    return x, a, b


@program
def detached(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 3
    d = y.detach()
    d[0] = 100.0
    return y, d, d.requires_grad, d.is_leaf, (y.sum() * d.sum()).item(), m.autograd.grad(y.sum() * d.sum(), x)


@program
def detach_in_place(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 3
    y.detach_()
    return y.requires_grad, y.is_leaf, caught(lambda: (x * 3)[0].detach_(), 4)


@program
def data(m):
    x = leaf(m, 1.0, 2.0)
    x.data.mul_(5)
    x.data[0] = 9.0
    y = (x * x).sum()
    x.data = m.tensor([3.0, 4.0], dtype=m.float64)
    other = (x * x).sum()
    other.backward()
    return x, x.is_leaf, x.requires_grad, y, x.grad, caught(lambda: setattr(x, "data", 1), 3)


@program
def no_grad_write_keeps_history(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 3
    with m.no_grad():
        y.mul_(2)
    return y, y.requires_grad, m.autograd.grad(y.sum(), x)


@program
def no_grad_view(m):
    x = leaf(m, 1.0, 2.0)
    with m.no_grad():
        v = x[:1]
        v.add_(1)
    return x, m.autograd.grad((x * x).sum(), x)


@program
def versions(m):
    x = m.zeros(3)
    found = [x._version]
    x.add_(1)
    x[0] = 5
    found.append(x._version)
    x.view(3).mul_(2)
    x.detach().add_(1)
    found.append(x._version)
    y = x + 1
    found.append(y._version)
    m.autograd.graph.increment_version(x)
    found.append(x._version)
    return found


@program
def requires_grad_set_late(m):
    x = m.zeros(2, dtype=m.float64)
    y = x + 1
    x.requires_grad_()
    z = x * 2 + y
    return y.requires_grad, m.autograd.grad(z.sum(), x), caught(lambda: z.requires_grad_(False), 5)


@program
def out_argument(m):
    x, out = leaf(m, 1.0, 2.0), m.zeros(2, dtype=m.float64)
    with m.no_grad():
        m.mul(x, 2, out=out)
    return out, out.requires_grad, caught(lambda: m.mul(x, 2, out=out), 0)


@program
def copies(m):
    x = leaf(m, 1.0, 2.0)
    y = m.zeros(2, dtype=m.float64)
    y.copy_(x)
    f = m.zeros(2)
    f.copy_(x * 2)
    return m.autograd.grad((y * y).sum() + f.sum().double(), x), f.dtype == m.float32


@program
def masked_and_indexed_writes(m):
    x = leaf(m, 1.0, -2.0, 3.0)
    y = x * 1
    y[y < 0] = 0.0
    y[m.tensor([0, 2])] *= 3
    z = m.zeros(3, dtype=m.float64)
    z.index_add_(0, m.tensor([0, 0, 1]), y)
    z.scatter_(0, m.tensor([2]), x[:1] * 7)
    return z, m.autograd.grad((z * z).sum(), x)


@program
def custom_loop_with_state(m):
    x = leaf(m, 0.5, -0.5)
    state, total = m.zeros(2, dtype=m.float64), m.zeros((), dtype=m.float64)
    for step in range(4):
        state = state.clone()
        state[step % 2] = (state.sum() + x[step % 2]).tanh()
        total += state.prod()
    return total, m.autograd.grad(total, x)


@program
def a_retained_gradient_is_that_of_the_value_written_last(m):
    kept = []
    for write in (lambda a: a.mul_(2), lambda a: a[0].mul_(2), lambda a: a.view(-1).exp_(), lambda a: a[:1].copy_(a[1:] * 3)):
        x = leaf(m, 1.0, 2.0)
        a = x * 1
        part = a[:1]
        a.retain_grad()
        part.retain_grad()
        write(a)
        ((a * a).sum() + (part**3).sum()).backward()
        kept.append((a.grad, part.grad, x.grad))
    return kept


@program
def a_value_without_gradient_over_all_of_one_with(m):
    found = []
    for write in (
        lambda a: a.copy_(m.zeros(2)),
        lambda a: a[:].copy_(m.ones(2)),
        lambda a: a.normal_().zero_(),
        lambda a: a.zero_(),
    ):
        x = leaf(m, 1.0, 2.0)
        a = x * 2
        write(a)
        found.append((a, a.requires_grad, a.is_leaf, m.autograd.grad(a.sum(), x)))
    return found


@program
def a_leaf_that_no_longer_requires_grad(m):
    x, y, z = leaf(m, 1.0), leaf(m, 2.0), leaf(m, 3.0)
    loss = (x * y * z).sum()
    x.detach_()
    y.requires_grad_(False)
    loss.backward()
    return x.grad, y.grad, z.grad


@program
def shapes_changed_in_place_beside_views(m):
    found = []
    for change in (lambda a: a.unsqueeze_(0), lambda a: a.t_(), lambda a: a[None].squeeze_(), lambda a: a.transpose_(0, 1)):
        x = m.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], dtype=m.float64, requires_grad=True)
        a = x * 1
        row, turned = a[0], a.mT
        change(a)
        a.mul_(2)
        row.add_(turned[0, 1])
        found.append((a, row, turned, a.stride(), a._version, row._version, m.autograd.grad((a**2).sum() + row.sin().sum(), x)))
    return found


@program
def shapes_changed_in_place_without_grad_mode(m):
    x = m.tensor([[1.0, 2.0, 3.0]], dtype=m.float64, requires_grad=True)
    a = x * 1
    with m.no_grad():
        a.t_()
        x.t_()
    return a, a.requires_grad, a.is_leaf, x, x.requires_grad, x.is_leaf, caught(lambda: x.t_(), 0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)
