"""Attention: against PyTorch, with masks, groups of heads and dropout."""

import numpy as np
import pytest

import funtorch as torch

RNG = np.random.default_rng(6)
Q, K, V = RNG.standard_normal((2, 4, 3, 8)), RNG.standard_normal((2, 4, 5, 8)), RNG.standard_normal((2, 4, 5, 6))
MASK = RNG.uniform(size=(3, 5)) < 0.6
MASK[1] = False  # a query that sees no key
OPTIONS = [{}, {"is_causal": True}, {"scale": 0.3}]


@pytest.mark.parametrize("options", OPTIONS)
def test_attention_agrees(options, agree):
    agree(lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, **options), Q, K, V)


@pytest.mark.parametrize("mask", [MASK, np.where(MASK, 0.5, -2.0)], ids=["bools", "floats"])
def test_masks_agree(mask, agree):
    agree(lambda t, q, k, v, m: t.nn.functional.scaled_dot_product_attention(q, k, v, m), Q, K, V, mask)


def test_groups_of_heads_agree(agree):
    agree(lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True), Q, K[:, :2], V[:, :2])


def test_dropped_weights_are_torch_s(agree):
    def run(t, q, k, v):
        t.manual_seed(2)
        return t.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.4)

    agree(run, Q, K, V)


def test_without_keys_the_result_is_zero(agree):
    agree(lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v), Q, K[:, :, :0], V[:, :, :0])


def test_large_scores_do_not_overflow():
    q = torch.full((1, 2, 4), 1e4)
    assert torch.nn.functional.scaled_dot_product_attention(q, q, q).isfinite().all().item()


REFUSED = [
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(3), t.zeros(3, 3), t.zeros(3, 3)),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(2, 3, 3)] * 3, attn_mask=t.zeros(3, 3), is_causal=True),
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(2, 3, 3).double(), t.zeros(2, 3, 3), t.zeros(2, 3, 3)),
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(2, 3, 3), t.zeros(2, 3, 4), t.zeros(2, 3, 4)),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(2, 3, 3)] * 3, attn_mask=t.zeros(4, 4)),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)
