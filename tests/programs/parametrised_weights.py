"""A critic with spectral norms, a generator with weight norms and a symmetric weight: parametrisations, old and new, hinge loss."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    parametrize, parametrizations = nn.utils.parametrize, nn.utils.parametrizations
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)

    class Symmetric(nn.Module):
        def forward(self, X):
            return X.triu() + X.triu(1).transpose(-1, -2)

        def right_inverse(self, A):
            return A.triu()

    def plain(*sizes: int):
        layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:], strict=False)]
        return fill(torch, nn.Sequential(*layers), rng).double()

    critic, generator = plain(3, 8, 8, 1), plain(2, 6, 6, 3)
    for layer in (critic[0], critic[2]):
        parametrizations.spectral_norm(layer)
    critic[1] = nn.utils.spectral_norm(critic[1], n_power_iterations=2)
    parametrizations.weight_norm(generator[0], dim=0)
    parametrize.register_parametrization(generator[1], "weight", Symmetric())
    parametrizations.orthogonal(generator[2])

    def forward(model, x):
        for layer in model[:-1]:
            x = F.leaky_relu(layer(x), 0.1)
        return model[-1](x)

    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.5, 0.9))
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
    losses, sizes = [], []
    for _ in range(8):
        real = torch.from_numpy(rng.normal(size=(16, 3)) * [1, 0.2, 2] + [0, 1, -1])
        noise = torch.from_numpy(rng.normal(size=(16, 2)))
        fake = forward(generator, noise)
        critic_loss = F.relu(1 - forward(critic, real)).mean() + F.relu(1 + forward(critic, fake.detach())).mean()
        critic_optimizer.zero_grad()
        critic_loss.backward()
        critic_optimizer.step()
        generator_loss = -forward(critic, fake).mean()
        generator_optimizer.zero_grad()
        generator_loss.backward()
        generator_optimizer.step()
        losses.append((critic_loss.item(), generator_loss.item()))
        sizes.append(torch.linalg.matrix_norm(critic[0].weight.detach(), 2).item())
    with torch.no_grad():
        weight = generator[1].weight
        off = (generator[2].weight.T @ generator[2].weight - torch.eye(6, dtype=torch.double)).abs()
        rank = torch.linalg.matrix_rank(generator[2].weight).item()
    parametrize.remove_parametrizations(generator[1], "weight")
    return {
        "loss": losses,
        "size": sizes,
        "symmetric": torch.equal(weight, weight.mT),
        "off": off.numpy(),
        "rank": rank,
        "critic": arrays(critic.state_dict().items()),
        "generator": arrays(generator.named_parameters()),
    }
