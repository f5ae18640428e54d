"""Tensors in others' memory: the same scripts in PyTorch and here, step by step, and what is not copied."""

import copy
import gc
import io
import pickle
import warnings

import numpy as np
import pytest
import torch
import torch.utils.checkpoint

import funtorch
import funtorch.utils.checkpoint

SCRIPTS = {}


def script(fn):
    SCRIPTS[fn.__name__] = fn
    return fn


def note(seen, *values):
    seen.append([np.array(v.detach().tolist() if hasattr(v, "detach") else v) for v in values])


def failure(run):
    try:
        run()
    except (TypeError, ValueError, RuntimeError) as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")
    return None


@script
def leaf(lib, seen):
    a = np.arange(4, dtype="f4")
    x = lib.from_numpy(a).requires_grad_()
    (x * x).sum().backward()
    note(seen, x.is_leaf, x.requires_grad, x.grad)
    a[1] = 10
    (x * x).sum().backward()
    note(seen, x, x.grad)
    with lib.no_grad():
        x -= 0.1 * x.grad
    note(seen, a, failure(lambda: x.add_(1)) == "RuntimeError", failure(x.numpy) == "RuntimeError")
    x.detach().numpy()[0] = 7
    x.data[1] = 3
    note(seen, x, a)


@script
def parameters(lib, seen):
    p = lib.nn.Parameter(lib.ones(3))
    w = p.detach().numpy()
    for optimizer in (lib.optim.Adam([p], lr=0.1), lib.optim.SGD([p], lr=0.1, momentum=0.9)):
        for k in range(3):
            optimizer.zero_grad(set_to_none=k == 0)
            (p * p).sum().backward()
            g = p.grad.numpy()
            optimizer.step()
            note(seen, w, g)
            g[:], w[k] = 1, k + 2.0
            optimizer.step()
            note(seen, w, p)
    (p * p).sum().backward()
    note(seen, g)


@script
def results_with_history(lib, seen):
    x = lib.ones(3, requires_grad=True)
    y = x * 2
    y.detach().numpy()[0] = 5
    note(seen, y, y.requires_grad)
    (y * 3).sum().backward()
    note(seen, x.grad)


@script
def strides(lib, seen):
    a = np.arange(12.0).reshape(3, 4)
    for b in (a.T, a[:, ::2], a[1:, 1:3], a[1], a[:0], a[0, 1:2].reshape(())):
        t = lib.from_numpy(b)
        note(seen, t, t.stride(), t.storage_offset(), t.is_contiguous(), t.is_leaf)
        t.mul_(2)
        if t.dim() and len(t):
            t[0] = 1
        note(seen, a)
        a += 1
        note(seen, t)
        (t.requires_grad_() * t).sum().backward()
        a += 1
        note(seen, t, t.grad, t.requires_grad)


@script
def views(lib, seen):
    x = lib.arange(12.0).reshape(3, 4)
    for v in (x.T, x[1:], x[:, 1], x.expand(2, 3, 4), x.view(2, 6), x[0, 0], x.diagonal(), x.unfold(1, 2, 1), x[None]):
        n = v.numpy()
        note(seen, n, n.strides)
    x.T.numpy()[0, 1] = 77
    note(seen, x, np.shares_memory(x.numpy(), x.T.numpy()))


@script
def versions(lib, seen):
    x = lib.zeros(3)
    n, v = x.numpy(), x[1:]
    n[0] = 1
    note(seen, x, x._version)
    x.add_(1)
    n[2] = 9
    note(seen, v, v._version)
    v.mul_(2)
    note(seen, n, x._version)


@script
def copies(lib, seen):
    x = lib.zeros(3)
    n, file = x.numpy(), io.BytesIO()
    n[1] = 1
    made = [copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.clone(), lib.tensor(n)]
    lib.save(x, file)
    n[:] = -1
    file.seek(0)
    note(seen, x, *made, lib.load(file))


@script
def shapes_changed_in_place(lib, seen):
    x = lib.arange(6.0).reshape(2, 3)
    n = x.numpy()
    x.t_()
    n[0, 1] = 50
    note(seen, x)
    x.mul_(2)
    x.unsqueeze_(0)
    note(seen, x, n)
    x = lib.arange(3.0)
    n = x.numpy()
    note(seen, failure(lambda: x.resize_(7)) == "RuntimeError")
    x.data = lib.ones(3)
    n[0] = 8
    x.add_(1)
    note(seen, x, n)
    x, y = lib.arange(3.0), lib.zeros(3)
    n = x.numpy()
    y.set_(x)
    y[0] = 4
    note(seen, n, x)


@script
def writes(lib, seen):
    x = lib.zeros(3)
    n = x.numpy()
    lib.add(lib.ones(3), 1, out=x)
    note(seen, n)
    np.add(n, 1, out=n)
    note(seen, x)
    a = np.arange(5)
    t = lib.from_numpy(a)
    t[t > 2] = 0
    t[lib.tensor([0, 1])] = 9
    note(seen, a)
    t[1:3].fill_(6)
    t.scatter_(0, lib.tensor([4]), 1)
    t.index_add_(0, lib.tensor([4]), lib.tensor([5]))
    note(seen, a, t.gather(0, lib.tensor([4])), t.take(lib.tensor([-1])))
    z = np.array([1 + 2j])
    t = lib.from_numpy(z)
    t.real.fill_(8)
    z += 3j
    note(seen, t.real, t.imag, z.real)


@script
def transforms(lib, seen):
    a = np.ones(3, "f4")
    s, x = lib.from_numpy(a), lib.arange(6.0).reshape(2, 3)
    dot = lambda row: (row * s).sum()  # noqa: E731
    note(seen, lib.func.vmap(dot)(x), lib.func.vmap(lambda r: r * 2)(s))
    a[0] = 5
    note(seen, lib.func.vmap(dot)(x), lib.func.grad(dot)(x[0]), lib.func.jvp(dot, (x[0],), (x[1],))[1])
    y = lib.ones(3, requires_grad=True)
    lib.utils.checkpoint.checkpoint(dot, y, use_reentrant=False).backward()
    note(seen, y.grad)


@script
def buffers(lib, seen):
    b = bytearray(8)
    t = lib.frombuffer(b, dtype=lib.int32)
    t[1], b[0] = 2, 7
    note(seen, list(b), t)
    a = np.zeros(2)
    for share in (lib.asarray, lib.as_tensor, lib.from_dlpack, lib.from_numpy):
        share(a)[0] += 1
    lib.asarray(a, copy=True)[0] = 9
    lib.as_tensor(a, dtype=lib.float32)[0] = 9
    np.from_dlpack(lib.as_tensor(a))[1] = 3
    note(seen, a)
    wrong = (
        lambda: lib.asarray(a, dtype=lib.float32, copy=False), lambda: lib.asarray([1], copy=False),
        lambda: lib.from_numpy(a[::-1]), lambda: lib.from_numpy(a.astype(">f4")), lambda: lib.from_numpy([1]),
        lambda: lib.from_numpy(np.array(["a"])), lambda: lib.frombuffer(bytearray(), dtype=lib.int8),
        lambda: lib.frombuffer(b, dtype=lib.int32, offset=3), lambda: lib.frombuffer(b, dtype=lib.int32, count=5),
        lambda: lib.frombuffer(b, dtype=lib.int32, offset=9),
    )  # fmt: skip
    errors = [failure(run) for run in wrong]
    assert None not in errors
    note(seen, errors)


@script
def loading(lib, seen):
    rows = np.arange(20.0).reshape(10, 2)
    data = lib.utils.data.TensorDataset(lib.from_numpy(rows))
    rows[3] = -5
    batches = [x for (x,) in lib.utils.data.DataLoader(data, batch_size=4)]
    samples = data.__getitems__([1, 2]) if lib is funtorch else [data[1], data[2]]
    given = lib.utils.data.default_convert(rows)
    note(seen, *[x for (x,) in samples])
    rows[0] = 3
    note(seen, *batches, given)


@pytest.mark.parametrize("name", SCRIPTS)
def test_as_in_pytorch(name):
    want, found = [], []
    SCRIPTS[name](torch, want)
    SCRIPTS[name](funtorch, found)
    assert want and len(want) == len(found)
    for step, (a, b) in enumerate(zip(want, found, strict=True)):
        for x, y in zip(a, b, strict=True):
            if x.dtype.kind in "US":
                assert x.tolist() == y.tolist()
            else:
                np.testing.assert_allclose(y, x, rtol=1e-5, err_msg=f"step {step}")


def test_a_gradient_is_that_of_the_values_used():
    a = np.ones(2)
    x, y = funtorch.from_numpy(a), funtorch.ones(2, requires_grad=True)
    z = (x * y).sum()
    a[:] = 100
    z.backward()
    assert y.grad.tolist() == [1, 1] and (x * y).tolist() == [100, 100]


def test_compiled_code_reads_and_writes_the_arrays():
    a, outcomes = np.ones(3, "f4"), []
    for wrap in (lambda f: f, funtorch.compile):
        a[:] = 1
        s, total = funtorch.from_numpy(a), funtorch.zeros(3)

        def step(x, total=total, s=s):
            total.add_(x * s)
            return (total * s).sum()

        run, seen = wrap(step), []
        for k in range(8):
            if k == 4:  # from here on its memory is shared
                n = total.numpy()
            note(seen, run(funtorch.ones(3) * k), total)
            a[k % 3] = k
            if k > 4:
                n[0] = k
                note(seen, n)
        outcomes.append([[v.tolist() for v in row] for row in seen])
    assert outcomes[0] == outcomes[1]
    assert run.counts["compiled"] >= 5


def test_views_as_arguments_of_compiled_code_are_read_anew():
    rows = np.arange(20.0).reshape(10, 2)
    x, run = funtorch.from_numpy(rows), funtorch.compile(lambda batch: batch.sum())
    for k in range(6):
        rows[k + 1] = -k
        assert run(x[k : k + 2]).item() == rows[k : k + 2].sum()
    assert run.counts["compiled"] >= 3


@pytest.mark.filterwarnings("ignore:funtorch.compile")
def test_a_write_inside_compiled_code_is_not_lost():
    a = np.zeros(2, "f4")

    @funtorch.compile
    def write(x):
        funtorch.from_numpy(a).add_(x)
        return x * 1

    for k in range(1, 5):
        write(funtorch.ones(2))
        assert a.tolist() == [k, k]
    looked_at = funtorch.compile(lambda x: x.numpy().__setitem__(0, 1.0))
    with pytest.raises(ValueError, match="read-only"):
        looked_at(funtorch.ones(2))


def test_a_write_inside_a_transform_reaches_the_array_at_its_end():
    a = np.ones(3, "f4")
    s = funtorch.from_numpy(a)

    def f(x):
        s.add_(1)
        return (x * s).sum()

    assert funtorch.vmap(f)(funtorch.ones(2)).tolist() == [6, 6] and a.tolist() == [2, 2, 2]

    def fails(x):
        s.add_(1)
        raise KeyError

    with pytest.raises(KeyError):
        funtorch.vmap(fails)(funtorch.ones(3))
    assert a.tolist() == s.tolist() == [2, 2, 2]
    a[0] = 9
    assert s.tolist() == [9, 2, 2]


def test_read_only_memory_is_never_written():
    a = np.zeros(2)
    a.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, y = funtorch.from_numpy(a), funtorch.frombuffer(b"\0\0", dtype=funtorch.int8)
    for t in (x, y):
        t[0] = 1
        t.add_(1)
        assert t.tolist() == [2, 1]
    assert a.tolist() == [0, 0]


@pytest.fixture
def auto():
    with funtorch.set_engine("auto"):
        yield


def test_an_array_that_nobody_else_holds_is_taken_as_it_is(auto):
    a = np.zeros((3, 2))
    address = a.ctypes.data
    x, y = funtorch.from_numpy(a), funtorch.from_numpy(np.zeros((3, 2)).reshape(2, 3))
    assert y.sum().item() == 0 and y._source is None
    a[0, 0] = 5
    del a
    gc.collect()
    assert x.sum().item() == 5 and x._source is None
    assert x.numpy().ctypes.data == address
    assert x.sum().item() == 5 and x._source is None


def test_what_is_not_read_is_not_copied(auto):
    rows = np.zeros((1000, 8), "f4")
    x = funtorch.from_numpy(rows)
    places = funtorch.tensor([5, 7])
    funtorch.zeros(1000, 8).index_select(0, places)  # the first call of an op for a shape looks at everything
    for _ in range(3):
        assert x.shape == (1000, 8) and len(x) == 1000
        for part in (x[3:5], x[places], x.index_select(0, places), x.unsqueeze(1)[2:4].squeeze(1), x.detach()[1:3]):
            assert part.sum().item() == 0
    x[0], x[1:3] = 4.0, 5.0
    assert rows[:4, 0].tolist() == [4, 5, 5, 0]
    assert x._payload.strides == (0, 0)  # a stand-in still
    assert x.sum().item() == 8 * 14


def test_an_ordinary_tensor_shares_nothing():
    x = funtorch.ones(2)
    for made in (x + 1, x.clone(), x[0], funtorch.tensor(np.ones(2)), funtorch.Tensor(np.ones(2))):
        assert made._source is made._base


@pytest.mark.parametrize("op", ["gather", "index_select", "take", "take_along_dim"])
@pytest.mark.parametrize("held", [False, True])
def test_picks_from_arrays_that_are_dropped_or_held(op, held):
    a, places = np.arange(6.0).reshape(2, 3), np.array([[1, 0, 1]])
    kept = (a, places) if held else ()
    given = {"gather": (0, places), "take_along_dim": (places, 0), "index_select": (0, places[0]), "take": (places,)}[op]
    arguments = [funtorch.from_numpy(g) if held else funtorch.from_numpy(g.copy()) for g in given if isinstance(g, np.ndarray)]
    x = funtorch.from_numpy(a if held else a.copy())
    others = iter(arguments)
    got = getattr(funtorch, op)(x, *[next(others) if isinstance(g, np.ndarray) else g for g in given])
    expected = {"gather": a[[1, 0, 1], [0, 1, 2]][None], "take_along_dim": a[[1, 0, 1], [0, 1, 2]][None], "index_select": a[[1, 0, 1]],
                "take": a.reshape(-1)[places]}[op]  # fmt: skip
    assert got.tolist() == expected.tolist() and (not held or kept)


def test_an_index_that_is_written_after_its_use_was_copied():
    places, x = np.array([0, 1, 1]), funtorch.arange(3.0).requires_grad_()
    y = funtorch.gather(x, 0, funtorch.from_numpy(places))
    places[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 2.0, 0.0]


@pytest.mark.parametrize("lib", [torch, funtorch], ids=["torch", "funtorch"])
def test_tensors_in_files(lib, tmp_path):
    file = str(tmp_path / "numbers")

    def held():
        return np.fromfile(file, np.float32).tolist()

    x = lib.from_file(file, shared=True, size=4)
    x.add_(1)
    x[2] = 7
    x[1:].mul_(3)
    assert held() == [1, 3, 21, 3] == x.tolist()
    for _ in range(3):
        x += 1
    mine = lib.from_file(file, shared=False, size=2)
    mine.add_(5)
    assert mine.tolist() == [9, 11] and held() == [4, 6, 24, 6]
    del x, mine
    assert held() == [4, 6, 24, 6]
    assert lib.from_file(file, True, 6, dtype=lib.int32, requires_grad=False).shape == (6,) and len(held()) == 6
    with pytest.raises(RuntimeError):
        lib.from_file(file, size=100)
    with pytest.raises(RuntimeError):
        lib.from_file(str(tmp_path / "nothing"), size=1)
