"""Values at the edges: overflow, infinities and NaN, large offsets, negative divisors, casts. Compared with torch's, one a line.

What torch leaves undefined (shifts by more than the width) is left out; where its own rounding is the worse one, float64 is
the reference, below.
"""

import numpy as np
import pytest
import torch

import funtorch

NUMBERS_WRITTEN = [
    "torch.zeros(2,dtype=torch.int8).fill_(1+2j)",
    "torch.zeros(2,dtype=torch.int8).fill_(1+0j)",
    "torch.zeros(2,dtype=torch.bool).fill_(0+1j)",
    "torch.zeros(2).fill_(torch.tensor(1+2j))",
    "torch.zeros(2).fill_(torch.tensor(1+0j))",
    "torch.zeros(2,dtype=torch.bool).copy_(2+1j)",
    "torch.zeros(2).copy_(2+1j)",
    "torch.zeros(2,dtype=torch.int8).copy_(300)",
    "torch.tensor([True,False]).pow(True)",
    "torch.tensor([True,False]).pow(False)",
    "torch.tensor([True,False])**False",
    "torch.pow(True, torch.tensor([True]))",
    "torch.zeros(2).masked_fill(torch.tensor([True,False]), 1+0j)",
    "torch.zeros(2,dtype=torch.int8).masked_fill(torch.tensor([True,False]), torch.tensor(300))",
    "torch.zeros(2,dtype=torch.int8).masked_fill(torch.tensor([True,False]), 300)",
    "torch.zeros(2,dtype=torch.int8).fill_(torch.tensor(300))",
    "torch.zeros(2,dtype=torch.int8).fill_(300)",
    "torch.zeros(2,dtype=torch.uint8).fill_(-1)",
    "torch.zeros(2,dtype=torch.uint8).fill_(-300)",
    "torch.zeros(2,dtype=torch.uint8).fill_(-1.5)",
    "torch.zeros(2,dtype=torch.int8).fill_(float('nan'))",
    "torch.zeros(2,dtype=torch.float16).fill_(1e10)",
    "torch.full((2,), 1+2j, dtype=torch.float32)",
    "torch.full((2,), 300, dtype=torch.int8)",
    "torch.full((2,), -1, dtype=torch.uint8)",
    "torch.full((2,), -300, dtype=torch.uint8)",
    "torch.full((2,), 2.7, dtype=torch.int8)",
    "torch.full((2,), float('nan'), dtype=torch.int8)",
    "torch.full((2,), 1e10, dtype=torch.float16)",
    "torch.full((2,), 1e10, dtype=torch.bool)",
    "torch.tensor(300, dtype=torch.int8)",
    "torch.tensor([300], dtype=torch.int8)",
    "torch.tensor([-1], dtype=torch.uint8)",
    "torch.tensor([-300], dtype=torch.uint8)",
    "torch.tensor([2.7], dtype=torch.int64)",
    "torch.tensor([1j], dtype=torch.float32)",
    "torch.tensor(1j, dtype=torch.float32)",
    "torch.tensor([1j], dtype=torch.int32)",
    "torch.tensor([2**63])",
    "torch.tensor(2**64)",
    "torch.tensor(2**63, dtype=torch.uint64)",
    "torch.tensor([2**64-1], dtype=torch.uint64)",
    "torch.tensor([float('nan')], dtype=torch.int64)",
    "torch.tensor([1e20], dtype=torch.int64)",
    "torch.tensor([1e10], dtype=torch.float16)",
    "torch.tensor([1e300], dtype=torch.float32)",
    "torch.tensor([2, 0.5])",
    "torch.tensor([True, 2])",
    "torch.tensor([True, 2.5])",
    "torch.tensor([1, 1j])",
    "torch.tensor([[], []]).shape",
    "torch.tensor([[1, 2], [3]])",
    "torch.tensor([torch.tensor(1), torch.tensor(2.5)])",
    "torch.tensor([torch.tensor(1.5), 2])",
    "torch.tensor([None])",
    "torch.tensor('a')",
    "torch.tensor([np.float32(1), 2])",
    "torch.tensor(np.float32(1))",
    "torch.tensor(np.int8(1))",
    "torch.tensor(np.ones(2, 'float16'))",
    "~torch.ones(2,dtype=torch.int8)",
    "torch.tensor([-5])>>1",
    "torch.tensor([1],dtype=torch.int8)<<7",
    "torch.tensor([-7,7,-7,7])//torch.tensor([2,2,-2,-2])",
    "torch.tensor([-7,7,-7,7])%torch.tensor([2,2,-2,-2])",
    "torch.tensor([-7,7,-7,7])//2",
    "torch.tensor([-7.,7,-7,7])//torch.tensor([2.,2,-2,-2])",
    "torch.tensor([-7.,7,-7,7])%torch.tensor([2.,2,-2,-2])",
    "torch.tensor([-7.5,7.5])%-2",
    "torch.tensor([-7,7,-7,7]).fmod(torch.tensor([2,2,-2,-2]))",
    "torch.tensor([-7.,7,-7,7]).fmod(torch.tensor([2.,2,-2,-2]))",
    "torch.div(torch.tensor([-7,7]),2,rounding_mode='trunc')",
    "torch.div(torch.tensor([-7,7]),2,rounding_mode='floor')",
    "torch.div(torch.tensor([-7.,7]),2,rounding_mode='trunc')",
    "torch.tensor([1.,-1,0])//0",
    "torch.tensor([1.,-1,0])%0",
    "torch.tensor([1.,-1,0])/0",
    "torch.tensor([1,-1])//0",
    "torch.tensor([1,-1])%0",
    "torch.tensor([1,-1])/0",
    "torch.tensor([-2**63])//-1",
    "torch.tensor([-2**63])%-1",
    "torch.tensor([-128],dtype=torch.int8)//-1",
    "torch.tensor([-2**63]).abs()",
    "-torch.tensor([-2**63])",
    "torch.tensor([2**63-1])+1",
    "torch.tensor([2**62])*2",
    "torch.tensor([2**62])*4",
    "torch.tensor([3])**40",
    "torch.tensor([3])**41",
    "torch.tensor([2])**64",
    "torch.tensor([2])**-1",
    "torch.tensor([-1,1,2])**torch.tensor([-1,-1,-1])",
    "torch.tensor([2.])**-1",
    "torch.tensor([0.])**0",
    "torch.tensor([0.])**-1",
    "torch.tensor([-8.])**(1/3)",
    "torch.tensor([-1.])**0.5",
    "torch.tensor([2],dtype=torch.uint8)**8",
    "torch.tensor([100],dtype=torch.int8)+torch.tensor([100],dtype=torch.int8)",
    "torch.tensor([100,100],dtype=torch.int8).prod()",
    "torch.tensor([[1,2],[3,4]])@torch.tensor([[1,2],[3,4]])",
    "torch.tensor([[2**40]])@torch.tensor([[2**40]])",
    "torch.tensor([2**53+1]).float().double()",
    "torch.tensor([2**53+1])@torch.tensor([1])",
    "torch.tensor([[2**53+1,1]])@torch.tensor([[1],[1]])",
    "torch.tensor([[100,100]],dtype=torch.int8)@torch.tensor([[100],[100]],dtype=torch.int8)",
    "torch.tensor([[True]])@torch.tensor([[True]])",
    "torch.tensor([300.5]).to(torch.int8)",
    "torch.tensor([-1.5]).to(torch.uint8)",
    "torch.tensor([1e10]).to(torch.int64)",
    "torch.tensor([2**40]).to(torch.int8)",
    "torch.tensor([2.9,-2.9]).long()",
    "torch.tensor([float('nan'),0.,2.]).bool()",
    "torch.tensor([70000.]).half()",
    "torch.tensor([1e-8]).half()",
    "torch.tensor([1+2j]).bool()",
    "torch.tensor([0j, 1j]).bool()",
    "torch.tensor([2.5,3.5,-2.5,0.5]).round()",
    "torch.tensor([2.345]).round(decimals=2)",
    "torch.tensor([12345.]).round(decimals=-2)",
    "torch.tensor([5,15]).round(decimals=-1)",
    "torch.tensor([-0.0]).sign()",
    "torch.tensor([float('nan')]).sign()",
    "torch.tensor([-0.0, 0.0]).max()",
    "torch.tensor([1., float('nan')]).max()",
    "torch.tensor([1., float('nan')]).min(0)",
    "torch.tensor([1., float('nan'), 3.]).argmax()",
    "torch.maximum(torch.tensor([1., float('nan')]), torch.tensor([float('nan'), 1.]))",
    "torch.fmax(torch.tensor([1., float('nan')]), torch.tensor([float('nan'), 1.]))",
    "torch.tensor([float('nan'), 1.]).clamp(0, 0.5)",
    "torch.tensor([1.]).clamp(float('nan'), 2)",
    "torch.tensor([1.]).clamp(3, 2)",
    "torch.tensor([float('nan'), 1., 2.]).sort()",
    "torch.tensor([float('nan'), 1., 2.]).sort(descending=True)",
    "torch.tensor([float('nan'), 1., 2.]).median()",
    "torch.tensor([float('nan'), 1., 2.]).topk(1)",
    "torch.tensor([float('nan'), 1., float('nan')]).unique()",
    "torch.tensor([]).prod()",
    "torch.tensor([]).max()",
    "torch.tensor([]).argmax()",
    "torch.tensor([]).all()",
    "torch.tensor([]).any()",
    "torch.tensor([1e200, 1e200], dtype=torch.float64).norm()",
    "torch.tensor([1e-200, 1e-200], dtype=torch.float64).norm()",
    "torch.tensor([1e30, 1e30]).norm()",
    "torch.tensor([1e-30, 1e-30]).norm()",
    "torch.tensor([60000., 60000.]).half().norm()",
    "torch.linalg.norm(torch.tensor([1e200, 1e200], dtype=torch.float64))",
    "torch.atan2(torch.tensor([0.,-0.,0.,-0.]), torch.tensor([-1.,-1.,1.,1.]))",
    "torch.atan2(torch.tensor([0.,-0.,0.,-0.]), torch.tensor([0.,0.,-0.,-0.]))",
    "torch.atan2(torch.tensor([float('inf')]*2), torch.tensor([float('inf'),-float('inf')]))",
    "torch.atan2(torch.tensor([1e-40]), torch.tensor([1e38]))",
    "torch.tensor([0., 2., 3.]).cumprod(0)",
    "torch.tensor([2., 0., 3.]).cumprod(0)",
    "torch.tensor([0.1,0.2]).eq(torch.tensor([0.1,0.2],dtype=torch.float64))",
    "torch.tensor([2**53+1])==torch.tensor([2.**53],dtype=torch.float64)",
    "torch.tensor([2**24+1])==torch.tensor([2.**24])",
    "torch.lerp(torch.tensor([0.]), torch.tensor([1.]), 1+1j)",
    "torch.tensor([True]).clamp(True)",
    "torch.tensor([True]).clamp(min=0)",
    "torch.xlogy(torch.tensor([0.,0.]), torch.tensor([0.,float('nan')]))",
    "torch.expm1(torch.tensor([1e-10,100.]))",
    "torch.log1p(torch.tensor([1e-10,-1.,-2.]))",
    "torch.sigmoid(torch.tensor([-200.,200.]))",
    "torch.tanh(torch.tensor([-200.,200.]))",
    "torch.nn.functional.softplus(torch.tensor([-200.,200.,1e10]))",
    "torch.nn.functional.logsigmoid(torch.tensor([-200.,200.]))",
    "torch.erfinv(torch.tensor([1.,-1.,2.]))",
    "torch.lgamma(torch.tensor([0.,-1.,1e30]))",
    "torch.digamma(torch.tensor([0.,-1.]))",
    "torch.logaddexp(torch.tensor([float('inf'),-float('inf'),1000.]), torch.tensor([float('inf'),-float('inf'),1000.]))",
    "torch.logit(torch.tensor([0.,1.,2.]))",
    "torch.asin(torch.tensor([2.]))",
    "torch.acosh(torch.tensor([0.5]))",
    "torch.rsqrt(torch.tensor([0.,-1.,float('inf')]))",
    "torch.frexp(torch.tensor([0.,8.,-0.1]))",
    "torch.ldexp(torch.tensor([1.]), torch.tensor([200]))",
    "torch.gcd(torch.tensor([0,-4,6]),torch.tensor([0,6,-4]))",
    "torch.lcm(torch.tensor([0,-4,6]),torch.tensor([0,6,-4]))",
    "torch.bitwise_not(torch.tensor([0,255],dtype=torch.uint8))",
]
INTEGERS_AND_CASTS = [
    "torch.ones(2,dtype=torch.uint8)*300",
    "torch.ones(2,dtype=torch.uint8)-2",
    "torch.ones(2,dtype=torch.int8)+2**40",
    "torch.ones(2,dtype=torch.int32)+2**63",
    "torch.ones(2,dtype=torch.int32)+2**62",
    "torch.ones(2)+2**62",
    "torch.ones(2)*10**400",
    "torch.ones(2,dtype=torch.int8)==300",
    "torch.ones(2,dtype=torch.int8)<300",
    "torch.ones(2,dtype=torch.uint8)>-1",
    "torch.ones(2,dtype=torch.int8)==257",
    "torch.ones(2,dtype=torch.bool)*2",
    "torch.ones(2,dtype=torch.bool)+True",
    "-torch.ones(2,dtype=torch.bool)",
    "torch.ones(2,dtype=torch.bool)-True",
    "torch.ones(2,dtype=torch.uint8)-torch.ones(2,dtype=torch.bool)",
    "torch.ones(2,dtype=torch.bool)&1",
    "torch.ones(2,dtype=torch.int64)<<1",
    "torch.tensor([100],dtype=torch.int8).sum()",
    "torch.tensor([100,100],dtype=torch.int8).sum()",
    "torch.tensor([100,100],dtype=torch.int8).sum(dtype=torch.int8)",
    "torch.tensor([100,100],dtype=torch.int8).cumsum(0)",
    "torch.tensor([100,100],dtype=torch.int8).mean()",
]
ELEMENTWISE = [
    "torch.zeros(2).add(torch.ones(2), alpha=1j)",
    "torch.ones(2,dtype=torch.float16)*1e10",
    "torch.ones(2,dtype=torch.float16)*70000",
    "torch.ones(2,dtype=torch.bfloat16)+1e-3",
    "torch.ones(2,dtype=torch.int64)*1.5",
    "~torch.ones(2)",
    "torch.hypot(torch.tensor(1e200,dtype=torch.float64), torch.tensor(1e200,dtype=torch.float64))",
    "torch.hypot(torch.tensor(1e30), torch.tensor(1e30))",
    "torch.hypot(torch.tensor(1e-30), torch.tensor(1e-30))",
    "torch.hypot(torch.tensor(float('inf')), torch.tensor(float('nan')))",
    "torch.hypot(torch.tensor(0.), torch.tensor(0.))",
    "torch.nextafter(torch.tensor(1.), torch.tensor(2.))-1",
    "torch.can_cast(torch.float32, torch.int32), torch.can_cast(torch.int32, torch.float16), torch.can_cast(torch.complex64, torch.float64), torch.can_cast(torch.int64, torch.bool), torch.can_cast(torch.bool, torch.uint8)",
]
REDUCTIONS = [
    "torch.tensor([1,2]).mean()",
    "torch.tensor([1,2]).mean(dtype=torch.float32)",
    "torch.tensor([1,2]).std()",
    "torch.tensor([True,False]).mean()",
    "torch.tensor([True,False]).sum()",
    "torch.tensor([float('inf'), 1.]).softmax(0)",
    "torch.tensor([-float('inf'), -float('inf')]).softmax(0)",
    "torch.tensor([-float('inf'), 1.]).softmax(0)",
    "torch.tensor([1e30, 1e30]).softmax(0)",
    "torch.tensor([1e4, 0.]).log_softmax(0)",
    "torch.tensor([-float('inf'), -float('inf')]).logsumexp(0)",
    "torch.tensor([float('inf'), 1.]).logsumexp(0)",
    "torch.tensor([float('inf'), -float('inf')]).logsumexp(0)",
    "torch.tensor([1000., 1000.]).logsumexp(0)",
    "torch.tensor([]).logsumexp(0)",
    "torch.tensor([]).sum()",
    "torch.tensor([]).mean()",
    "torch.tensor([]).std()",
    "torch.tensor([1.]).std()",
    "torch.zeros(2,0).max(1)",
    "torch.zeros(0,2).max(1)",
    "torch.zeros(0,2).sum(0)",
    "torch.zeros(0).norm()",
    "torch.tensor([-float('inf'), 0.]).logcumsumexp(0)",
    "torch.tensor([float('nan'), 1., 2.]).nansum()",
    "torch.tensor([float('nan'), 1., 2.]).nanmean()",
    "torch.tensor([1e8, 1., -1e8]).sum()",
    "torch.full((4096,), 1., dtype=torch.float16).sum()",
    "torch.full((70000,), 1., dtype=torch.float16).sum()",
    "torch.full((70000,), 1., dtype=torch.float16).mean()",
    "torch.full((4096,), 0.1, dtype=torch.bfloat16).sum()",
    "torch.full((4096,), 0.1, dtype=torch.bfloat16).mean()",
    "torch.full((1000,), 0.1, dtype=torch.bfloat16).cumsum(0)[-1]",
    "torch.full((300,300), 0.1, dtype=torch.bfloat16).std()",
    "(torch.arange(100.)+1e6).var()",
    "(torch.arange(100.,dtype=torch.float64)+1e9).var()",
    "(torch.arange(100.)+1e6).std(0)",
]


@pytest.mark.parametrize("line", [*NUMBERS_WRITTEN, *INTEGERS_AND_CASTS, *ELEMENTWISE, *REDUCTIONS])
def test_as_torch(line, alike):
    half = "bfloat16" in line or "float16" in line or "half" in line
    alike(line, lambda module: {"torch": module, "np": np}, may_raise=True, loose=1e-2 if half else 2e-5)


HALVES = [funtorch.float16, funtorch.bfloat16]
MANY = np.random.default_rng(0).uniform(0.5, 1.5, 50_000)


@pytest.mark.parametrize("kind", HALVES, ids=str)
def test_long_sums_of_halves_round_once(kind):
    x = funtorch.tensor(MANY).to(kind)
    exact = x.double().sum().item()
    step = 2.0 ** (np.floor(np.log2(exact))) * funtorch.finfo(kind).eps
    for found in (x.sum(), x.reshape(100, 500).sum(1, dtype=funtorch.float32).sum().to(kind), x.norm(1)):
        assert abs(found.double().item() - exact) <= step
    assert abs(x.mean().double().item() - exact / len(MANY)) <= funtorch.finfo(kind).eps
    ones = funtorch.ones(len(MANY), dtype=kind)
    assert abs((x @ ones).double().item() - exact) <= step


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e8])
def test_variance_keeps_what_a_large_offset_leaves(offset):
    x = funtorch.tensor(MANY + offset)
    exact = np.var(np.asarray(x.numpy(), np.longdouble), ddof=1)
    assert float(x.var()) == pytest.approx(float(exact), rel=1e-9 * offset**0.5)
    single = x.float()
    exact = np.var(single.double().numpy(), ddof=1)
    assert float(single.var()) == pytest.approx(float(exact), rel=1e-4)
    assert float(funtorch.var_mean(single)[0]) == pytest.approx(float(exact), rel=1e-4)


ZEROS = [[2.0, 3.0, 4.0], [2.0, 0.0, 4.0], [0.0, 3.0, 4.0], [2.0, 3.0, 0.0], [0.0, 0.0, 4.0], [0.0, 3.0, 0.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("values", ZEROS, ids=str)
@pytest.mark.parametrize("name", ["prod", "cumprod"])
def test_gradients_of_products_with_zeros(name, values):
    def slopes(module):
        x = module.tensor(values, dtype=module.float64, requires_grad=True)
        y = x.prod() if name == "prod" else (x.cumprod(0) * module.tensor([1.0, 10.0, 100.0], dtype=module.float64)).sum()
        (first,) = module.autograd.grad(y, x, create_graph=True)
        (second,) = module.autograd.grad((first * module.tensor([1.0, 2.0, 3.0], dtype=module.float64)).sum(), x)
        return first.detach().numpy(), second.numpy()

    for a, b in zip(slopes(funtorch), slopes(torch), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def slope_of(module, name, values):
    x = module.tensor(values, dtype=module.float64, requires_grad=True)
    y = getattr(module, name)(*x) if name.startswith("logaddexp") else getattr(x, name)(0)
    y.sum().backward()
    return x.grad.numpy()


@pytest.mark.parametrize("values", [[-np.inf, 1.0], [1e300, 1e300], [-1e300, 0.0], [1000.0, 0.0]], ids=str)
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_of_extreme_values(name, values):
    np.testing.assert_allclose(slope_of(funtorch, name, values), slope_of(torch, name, values), rtol=1e-12, atol=1e-300)


# Each term's share of the sum; torch has NaN, or 1 for both, in some of these.
SHARES = [([-np.inf, -np.inf], [0, 0]), ([-np.inf, 1.0], [0, 1]), ([1e300, 1e300], [0.5, 0.5]), ([-1e300, 0.0], [0, 1])]


@pytest.mark.parametrize("values, shares", [*SHARES, ([np.inf, 1.0], [1, 0])], ids=str)
@pytest.mark.parametrize("name", ["logsumexp", "logaddexp", "logaddexp2", "logcumsumexp"])
def test_sums_of_exponentials_share_their_gradient(name, values, shares):
    if name == "logcumsumexp":
        shares = [shares[0] + (values[0] > -np.inf), shares[1]]
    if name == "logsumexp" and np.inf in values:
        shares = slope_of(torch, name, values)
    np.testing.assert_allclose(slope_of(funtorch, name, values), shares)


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_norms_neither_overflow_nor_vanish(size):
    """hypot and complex abs scale; torch's norm does not, beyond the root of the largest number."""
    x = np.array([3.0, 4.0]) * size
    assert float(funtorch.hypot(*funtorch.tensor(x))) == pytest.approx(5 * size, rel=1e-14)
    assert float(funtorch.complex(*funtorch.tensor(x)).abs()) == pytest.approx(5 * size, rel=1e-14)


ENDS = [
    (0.0, 2, np.nan),
    (0.0, 2, 0),
    (np.nan, 2, 1),
    (0, np.nan, 1),
    (0, np.inf, 1),
    (0, -1, np.inf),
    (2.0, 0, 1),
    (0, 1, np.inf),
]


@pytest.mark.parametrize("ends", ENDS, ids=str)
@pytest.mark.parametrize("name", ["arange", "range"])
@pytest.mark.filterwarnings("ignore:torch.range is deprecated")
def test_ranges_that_lead_nowhere(name, ends):
    def found(module):
        try:
            return getattr(module, name)(*ends).tolist()
        except RuntimeError as error:
            return str(error).split("): ")[-1].split(":")[0]

    np.testing.assert_equal(found(funtorch), found(torch))
