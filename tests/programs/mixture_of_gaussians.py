"""A mixture of Gaussians, twice: EM with `distributions`, then gradients on a `MixtureSameFamily` from there."""

import numpy as np
from starting_point import arrays

TOLERANCE = 1e-7


def expectation_maximisation(torch, x, weights, means, covariances):
    """One round: responsibilities, then the parameters that fit them. Returns the likelihood before, and these."""
    D = torch.distributions
    joint = D.MultivariateNormal(means, covariances).log_prob(x[:, None]) + weights.log()
    evidence = torch.logsumexp(joint, dim=1, keepdim=True)
    responsibility = torch.exp(joint - evidence)
    total = responsibility.sum(dim=0)
    means = responsibility.t() @ x / total[:, None]
    centred = x[:, None] - means
    covariances = torch.einsum("nk,nkd,nke->kde", responsibility, centred, centred) / total[:, None, None]
    covariances = covariances + 1e-3 * torch.eye(2, dtype=x.dtype)
    return evidence.mean().item(), total / len(x), means, covariances


def run(torch, seed: int = 0) -> dict:
    D, nn = torch.distributions, torch.nn
    rng = np.random.default_rng(seed)
    centres = np.array([[2.0, 0.0], [-2.0, 1.0], [0.0, -2.0]])
    x = torch.from_numpy(np.concatenate([centre + 0.6 * rng.normal(size=(20, 2)) for centre in centres]))

    weights = torch.full((3,), 1 / 3, dtype=torch.double)
    means = x[torch.tensor([0, 1, 40])].clone()
    covariances = torch.eye(2, dtype=torch.double).expand(3, 2, 2)
    likelihoods = []
    for _ in range(8):
        likelihood, weights, means, covariances = expectation_maximisation(torch, x, weights, means, covariances)
        likelihoods.append(likelihood)

    logits = nn.Parameter(weights.log())
    location = nn.Parameter(means + 0.1 * torch.from_numpy(rng.normal(size=(3, 2))))
    log_scale = nn.Parameter(torch.diagonal(covariances, dim1=-2, dim2=-1).sqrt().log())
    optimizer = torch.optim.Adam((logits, location, log_scale), lr=0.05)
    losses, divergences = [], []
    for _ in range(10):
        parts = D.Independent(D.Normal(location, log_scale.exp()), 1)
        mixture = D.MixtureSameFamily(D.Categorical(logits=logits), parts)
        prior = D.Independent(D.Normal(torch.zeros_like(location), torch.full_like(log_scale, 3.0)), 1)
        divergence = D.kl_divergence(parts, prior).sum()
        loss = -mixture.log_prob(x).mean() + 1e-2 * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        divergences.append(divergence.item())
    fitted = {"logits": logits, "location": location, "log_scale": log_scale}
    torch.manual_seed(seed)
    return {
        "likelihood": likelihoods,
        "loss": losses,
        "divergence": divergences,
        "entropy": mixture.mixture_distribution.entropy().item(),
        "mean": mixture.mean.detach().numpy(),
        "components": D.Categorical(logits=logits.detach()).sample((10,)).numpy(),
        "parameters": arrays(fitted.items()),
    }
