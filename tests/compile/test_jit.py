"""transforms.jit: pure functions by JAX's rules, under every transform."""

import numpy as np
import pytest
from harness import net, tensor

import funtorch
from funtorch.core.state import state
from funtorch.func import functional_call, grad, hessian, jvp, vmap
from funtorch.transforms import jit


def test_runs_once_for_each_shape_and_dtype():
    runs = []

    @jit
    def double(x):
        runs.append(tuple(x.shape))
        return x * 2

    for n in (1, 2, 1, 2, 1):
        assert double(funtorch.ones(n)).tolist() == [2.0] * n
    assert double(funtorch.ones(2, dtype=funtorch.int64)).dtype == funtorch.int64
    assert runs == [(1,), (2,), (2,)]


def test_containers_and_numbers():
    run = jit(lambda d, k, *, shift: {"a": d["x"][0] * k, "b": (d["x"][1] + shift, 3)})
    out = run({"x": [tensor(1.0), tensor(2.0)]}, 4.0, shift=np.float64(0.5))
    assert out["a"].tolist() == [4.0] and out["b"][0].tolist() == [2.5] and out["b"][1].item() == 3


def test_static_arguments():
    runs = []

    def power(x, n, how="mul"):
        runs.append((n, how))
        for _ in range(n - 1):
            x = x * x if how == "mul" else x + x
        return x

    run = jit(power, static_argnums=1, static_argnames="how")
    assert run(tensor(3.0), 2).item() == 9.0 and run(tensor(2.0), 2).item() == 4.0
    assert run(tensor(3.0), 2, how="add").item() == 6.0 and run(tensor(3.0), 3, "mul").item() == 81.0
    assert run(tensor(3.0), n=2).item() == 9.0
    assert runs == [(2, "mul"), (2, "add"), (3, "mul"), (2, "mul")]
    with pytest.raises(ValueError, match="static argument 1 is a list, which can't be hashed"):
        run(tensor(3.0), [2])
    with pytest.raises(TypeError, match="the argument 'mul' is a str, which is no Tensor"):
        jit(power, static_argnums=1)(tensor(3.0), 2, "mul")


def wavy(x):
    return (x.sin() * x).sum() + x.prod()


@pytest.mark.parametrize(
    "transform",
    [grad, hessian, lambda f: vmap(lambda r: f(r.expand(2) * 1)), lambda f: lambda x: jvp(f, (x,), (x,)), lambda f: grad(jit(f))],
)
def test_transforms_inside_and_outside(transform):
    x = tensor(0.3, 0.7)
    expected = transform(wavy)(x)
    for found in (transform(jit(wavy))(x), jit(transform(wavy))(x), jit(transform(jit(wavy)))(x)):
        for a, b in zip(*(p if isinstance(p, tuple) else (p,) for p in (found, expected)), strict=True):
            assert funtorch.allclose(a, b, rtol=1e-12)


def test_backward_through_a_program():
    x = tensor(0.3, 0.7).requires_grad_()
    y = jit(wavy)(x)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), grad(wavy)(x.detach()).numpy(), rtol=1e-12)


def test_functional_training_step():
    model = net()
    parameters = {k: v.detach() for k, v in model.named_parameters()}

    def loss(parameters, x):
        return functional_call(model, parameters, (x,)).pow(2).sum()

    @jit
    def step(parameters, x, rate):
        slopes = grad(loss)(parameters, x)
        return {k: v - rate * slopes[k] for k, v in parameters.items()}

    x = funtorch.ones(2, 3)
    first = loss(parameters, x).item()
    for _ in range(5):
        parameters = step(parameters, x, 0.05)
    assert loss(parameters, x).item() < first
    assert all(v.grad is None for v in model.parameters())


def test_inside_compile():
    inner = jit(lambda x, k: x * k)
    w = tensor(2.0)
    run = funtorch.compile(lambda x: inner(x, w).sum())
    for i in range(4):
        w.fill_(1.0 + i)
        assert run(tensor(3.0)).item() == 3.0 * (1 + i)
    assert run.counts["compiled"] == 2


def test_donated_arguments():
    run = jit(lambda x, y: x + y, donate_argnums=0)
    x = run(funtorch.ones(4), funtorch.ones(4))
    kept = x.detach()
    y = run(x, funtorch.ones(4))
    assert y.tolist() == [3.0] * 4 and kept.tolist() == [2.0] * 4  # someone else holds it: copied first
    del kept
    z = run(y, funtorch.ones(4))
    assert z.tolist() == [4.0] * 4
    with pytest.raises(RuntimeError, match="deleted"):
        y + 1


def test_what_is_not_pure_is_refused():
    w = funtorch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"changes a Tensor of shape \[2\]"):
        jit(lambda x: w.data.add_(x))(funtorch.ones(2))
    with pytest.raises(RuntimeError, match="random numbers"):
        jit(lambda x: x + funtorch.rand(2))(funtorch.ones(2))
    with pytest.raises(RuntimeError, match="the gradient of a Tensor"):
        jit(lambda x: (w * x).sum().backward())(funtorch.ones(2))
    with pytest.raises(RuntimeError, match="bool\\(\\)"):
        jit(lambda x: x if x.sum() > 0 else -x)(funtorch.ones(2))
    with pytest.raises(TypeError, match="the result 'name' is a str"):
        jit(lambda x: (x, "name"))(funtorch.ones(2))
    with pytest.raises(TypeError, match="expected a function"):
        jit(3)
    assert state.recorder is None and not state.levels and w.tolist() == [0.0, 0.0] and w.grad is None


def test_writes_to_its_own_tensors():
    def step(x):
        y = x * 1
        y[0] = 5
        x.add_(1)
        return y + x

    x = tensor(1.0, 2.0)
    assert jit(step)(x).tolist() == [7.0, 5.0] and x.tolist() == [1.0, 2.0]


def test_methods_and_decorators():
    class Model:
        scale = 3.0

        @jit(static_argnums=0)
        def times(self, x):
            return x * self.scale

    assert Model().times(tensor(2.0)).item() == 6.0
