"""Shares of a dataset, compared with torch.utils.data.distributed."""

import collections

import pytest

import funtorch as torch


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 23])
@pytest.mark.parametrize("replicas", [1, 2, 4, 5])
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("drop_last", [False, True])
def test_shares(same, size, replicas, shuffle, drop_last):
    def shares(t):
        result = []
        for rank in range(replicas):
            sampler = t.utils.data.DistributedSampler(range(size), replicas, rank, shuffle, 3, drop_last)
            result += [list(sampler), list(sampler), len(sampler), sampler.num_samples, sampler.total_size]
            sampler.set_epoch(4)
            result.append(list(sampler))
        return [*result, t.rand(1)]

    same(shares)


@pytest.mark.parametrize("size, replicas", [(10, 4), (3, 5), (12, 4)])
def test_every_index_is_covered_by_equal_shares(size, replicas):
    sampler = torch.utils.data.DistributedSampler
    shares = [list(sampler(range(size), replicas, rank)) for rank in range(replicas)]
    assert len({len(share) for share in shares}) == 1
    counts = collections.Counter(sum(shares, []))
    assert set(counts) == set(range(size))
    assert max(counts.values()) - min(counts.values()) <= 1


@pytest.mark.parametrize("replicas, rank", [(3, 3), (3, -1), (0, 0), (None, None), (3, None), (None, 1)])
def test_ranks_out_of_range(same, replicas, rank):
    assert same(lambda t: t.utils.data.DistributedSampler(range(4), replicas, rank)) is ValueError
    with pytest.raises(ValueError, match=rf"num_replicas={replicas}, rank={rank}"):
        torch.utils.data.DistributedSampler(range(4), replicas, rank)


def test_the_class_has_one_home():
    assert torch.utils.data.distributed.DistributedSampler is torch.utils.data.DistributedSampler
