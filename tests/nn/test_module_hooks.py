"""Hooks on a Module's calls and on its backward pass, its own and those for all Modules."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import OrderedDict, namedtuple

import pytest
import torch

import funtorch.nn.modules.module
from funtorch.nn import module_hooks
from funtorch.utils.hooks import RemovableHandle

X = [1.0, 2.0]
FOR_ALL = {"torch": torch.nn.modules.module, "funtorch": funtorch.nn.modules.module}


def doubler(k):
    class Double(k.nn.Module):
        def forward(self, x, scale=2):
            return x * scale

    return Double()


def test_forward_hooks_see_and_replace(alike):
    def build(k):
        m, seen = doubler(k), []
        m.register_forward_pre_hook(lambda module, args: seen.append(("pre", module, args)))
        m.register_forward_pre_hook(lambda module, args: args[0] + 1)
        m.register_forward_pre_hook(lambda module, args: (args[0] + 1,))
        m.register_forward_pre_hook(lambda mod, args, kw: (args, {**kw, "scale": 10}), with_kwargs=True)
        m.register_forward_pre_hook(lambda mod, args, kw: seen.append((args, kw)), with_kwargs=True)
        m.register_forward_hook(lambda module, args, out: seen.append(("post", module, args, out)))
        m.register_forward_hook(lambda module, args, out: out - 1)
        m.register_forward_hook(lambda module, args, kw, out: seen.append((kw, out)), with_kwargs=True)
        return m(k.tensor(X)), m(k.tensor(X), scale=5), seen

    alike(build)


def test_order_of_hooks(alike):
    def build(k, lib):
        m, seen = doubler(k), []
        note = lambda word: lambda *_: seen.append(word)  # noqa: E731
        for name in "ab":
            m.register_forward_hook(note(name))
            m.register_forward_hook(note("first " + name), prepend=True)
            m.register_forward_pre_hook(note("pre " + name))
            m.register_forward_pre_hook(note("first pre " + name), prepend=True)
        handles = [
            lib.register_module_forward_hook(note("all")),
            lib.register_module_forward_pre_hook(note("all pre")),
        ]
        m(1)
        for handle in handles:
            handle.remove()
        m(1)
        return seen

    alike(lambda k: build(k, FOR_ALL[k.lib.__name__]))


def test_wrong_result_of_a_pre_hook(alike):
    def build(k):
        m = doubler(k)
        m.register_forward_pre_hook(lambda module, args, kwargs: 5, with_kwargs=True)
        return m(1)

    alike(build)


def test_always_called_hooks(alike):
    def build(k):
        class Fails(k.nn.Module):
            def forward(self, x):
                raise ValueError("boom")

        m, seen = Fails(), []
        m.register_forward_hook(lambda module, args, out: seen.append((args, out)), always_call=True)
        m.register_forward_hook(lambda module, args, out: seen.append("never"))
        m.register_forward_hook(lambda module, args, kw, out: seen.append((kw, out)), always_call=True, with_kwargs=True)
        try:
            m(3)
        except ValueError as error:
            seen.append(str(error))
        return seen

    alike(build)


def test_always_called_hooks_after_a_failing_hook(alike):
    def build(k):
        def fails(*_):
            raise KeyError("hook")

        m, seen = doubler(k), []
        m.register_forward_hook(lambda module, args, out: seen.append(1), always_call=True)
        m.register_forward_hook(fails)
        m.register_forward_hook(lambda module, args, out: seen.append("never"))
        m.register_forward_hook(lambda module, args, out: seen.append(("last", out)), always_call=True)
        try:
            m(3)
        except KeyError:
            return seen

    alike(build)


def test_an_error_in_an_always_called_hook_is_a_warning(alike):
    def build(k):
        def fails(*_):
            raise KeyError("hook" if isinstance(_[0], k.nn.Module) else "x")

        class Fails(k.nn.Module):
            def forward(self, x):
                raise ValueError("boom")

        m = Fails()
        m.register_forward_hook(fails, always_call=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with pytest.raises(ValueError, match="boom"):
                m(3)
        return [str(w.message) for w in caught]

    alike(build)


def pair(k):
    class Pair(k.nn.Module):
        def forward(self, a, b=None, word="x"):
            return a * 2, a * 3 if b is None else a * b, word

    return Pair()


def watched(k, m, seen):
    m.register_full_backward_hook(lambda module, gi, go: seen.append(("after", gi, go)))
    m.register_full_backward_pre_hook(lambda module, go: seen.append(("before", go)))
    return m


BACKWARD = {
    "one output of two": lambda k, m, x: m(x)[0].sum(),
    "both outputs": lambda k, m, x: sum(out.sum() for out in m(x, x)[:2]),
    "two inputs": lambda k, m, x: (m(x, x * 2)[1] * k.tensor([1.0, 3.0])).sum(),
    "one input of two requires grad": lambda k, m, x: m(x, k.tensor([5.0, 6.0]))[1].sum(),
    "one input of two is used": lambda k, m, x: m(x, x * 2)[0].sum(),
    "integers among the inputs": lambda k, m, x: m(x, k.tensor([5, 6]))[1].sum(),
    "words among the inputs": lambda k, m, x: m(x, x, "word")[1].sum(),
    "nothing requires grad": lambda k, m, x: (m(k.tensor(X)), x)[1].sum(),
}


@pytest.mark.parametrize("name", BACKWARD)
def test_full_backward_hooks_see_gradients(alike, name):
    def build(k):
        seen, x = [], k.tensor(X, requires_grad=True)
        BACKWARD[name](k, watched(k, pair(k), seen), x).backward()
        return seen, x.grad

    alike(build)


def test_backward_hooks_replace_gradients(alike):
    def build(k):
        m, x = k.Affine(2, 2), k.tensor(X, requires_grad=True)
        m.register_full_backward_hook(lambda module, gi, go: (gi[0] * 10,))
        m.register_full_backward_hook(lambda module, gi, go: (gi[0] + 1,))
        m.register_full_backward_pre_hook(lambda module, go: (go[0] * 3,))
        m(x).sum().backward()
        return x.grad, m.weight.grad, m.bias.grad

    alike(build)


def test_a_tensor_may_be_returned_for_a_tuple_of_one(kit):
    m, x = doubler(kit), kit.tensor(X, requires_grad=True)
    m.register_full_backward_hook(lambda module, gi, go: gi[0] * 10)
    m(x).sum().backward()
    assert x.grad.tolist() == [20.0, 20.0]


WRONG_HOOKS = {
    "too many inputs": lambda m: m.register_full_backward_hook(lambda module, gi, go: (1, 2)),
    "too many outputs": lambda m: m.register_full_backward_pre_hook(lambda module, go: (1, 2)),
    "two kinds": lambda m: (m.register_backward_hook(print), m.register_full_backward_hook(print)),
    "two kinds, other order": lambda m: (
        m.register_full_backward_hook(print),
        m.register_backward_hook(print),
    ),
}


@pytest.mark.parametrize("name", WRONG_HOOKS)
def test_wrong_backward_hooks(alike, name):
    def build(k):
        m = doubler(k)
        WRONG_HOOKS[name](m)
        m(k.tensor(X, requires_grad=True)).sum().backward()

    alike(build)


def test_backward_hooks_without_inputs_that_require_grad(alike):
    def build(k):
        seen, m = [], watched(k, k.Affine(2, 2), seen := [])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m(k.tensor(X)).sum().backward()
        words = [str(w.message)[:105] for w in caught if "Full backward hook" in str(w.message)]
        return seen, words, m.weight.grad

    alike(build)


def test_replacing_a_gradient_that_nobody_computes(alike):
    def build(k):
        m = k.Affine(2, 2)
        m.register_full_backward_hook(lambda module, gi, go: (k.tensor(X),))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m(k.tensor(X)).sum().backward()

    alike(build)


def test_an_output_that_hooks_cannot_see(alike):
    def build(k):
        class InDict(k.nn.Module):
            def forward(self, x):
                return {"out": x * 2}

        seen, m, x = [], InDict(), k.tensor(X, requires_grad=True)
        m.register_full_backward_hook(lambda *args: seen.append(args))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            m(x)["out"].sum().backward()
        return seen, [str(w.message) for w in caught], x.grad

    alike(build)


def test_named_tuples_stay_named(kit):
    Two = namedtuple("Two", "a b")

    class Named(kit.nn.Module):
        def forward(self, x):
            return Two(x * 2, 3)

    m, seen = Named(), []
    m.register_full_backward_hook(lambda module, gi, go: seen.append(go))
    out = m(kit.tensor(X, requires_grad=True))
    assert isinstance(out, Two) and out.b == 3
    out.a.sum().backward()
    assert seen[0][0].tolist() == [1.0, 1.0] and seen[0][1] is None


def test_regular_backward_hooks(kit):
    m, seen, x = kit.Affine(2, 2), [], kit.tensor(X, requires_grad=True)
    m.register_backward_hook(lambda module, gi, go: seen.append((gi, go)))
    with pytest.warns(FutureWarning, match="the forward contains multiple autograd Nodes"):
        z = m(x)
    z.sum().backward()
    ((grad_input,), (grad_output,)) = seen[0]
    assert grad_input.tolist() == x.grad.tolist() and grad_output.tolist() == [1.0, 1.0]


def test_backward_hooks_run_at_each_backward_pass(kit):
    m, seen, x = doubler(kit), [], kit.tensor(X, requires_grad=True)
    m.register_full_backward_hook(lambda module, gi, go: seen.append(gi[0].tolist()))
    for step in range(3):
        (m(x).sum() * (step + 1)).backward()
    assert seen == [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]]


def test_hooks_for_all_modules(alike):
    def build(k):
        lib, seen = FOR_ALL[k.lib.__name__], []
        m, x = k.nn.Sequential(doubler(k), k.Affine(2, 2)), k.tensor(X, requires_grad=True)
        handles = [
            lib.register_module_full_backward_hook(lambda mod, gi, go: seen.append((type(mod).__name__, gi, go))),
            lib.register_module_full_backward_pre_hook(lambda mod, go: seen.append((type(mod).__name__, go))),
            lib.register_module_forward_hook(
                lambda mod, args, kw, out: seen.append((args, kw, out)), with_kwargs=True, always_call=True
            ),
        ]
        try:
            m(x).sum().backward()
            with pytest.raises(RuntimeError, match="as a global Module hook"):
                lib.register_module_backward_hook(print)
        finally:
            for handle in handles:
                handle.remove()
        m(x).sum().backward()
        return seen, x.grad

    alike(build)
    assert not module_hooks.FOR_ALL.any


def test_registration_hooks(alike):
    def build(k):
        lib = FOR_ALL[k.lib.__name__]
        seen = []
        handles = [
            lib.register_module_parameter_registration_hook(lambda m, name, p: seen.append(("p", name))),
            lib.register_module_buffer_registration_hook(lambda m, name, b: k.tensor([0.0])),
            lib.register_module_module_registration_hook(lambda m, name, c: seen.append(("m", name, c))),
        ]
        try:
            m = k.net()
        finally:
            for handle in handles:
                handle.remove()
        return seen, dict(m.named_buffers())

    alike(build)


def test_copies_keep_hooks_and_their_order(kit):
    m, seen = doubler(kit), []
    m.register_forward_hook(lambda *_: seen.append("a"))
    copy.deepcopy(m)(1)
    assert seen == ["a"]


def test_handles():
    hooks, marks = OrderedDict(), OrderedDict()
    with RemovableHandle(hooks, extra_dict=marks) as handle:
        hooks[handle.id], marks[handle.id] = print, True
        assert RemovableHandle(hooks).id == handle.id + 1
    assert not hooks and not marks
    handle.remove()
    kept = RemovableHandle(hooks, extra_dict=[marks, {}])
    hooks[kept.id] = print
    again = pickle.loads(pickle.dumps(kept))
    assert again.id == kept.id and again.hooks_dict_ref is not kept.hooks_dict_ref
    again.remove()
    assert hooks
    del hooks
    kept.remove()


def test_a_handle_does_not_keep_its_hooks_alive(kit):
    m = doubler(kit)
    handle = m.register_forward_hook(print)
    del m
    assert handle.hooks_dict_ref() is None
    assert funtorch.nn.Module()._forward_hooks == OrderedDict()
