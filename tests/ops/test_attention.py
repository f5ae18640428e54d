"""Attention: against PyTorch, with masks, groups of heads and dropout."""

import numpy as np
import pytest
import torch as oracle

import funtorch as torch
from funtorch.ops import blocked_attention

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


def test_a_causal_mask_beside_another_one(agree):
    agree(
        lambda t, q, k, v, a: t.nn.functional.scaled_dot_product_attention(q, k, v, a.detach(), is_causal=True),
        Q, K, K, np.linspace(-1, 1, Q.shape[-2] * K.shape[-2]).reshape(Q.shape[-2], K.shape[-2]),
    )  # fmt: skip


LAYOUTS = {
    "heads last": ((2, 3, 4, 8), (0, 2, 1, 3), {}),
    "batch inside": ((3, 2, 4, 8), (1, 2, 0, 3), {"is_causal": True}),
    "groups": ((2, 3, 4, 8), (0, 2, 1, 3), {"enable_gqa": True}),
    "features first": ((8, 2, 4, 3), (1, 2, 3, 0), {}),
    "dropped": ((2, 3, 4, 8), (0, 2, 1, 3), {"dropout_p": 1.0}),
    "by the formula": ((2, 3, 4, 8), (0, 2, 1, 3), {"value": V}),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_result_lies_in_memory_as_the_query_does(name, agree):
    shape, order, options = LAYOUTS[name]
    key, value = K, options.get("value", K)
    options = {k: v for k, v in options.items() if k != "value"}
    if options.get("enable_gqa"):
        key = value = K[:, :2]

    def run(t, packed, k, v):
        result = t.nn.functional.scaled_dot_product_attention(packed.permute(order), k, v, **options)
        return result, result.stride()

    agree(run, np.sin(np.arange(np.prod(shape), dtype=np.float64)).reshape(shape), key, value)


def test_heads_are_joined_by_a_view():
    query = torch.randn(2, 3, 4, 8).transpose(1, 2)
    joined = torch.nn.functional.scaled_dot_product_attention(query, query, query).transpose(1, 2).view(2, 3, 32)
    assert joined.is_contiguous()


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_nothing_is_drawn_where_all_or_nothing_is_dropped(rate):
    drawn = []
    for t in (oracle, torch):
        t.manual_seed(0)
        x = t.ones(2, 3, 4)
        outs = [
            t.nn.functional.dropout(x, rate),
            t.nn.functional.dropout1d(x, rate),
            t.nn.functional.alpha_dropout(x, rate, True),
        ]
        outs.append(t.nn.functional.scaled_dot_product_attention(x, x, x, dropout_p=rate))
        drawn.append([*(z.tolist() for z in outs), t.rand(1).item()])
    assert drawn[0] == drawn[1]


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
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(1, 4, 3, 2), *[t.zeros(1, 3, 3, 2)] * 2),
    lambda t: t.nn.functional.scaled_dot_product_attention(t.zeros(1, 4, 3, 2), *[t.zeros(1, 3, 3, 2)] * 2, dropout_p=0.5),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3)] * 3, dropout_p=0.5),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3)] * 3, dropout_p=1.5),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3)] * 3, enable_gqa=True),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(1, 1, 3, 3)] * 3, t.zeros(2, 1, 1, 3, 3)),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(1, 1, 3, 3).long()] * 3),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3).cfloat()] * 3),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3)] * 3, scale="1"),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3)] * 3, is_causal=1),
    lambda t: t.nn.functional.scaled_dot_product_attention(*[t.zeros(3, 3)] * 3, None, 0.0, False, 0.5),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)


@pytest.mark.parametrize(
    "case",
    [
        {}, {"is_causal": True}, {"dropout_p": 0.3}, {"mask": (5, 6)}, {"mask": (3, 1, 1, 6)}, {"mask": (3, 4, 5, 6)},
        {"mask": (5, 6), "learnt": True}, {"heads_last": True, "mask": (1, 5, 6)}, {"enable_gqa": True}, {"only_key": True},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("engine", ["kernel", "host"])
def test_block_by_block_is_as_all_at_once(case, engine, agree, monkeypatch):
    monkeypatch.setattr(blocked_attention, "BLOCK", 2**8)  # two heads' scores in float32, one's in float64
    options = {k: v for k, v in case.items() if k in ("is_causal", "dropout_p", "enable_gqa")}
    rng = np.random.default_rng(1)
    shapes = (3, 4, 5, 8), (3, 2 if "enable_gqa" in case else 4, 6, 8), (3, 2 if "enable_gqa" in case else 4, 6, 8)
    arrays = [rng.standard_normal(shape) for shape in shapes] + [rng.standard_normal(case.get("mask", ()))]

    def run(t, q, k, v, m):
        t.manual_seed(3)
        q, v = (q.detach(), v.detach()) if "only_key" in case else (q, v)
        q = q.transpose(1, 2).contiguous().transpose(1, 2) if "heads_last" in case else q
        m = None if "mask" not in case else m if "learnt" in case else m.detach()
        return t.nn.functional.scaled_dot_product_attention(q, k, v, m, **options)

    with torch.set_engine(engine):
        for _ in range(2):  # node by node, and as one
            agree(run, *arrays)


@pytest.mark.parametrize("engine", ["kernel", "auto"])
@pytest.mark.parametrize("shapes", [((5, 7), (5, 8), ()), ((6, 8), (6, 8), (5, 7)), ((6, 8), (6, 8), (2, 1, 5, 6))])
def test_many_scores_that_do_not_fit_are_named_as_a_few_are(shapes, engine, refuse, monkeypatch):
    monkeypatch.setattr(blocked_attention, "BLOCK", 2**6)
    key, value, mask = shapes

    def run(t):
        given = [t.zeros(3, 4, *last) for last in ((5, 8), key, value)]
        return t.nn.functional.scaled_dot_product_attention(*given, t.zeros(mask) if mask else None)

    with torch.set_engine(engine):
        refuse(run)
