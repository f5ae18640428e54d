"""Views and aliases: results that share elements with arguments, cells and each other; writes through them."""

from harness import Cases, Plan, batch, parameter, tensor

import funtorch

cases = Cases()


@cases(10)
def a_transposed_argument():
    return Plan(lambda x: x.t(), batch(2, 3))


@cases(10)
def the_argument_itself():
    return Plan(lambda x, y: (y, x), lambda i: (*batch(2)(i), *batch(2)(i + 30)))


@cases(10)
def the_same_result_twice():
    def step(x):
        y = x * 2
        return y, y

    return Plan(step, batch(2))


@cases(10)
def a_view_and_its_base():
    def step(x):
        y = x * 2
        return y, y[0], y.t()

    return Plan(step, batch(2, 2))


@cases(10)
def a_view_whose_base_is_not_returned():
    return Plan(lambda x: ((x * 2).t(), (x + 1)[0]), batch(2, 3))


@cases(10)
def two_views_of_one_hidden_base():
    def step(x):
        y = x * 2
        return y[:2], y[1:]

    return Plan(step, batch(3))


@cases(10)
def a_cell_returned():
    w = tensor(1.0, 2.0)
    return Plan(lambda x: (w.add_(x), w), batch(2), {"w": w})


@cases(10)
def a_view_of_a_cell():
    w = funtorch.arange(6.0).reshape(2, 3).clone()

    def step(x):
        w.add_(x)
        return w[0], w.t(), w.detach()

    return Plan(step, lambda i: (tensor(1.0 * i),), {"w": w})


@cases(10)
def a_view_of_a_parameter():
    w = parameter(2, 3)
    return Plan(lambda x: (w[0], w * x), lambda i: (tensor(1.0 + i),), {"w": w})


@cases(10)
def a_view_at_a_traced_place():
    w = funtorch.arange(4.0)
    return Plan(lambda k: w[k], lambda i: (funtorch.tensor(i % 4),), {"w": w})


@cases(10)
def views_written():
    def step(x, k):
        x[0].mul_(2)
        x.t()[1].add_(k)
        x.view(-1)[::2] = 7
        return x.sum()

    return Plan(step, lambda i: (*batch(2, 2)(i), tensor(1.0 * i)[0]))


@cases(10)
def a_view_read_after_its_base_was_written():
    def step(x):
        row = x[0]
        x.mul_(2)
        return row + 1, row

    return Plan(step, batch(2, 2))


@cases(10)
def an_argument_that_is_a_view():
    base = funtorch.arange(12.0).reshape(6, 2).clone()
    return Plan(lambda row: row * 2, lambda i: (base[i % 6],), {"base": base})


@cases(10)
def a_fresh_view_that_is_written():
    def args(i):
        base = funtorch.full((3, 2), float(i))
        kept.append(base)
        return (base[1],)

    kept = []
    return Plan(lambda row: row.add_(1).sum(), args, {"bases": lambda: [b.tolist() for b in kept]})


@cases(4)
def different_views_of_one_base_written():
    base = funtorch.zeros(2, 2)
    return Plan(lambda row, x: row.add_(x), lambda i: (base[i % 2], *batch(2)(i)), {"base": base})


@cases(8)
def an_argument_and_its_view():
    def step(x, row):
        x.mul_(2)
        return row + 1

    def args(i):
        (x,) = batch(2, 2)(i)
        return x, x[0] if i % 2 else x[1]

    return Plan(step, args)


@cases(8)
def a_view_and_what_is_not_one():
    def step(x, row):
        x.mul_(2)
        return row + 1

    def args(i):
        (x,) = batch(2, 2)(i)
        return x, x[0] if i % 2 else x[0].clone()

    return Plan(step, args)


@cases(10)
def a_view_of_a_view_of_an_argument():
    return Plan(lambda row: row[1:], lambda i: (batch(3, 4)(i)[0][i % 3],))


@cases(10)
def the_argument_that_is_a_view_grown_back():
    return Plan(lambda row: (row.unsqueeze(0), row.flip(0)), lambda i: (batch(3, 2)(i)[0][1],))


@cases(10)
def detached_results():
    w = parameter(2)

    def step(x):
        y = w * x
        return y.detach(), y, w.detach(), w.data

    return Plan(step, batch(2), {"w": w})


@cases(10)
def expanded_and_chunked():
    def step(x):
        a, b = x.chunk(2)
        return x.expand(3, 4), a, b * 1

    return Plan(step, batch(4))


@cases(8)
def f_of_x_and_x():
    def step(x, y):
        x.add_(1)
        return x * y, x is y

    def args(i):
        (x,) = batch(2)(i)
        return (x, x) if i % 2 else (x, *batch(2)(i + 30))

    return Plan(step, args)


@cases(6)
def argument_and_closure_at_once():
    w = tensor(2.0, 3.0)
    return Plan(lambda x: x.mul_(2) + w, lambda i: (w,) if i % 6 < 3 else batch(2)(i), {"w": w})


@cases(10)
def reshaped_and_contiguous():
    return Plan(lambda x: (x.t().contiguous(), x.reshape(-1), x.view(3, 2) + 0, x.t().is_contiguous()), batch(2, 3))


@cases(10)
def diagonal_written():
    def step(x):
        x.diagonal().fill_(1)
        x.diagonal().add_(x.sum())
        return x.diagonal()

    return Plan(step, batch(2, 2))


@cases(10)
def split_and_joined():
    def step(x):
        parts = x.split(1)
        parts = [p * k for k, p in enumerate(parts)]
        return funtorch.cat(parts), funtorch.stack(parts)

    return Plan(step, batch(3, 2))


@cases(10)
def unfolded_and_strided():
    return Plan(lambda x: (x.unfold(0, 2, 1) * 1, x[::2], x.as_strided((2, 2), (1, 2)) + 0), batch(6))


def test_a_view_result_goes_on_being_one():
    run = funtorch.compile(lambda x: x.t())
    for _ in range(5):
        x = funtorch.ones(2, 2)
        run(x)[0].zero_()
        assert x.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert run.counts["compiled"] >= 3


def test_two_results_go_on_sharing():
    def step(x):
        y = x * 2
        return y, y[0]

    run = funtorch.compile(step)
    for _ in range(5):
        y, row = run(funtorch.ones(2, 2))
        y.zero_()
        assert row.tolist() == [0.0, 0.0]
        row.add_(1)
        assert y.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert run.counts["compiled"] >= 3


def test_views_of_detached_results_go_on_sharing():
    views = (
        lambda x, cell: x.detach().detach(),
        lambda x, cell: x.detach()[:1],
        lambda x, cell: x[:1].detach().view(1),
        lambda x, cell: cell.copy_(x).detach()[:1],
        lambda x, cell: (x * 2).detach()[:1],
    )
    for view in views:
        found = []
        for wrap in (lambda f: f, funtorch.compile):
            cell, seen = funtorch.zeros(2), []

            def step(x, view=view, cell=cell):
                y = x * 3
                return view(x, cell), y.detach()[:1], y

            run = wrap(step)
            for _ in range(5):
                x = funtorch.ones(2)
                result, part, whole = run(x)
                result.add_(1)
                part.add_(1)
                seen.append([t.tolist() for t in (x, cell, result, whole)])
            found.append(seen)
        assert found[0] == found[1]
        assert run.counts["compiled"] >= 3


def test_shapes_changed_in_place():
    def of_argument(x, count):
        return x.unsqueeze_(0) * 2, count

    def turned(x, count):
        x.t_()
        count.add_(x[0].sum())
        return x[1] * 1, count

    def resized(x, count):
        x.resize_(2)
        return x.sum(), count

    for step in (of_argument, turned, resized):
        run = funtorch.compile(step)
        count, counted = funtorch.zeros(()), funtorch.zeros(())
        for i in range(5):
            x, y = funtorch.arange(6.0).reshape(2, 3) + i, funtorch.arange(6.0).reshape(2, 3) + i
            expected, found = step(x, count)[0], run(y, counted)[0]
            assert (x.tolist(), expected.tolist(), count.item()) == (y.tolist(), found.tolist(), counted.item())
        assert run.counts["compiled"] >= 3


def test_shapes_of_outer_tensors_changed_in_place():
    buffer = funtorch.zeros(2, 3)

    @funtorch.compile
    def step(x):
        buffer.t_()
        return buffer.add_(1)[0] * x

    for i in range(6):
        assert step(funtorch.tensor(2.0)).tolist() == [2.0 * (i + 1)] * (2 if i % 2 == 0 else 3)
        assert buffer.shape == ((3, 2) if i % 2 == 0 else (2, 3))


test_views = cases.test
