"""A Fourier neural operator: complex weights on the lowest frequencies, a loss of spectrograms, relative errors on two grids."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-9  # in double precision
POINTS, WIDTH, MODES = 32, 6, 5


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class SpectralConv(nn.Module):
        """Multiplies the lowest ``modes`` frequencies of each channel by complex matrices of their own."""

        def __init__(self, width: int, modes: int):
            super().__init__()
            self.modes = modes
            self.weight = nn.Parameter(torch.rand(width, width, modes, dtype=torch.cdouble) / width**2)

        def extra_repr(self) -> str:
            return f"modes={self.modes}, dtype={self.weight.dtype}"

        def forward(self, x):  # (N, C, L)
            spectrum = torch.fft.rfft(x)
            out = torch.zeros_like(spectrum)
            out[:, :, : self.modes] = torch.einsum("ncm,com->nom", spectrum[:, :, : self.modes], self.weight)
            return torch.fft.irfft(out, n=x.size(-1))

    class Operator(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift = nn.Linear(2, WIDTH)
            self.spectral = nn.ModuleList([SpectralConv(WIDTH, MODES) for _ in range(2)])
            self.local = nn.ModuleList([nn.Conv1d(WIDTH, WIDTH, 1) for _ in range(2)])
            self.project = nn.Sequential(nn.Linear(WIDTH, 12), nn.GELU(), nn.Linear(12, 1))

        def forward(self, a):  # (N, L)
            grid = torch.linspace(0, 1, a.size(1), dtype=a.dtype).expand_as(a)
            x = self.lift(torch.stack((a, grid), dim=-1)).movedim(-1, 1)
            for spectral, local in zip(self.spectral, self.local, strict=True):
                x = F.gelu(spectral(x) + local(x))
            return self.project(x.permute(0, 2, 1)).squeeze(-1)

    return Operator().double()


def relative(got, wanted):
    """The mean of each sample's error over its size."""
    return ((got - wanted).norm(p=2, dim=-1) / wanted.norm(p=2, dim=-1)).mean()


def loudness(torch, x):
    """Logarithms of a short-time spectrum (N, F, T)."""
    window = torch.hann_window(8, dtype=x.dtype)
    return torch.stft(x, 8, hop_length=4, window=window, return_complex=True).abs().clamp_min(0.1).log()


def pairs(torch, rng: np.random.Generator, count: int, points: int):
    """Smooth functions (N, L), and each convolved with a kernel and bent."""
    phases, sizes = rng.uniform(0, 6.28, (count, 3)), rng.normal(size=(count, 3))
    waves = np.arange(1, 4)[None, :, None] * np.linspace(0, 6.28, points, endpoint=False) + phases[..., None]
    a = torch.from_numpy((sizes[..., None] * np.cos(waves)).sum(1))
    kernel = torch.exp(-torch.fft.rfftfreq(points, 1 / points, dtype=a.dtype))
    return a, torch.tanh(torch.fft.irfft(torch.fft.rfft(a) * kernel, n=points))


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    a, u = pairs(torch, rng, 24, POINTS)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-4, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=8, gamma=0.5)

    losses, norms = [], []
    for _ in range(20):
        batch = torch.from_numpy(rng.permutation(24)[:8])
        out = model(a[batch])
        loss = relative(out, u[batch]) + 0.1 * (loudness(torch, out) - loudness(torch, u[batch])).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        norms.append(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).item())
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        finer = relative(*(lambda a, u: (model(a), u))(*pairs(torch, rng, 4, 2 * POINTS)))
    average = optimizer.state[model.spectral[0].weight]["exp_avg"]
    return {
        "loss": losses,
        "norm": norms,
        "finer grid": finer.item(),
        "numbers": sum(p.numel() * (2 if p.is_complex() else 1) for p in model.parameters()),
        "average": torch.view_as_real(average).numpy(),
        "parameters": arrays(model.named_parameters()),
    }
