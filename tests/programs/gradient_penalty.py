"""WGAN-GP: the critic's loss holds the norm of its own gradient at points between real and generated ones."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    rng = np.random.default_rng(seed)
    critic = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 16), nn.ELU(), nn.Linear(16, 1))
    generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 3)).double()
    for module in (critic.double(), generator):
        fill(torch, module, rng)
    for_critic = torch.optim.Adam(critic.parameters(), lr=2e-3, betas=(0.0, 0.9))
    for_generator = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.0, 0.9))

    def penalty(real, fake):
        mix = torch.from_numpy(rng.random((len(real), 1)))
        between = torch.lerp(real, fake, mix).requires_grad_(True)
        scores = critic(between)
        (slope,) = torch.autograd.grad(
            scores, between, grad_outputs=torch.ones_like(scores), create_graph=True, retain_graph=True
        )
        return ((slope.norm(2, dim=1) - 1) ** 2).mean()

    critic_losses, penalties, generator_losses = [], [], []
    for step in range(10):
        real = torch.from_numpy(rng.normal(size=(12, 3)) * [1.0, 0.5, 2.0])
        noise = torch.from_numpy(rng.normal(size=(12, 2)))
        with torch.no_grad():
            fake = generator(noise)
        gap = critic(fake).mean() - critic(real).mean()
        excess = penalty(real, fake)
        for_critic.zero_grad()
        (gap + 10 * excess).backward()
        for_critic.step()
        critic_losses.append(gap.item())
        penalties.append(excess.item())
        if step % 2:
            loss = -critic(generator(noise)).mean()
            for_generator.zero_grad()
            loss.backward()
            for_generator.step()
            generator_losses.append(loss.item())
    return {
        "critic": critic_losses,
        "penalty": penalties,
        "generator": generator_losses,
        "parameters": arrays([*critic.named_parameters("critic"), *generator.named_parameters("generator")]),
    }
