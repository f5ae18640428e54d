"""Caches bounded together: what was not used for longest goes first."""

from types import SimpleNamespace

import pytest

import funtorch
from funtorch.core import engine
from funtorch.core.bounded import Bounded, Home, limit_from


def _entry():
    return SimpleNamespace(recent=False)


def test_the_oldest_go_over_all_homes():
    store, first, second = Bounded(3), Home(), Home()
    for key in range(4):
        store.add(first if key % 2 else second, key, _entry())
    assert (sorted(first), sorted(second), len(store)) == ([1, 3], [2], 3)


def test_an_entry_put_in_anew_counts_once():
    kept, home = Bounded(2), Home()
    for number in range(3):
        kept.add(home, "a", SimpleNamespace(recent=False, number=number))
    assert len(kept) == 1 and [(key, entry.number) for _, key, entry in kept.entries()] == [("a", 2)]
    kept.add(home, "b", SimpleNamespace(recent=False))
    assert set(home) == {"a", "b"}


def test_what_was_used_stays_longer():
    store, home = Bounded(3), Home()
    for key in range(3):
        store.add(home, key, _entry())
    home[0].recent = True
    store.add(home, 3, _entry())
    assert sorted(home) == [0, 2, 3]
    store.add(home, 4, _entry())
    assert sorted(home) == [0, 3, 4]


def test_all_in_use_still_makes_room():
    store, home = Bounded(2), Home()
    for key in range(5):
        store.add(home, key, SimpleNamespace(recent=True))
    assert len(home) == len(store) == 2


def test_a_home_that_is_gone_takes_no_place_for_long():
    store = Bounded(2)
    store.add(Home(), 0, _entry())
    home = Home()
    store.add(home, 1, _entry())
    store.add(home, 2, _entry())
    assert sorted(home) == [1, 2]


@pytest.mark.parametrize("text", ["0", "-3", "many", "1.5"])
def test_a_limit_that_is_no_number(monkeypatch, text):
    monkeypatch.setenv("FUNTORCH_PROGRAMS", text)
    with pytest.raises(ValueError, match="FUNTORCH_PROGRAMS must be a positive whole number"):
        limit_from("FUNTORCH_PROGRAMS", 8)


def test_results_are_the_same_with_room_for_almost_nothing(monkeypatch):
    monkeypatch.setattr(engine.programs, "limit", 2)
    x = funtorch.arange(6.0, requires_grad=True)
    for n in range(1, 7):
        (x[:n].exp() * x[:n].sin()).sum().backward()
        assert len(engine.programs) <= 2
    want = sum(
        funtorch.nn.functional.pad(x[:n].detach().exp() * (x[:n].detach().sin() + x[:n].detach().cos()), (0, 6 - n))
        for n in range(1, 7)
    )
    assert funtorch.allclose(x.grad, want)
