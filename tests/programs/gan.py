"""A GAN on a ring of points: two networks, two optimisers, gradients that must not leak across."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def ring(rng: np.random.Generator, size: int) -> np.ndarray:
    angle = rng.uniform(0, 2 * np.pi, size)
    return np.stack([np.cos(angle), np.sin(angle)], 1) + 0.05 * rng.normal(size=(size, 2))


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    rng = np.random.default_rng(seed)
    generator = nn.Sequential(nn.Linear(3, 12), nn.LeakyReLU(0.2), nn.Linear(12, 2)).double()
    critic = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1)).double()
    for module in (generator, critic):
        fill(torch, module, rng)
    criterion = nn.BCEWithLogitsLoss()
    for_generator = torch.optim.Adam(generator.parameters(), lr=5e-3, betas=(0.5, 0.99))
    for_critic = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.99))

    losses = {"critic": [], "generator": []}
    for _ in range(12):
        real = torch.from_numpy(ring(rng, 16))
        fake = generator(torch.from_numpy(rng.normal(size=(16, 3))))

        for_critic.zero_grad()
        on_real, on_fake = critic(real), critic(fake.detach())
        critic_loss = criterion(on_real, torch.ones_like(on_real))
        critic_loss = critic_loss + criterion(on_fake, torch.zeros_like(on_fake))
        critic_loss.backward()
        for_critic.step()

        for_generator.zero_grad()
        verdict = critic(fake)
        generator_loss = criterion(verdict, torch.ones_like(verdict))
        generator_loss.backward()
        for_generator.step()

        losses["critic"].append(critic_loss.item())
        losses["generator"].append(generator_loss.item())
    return {
        "loss": losses,
        "generator": arrays(generator.named_parameters()),
        "critic": arrays(critic.named_parameters()),
    }
