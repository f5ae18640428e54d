"""Tones to letters: spectrograms by stft, masked in time and frequency, convolution and GRU, CTC loss, greedy decoding."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-4
LETTERS, BLANK = 4, 0


def build(torch):
    nn = torch.nn

    class Recogniser(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Sequential(nn.Conv1d(17, 10, 3, padding=1), nn.Hardtanh(0, 20, inplace=True))
            self.gru = nn.GRU(10, 8, bidirectional=True, batch_first=True)
            self.norm, self.fc = nn.LayerNorm(16), nn.Linear(16, LETTERS + 1)

        def forward(self, spectrogram):
            x = self.conv(spectrogram).transpose(1, 2)  # (N, T, 10)
            x, _ = self.gru(x)
            return torch.nn.functional.log_softmax(self.fc(self.norm(x)), dim=-1)

    return Recogniser()


def utterances(rng: np.random.Generator, count: int = 4, length: int = 3):
    """Waves (N, samples) of one tone for each letter, and the letters (N, length)."""
    letters = rng.integers(1, LETTERS + 1, (count, length))
    time = np.arange(64) / 64
    waves = np.sin(2 * np.pi * 4 * letters[..., None] * time).reshape(count, -1)
    return waves + 0.05 * rng.normal(size=waves.shape), letters


def decode(log_probabilities) -> list:
    path = log_probabilities.argmax(dim=-1).tolist()
    return [[letter for i, letter in enumerate(row) if letter != BLANK and (i == 0 or row[i - 1] != letter)] for row in path]


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0, rho=0.95)
    criterion = nn.CTCLoss(blank=BLANK, zero_infinity=True)
    waves, letters = utterances(rng)
    window = torch.hann_window(32)
    spectra = torch.stft(torch.tensor(waves, dtype=torch.float32), 32, hop_length=16, window=window, return_complex=True)
    spectrogram = torch.log1p(spectra.abs() ** 2)  # (N, 17, frames)
    spectrogram = (spectrogram - spectrogram.mean((1, 2), keepdim=True)) / spectrogram.std(dim=(1, 2), keepdim=True)
    back = torch.istft(spectra, 32, hop_length=16, window=window, length=waves.shape[1])
    targets, lengths = torch.tensor(letters), torch.tensor([3, 3, 2, 3])

    losses = []
    for _ in range(8):
        masked = spectrogram.clone()
        start = int(rng.integers(0, 10))
        masked[:, :, start : start + 2] = 0
        masked[:, int(rng.integers(0, 17))].zero_()
        output = model(masked).transpose(0, 1)  # (T, N, letters)
        frames = torch.full((4,), output.size(0), dtype=torch.long)
        loss = criterion(output, targets, frames, lengths)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    with torch.no_grad():
        output = model(spectrogram)
    found = decode(output)
    return {
        "loss": losses,
        "spectrogram": spectrogram.numpy(),
        "gone and come back": float(np.abs(back.numpy() - waves).max() < 1e-4),
        "letters found": [len(each) for each in found],
        "log probabilities": output.numpy(),
        "parameters": arrays(model.named_parameters()),
    }
