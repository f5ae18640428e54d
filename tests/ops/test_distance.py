"""Distances and similarities, and images' channels and places exchanged: against PyTorch."""

import numpy as np
import pytest

RNG = np.random.default_rng(4)
X, Y = RNG.standard_normal((3, 4)), RNG.standard_normal((5, 4))
ORDERS = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, float("inf")]


@pytest.mark.parametrize("p", ORDERS)
def test_distances_agree(p, agree):
    agree(lambda t, x, y: (t.cdist(x, y, p), t.pdist(x, p)), X, Y, grad=p > 0)
    agree(lambda t, x, y: t.nn.functional.pairwise_distance(x, y[:3], p, keepdim=True), X, Y, grad=p > 0)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 3.0])
def test_the_gradient_of_equal_rows_is_zero(p, agree):
    agree(lambda t, x: (t.cdist(x, x.detach(), p), t.pdist(x, p)), np.array([[1.0, 2.0], [1.0, 2.0], [0.0, 1.0]]))


def test_batches_of_distances_agree(agree):
    agree(lambda t, x, y: t.cdist(x[:, None].mT, y[None]), RNG.standard_normal((2, 4, 3)), RNG.standard_normal((3, 5, 4)))


def test_similarity_and_unit_vectors_agree(agree):
    agree(lambda t, x, y: (t.cosine_similarity(x, y[:3]), t.cosine_similarity(x[:, None], y, dim=-1)), X, Y)
    agree(lambda t, x, y: t.cosine_similarity(x * 0, y[:3], eps=0.5), X, Y)
    agree(
        lambda t, x: (t.nn.functional.normalize(x), t.nn.functional.normalize(x, 1, 0), t.nn.functional.normalize(x, dim=(0, 1))),
        X,
    )
    agree(lambda t, x: t.nn.functional.normalize(x), np.array([[0.0, 0.0], [3.0, 4.0]]))


def test_pixels_and_channels_are_moved_as_in_torch(agree):
    image = RNG.standard_normal((2, 8, 3, 3))
    agree(lambda t, x: (t.pixel_shuffle(x, 2), t.nn.functional.pixel_unshuffle(t.pixel_shuffle(x, 2), 2)), image)
    agree(lambda t, x: t.nn.functional.channel_shuffle(x, 4), image)


REFUSED = [
    lambda t: t.cdist(t.zeros(3, 2), t.zeros(3, 3)),
    lambda t: t.cdist(t.zeros(3, 2), t.zeros(3, 2), p=-1),
    lambda t: t.cdist(t.zeros(3), t.zeros(3, 2)),
    lambda t: t.cdist(t.zeros(3, 2), t.zeros(3, 2), compute_mode="x"),
    lambda t: t.pdist(t.zeros(3)),
    lambda t: t.cosine_similarity(t.zeros(3, 2), t.zeros(3, 2), dim=3),
    lambda t: t.nn.functional.normalize(t.zeros(3), dim=1),
    lambda t: t.pixel_shuffle(t.zeros(3, 2, 2), 2),
    lambda t: t.pixel_unshuffle(t.zeros(4, 3, 2), 2),
    lambda t: t.nn.functional.channel_shuffle(t.zeros(1, 4, 2), 3),
]


def test_similarity_of_other_sizes_raises(refuse):
    refuse(lambda t: t.cosine_similarity(t.zeros(3, 2), t.zeros(4, 2)), words=False)


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)
