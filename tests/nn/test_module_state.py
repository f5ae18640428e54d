"""state_dict and load_state_dict: keys, versions, hooks, errors."""

from __future__ import annotations

import copy
from collections import OrderedDict

import pytest

ONE = [1.0]


def changed(m, drop=(), **entries):
    state = OrderedDict(m.state_dict())
    for key in drop:
        del state[key]
    state.update({key.replace("__", "."): value for key, value in entries.items()})
    return state


SAVED = {
    "plain": lambda k: k.net().state_dict(),
    "versions": lambda k: k.net().state_dict()._metadata,
    "prefix": lambda k: list(k.net().state_dict(prefix="p.")),
    "into a dict": lambda k: list(k.net().state_dict(destination={})),
    "keep_vars": lambda k: k.net().state_dict(keep_vars=True),
    "extra state": lambda k: with_extra(k).state_dict(),
}


def with_extra(k):
    class Extra(k.nn.Module):
        taken = None

        def get_extra_state(self):
            return {"k": 1}

        def set_extra_state(self, state):
            self.taken = state

    return Extra()


@pytest.mark.parametrize("name", SAVED)
def test_saved_state(alike, name):
    alike(SAVED[name])


def test_saved_tensors_share_the_values(alike):
    def build(k):
        m = k.Affine(1, 1)
        state = m.state_dict()
        with k.lib.no_grad():
            m.weight.add_(1)
        return state, state["weight"].requires_grad

    alike(build)


def test_positional_arguments_warn(kit):
    with pytest.warns(FutureWarning, match="deprecated"):
        assert list(kit.Affine(1, 1).state_dict({}, "p.")) == ["p.weight", "p.bias"]


LOADED = {
    "its own": lambda k, m: m.load_state_dict(m.state_dict()),
    "plain dict": lambda k, m: m.load_state_dict(dict(m.state_dict())),
    "no dict": lambda k, m: m.load_state_dict(3),
    "empty": lambda k, m: m.load_state_dict({}),
    "empty, not strict": lambda k, m: m.load_state_dict({}, strict=False),
    "one missing": lambda k, m: m.load_state_dict(changed(m, drop=["0.bias"])),
    "many wrong": lambda k, m: m.load_state_dict(
        changed(m, ["1.mean"], a__b=1, x=2, **{"0__weight": k.tensor(ONE), "0__bias": 4})
    ),
    "size mismatch, not strict": lambda k, m: m.load_state_dict({"1.mean": k.tensor(ONE), "x": 1}, strict=False),
    "two sizes": lambda k, m: m.load_state_dict(
        changed(m, **{"1__mean": k.tensor([[1.0]]), "0__bias": k.tensor([1.0, 2.0, 3.0])})
    ),
    "key below a parameter": lambda k, m: m.load_state_dict(changed(m, **{"0__weight__y": 2})),
    "unsaved buffer": lambda k, m: m.load_state_dict(changed(m, **{"1__scratch": k.tensor(ONE)})),
    "extra state unasked": lambda k, m: m.load_state_dict(changed(m, **{"0___extra_state": 1})),
    "other dtypes": lambda k, m: (
        m.load_state_dict(changed(m, **{"0__bias": k.tensor([3, 4]), "1__count": k.tensor(7.9)})),
        m.state_dict(),
    ),
    "one element for none": lambda k, m: (
        m.load_state_dict(changed(m, **{"1__count": k.tensor([9])})),
        m.state_dict(),
    ),
    "assigned": lambda k, m: (
        m.load_state_dict({n: t.double() for n, t in m.state_dict().items()}, assign=True),
        m.state_dict(keep_vars=True),
    ),
    "assigned parameter": lambda k, m: (
        m.load_state_dict(changed(m, **{"0__bias": k.P(k.tensor([5.0, 6.0]), requires_grad=False)}), assign=True),
        m[0].bias,
    ),
}


@pytest.mark.parametrize("name", LOADED)
def test_loading_and_its_errors_are_those_of_torch(alike, name):
    alike(lambda k: LOADED[name](k, k.net()))


def test_loading_keeps_identity_and_assigning_takes_the_tensor(kit):
    m = kit.Affine(1, 1)
    weight = m.weight
    m.load_state_dict({"weight": kit.tensor([[4.0]]), "bias": kit.tensor(ONE)})
    assert m.weight is weight and weight.tolist() == [[4.0]]
    new = kit.P(kit.tensor([[5.0]]))
    m.load_state_dict({"weight": new, "bias": kit.tensor(ONE)}, assign=True)
    assert m.weight is new and isinstance(m.bias, kit.P)


def test_a_failed_load_changes_nothing(kit):
    m = kit.net()
    tables = [dict(module._parameters) | dict(module._buffers) for module in m.modules()]
    before = [t.tolist() for t in m.state_dict().values()]
    wrong = {"0.weight": kit.tensor([[9.0, 9.0], [9.0, 9.0]]), "1.mean": kit.tensor([9.0])}
    for assign in (False, True):
        with pytest.raises(RuntimeError, match="size mismatch for 1.mean"):
            m.load_state_dict(wrong, strict=False, assign=assign)
        assert [t.tolist() for t in m.state_dict().values()] == before
        now = [dict(module._parameters) | dict(module._buffers) for module in m.modules()]
        assert all(a.keys() == b.keys() and all(a[n] is b[n] for n in a) for a, b in zip(tables, now, strict=True))


def test_extra_state(alike):
    def load(k, state):
        m = with_extra(k)
        return m.load_state_dict(state), m.taken

    alike(lambda k: load(k, with_extra(k).state_dict()))
    alike(lambda k: load(k, {}))
    alike(lambda k: k.nn.Module().load_state_dict({"_extra_state": 1}))


def test_extra_state_needs_both_halves(kit):
    with pytest.raises(RuntimeError, match="get_extra_state"):
        kit.nn.Module().get_extra_state()
    with pytest.raises(RuntimeError, match="set_extra_state"):
        kit.nn.Module().set_extra_state(1)


def test_state_dict_hooks(alike):
    def build(k):
        m, seen = k.nn.Sequential(k.Affine(1, 1)), []
        m[0].register_state_dict_pre_hook(lambda *args: seen.append(args))
        m[0].register_state_dict_post_hook(lambda mod, state, prefix, meta: state.update({prefix + "new": 1}))
        handle = m._register_state_dict_hook(lambda mod, state, prefix, meta: {**state, "meta": meta})
        state = m.state_dict()
        handle.remove()
        return seen, state, list(m.state_dict())

    alike(build)


def test_a_public_post_hook_must_return_none(alike):
    def build(k):
        m = k.Affine(1, 1)
        m.register_state_dict_post_hook(lambda mod, state, prefix, meta: state)
        return m.state_dict()

    alike(build)


def test_load_hooks(alike):
    def build(k):
        m, seen = k.net(), []

        def rename(state, prefix, meta, strict, missing, unexpected, errors):
            state[prefix + "weight"] = state.pop(prefix + "old")
            seen.append((prefix, meta, strict))

        m[0]._register_load_state_dict_pre_hook(rename)
        m[0].register_load_state_dict_pre_hook(lambda module, *args: seen.append((module, *args[1:])))
        m.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.remove("0.bias"))
        m[0].register_load_state_dict_post_hook(lambda module, keys: seen.append(str(keys)))
        given = changed(m, ["0.weight", "0.bias"], **{"0__old": k.tensor([[1.0, 2.0], [3.0, 4.0]])})
        result = m.load_state_dict(given)
        return result, seen, m.state_dict(), "0.old" in given

    alike(build)


def test_a_post_hook_of_load_must_return_none(alike):
    def build(k):
        m = k.Affine(1, 1)
        m.register_load_state_dict_post_hook(lambda *args: 3)
        m.load_state_dict(m.state_dict())

    alike(build)


def test_a_hook_with_module_follows_a_copy(kit):
    m, seen = kit.Affine(1, 1), []
    m.register_load_state_dict_pre_hook(lambda module, *args: seen.append(module))
    c = copy.deepcopy(m)
    c.load_state_dict(m.state_dict())
    assert seen == [c]


def test_versions_reach_the_loader_and_stay_the_callers(alike):
    def build(k):
        seen = []

        class Versioned(k.nn.Module):
            _version = 3

            def _load_from_state_dict(self, state_dict, prefix, local_metadata, *args):
                seen.append(dict(local_metadata))
                super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

        m = k.nn.Sequential(Versioned())
        m.load_state_dict(m.state_dict())
        m.load_state_dict({})
        m.load_state_dict(m.state_dict(), assign=True)
        return seen

    alike(build)


def test_a_subclass_may_override_state_dict(alike):
    def build(k):
        class Own(k.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = k.Affine(1, 1)

            def state_dict(self, *args, **kwargs):
                state = super().state_dict(*args, **kwargs)
                state[kwargs.get("prefix", "") + "mine"] = 1
                return state

        return list(k.nn.Sequential(Own()).state_dict())

    alike(build)
