"""Ten thousand corruptions of good files: each loads, or raises an error of a known kind; none runs, hangs or swallows memory."""

import io
import pickle
import random
import resource
import zipfile

import pytest

import funtorch

KNOWN = (pickle.UnpicklingError, RuntimeError, EOFError)
TIMES = 10_000


def content():
    x = funtorch.arange(12.0).view(3, 4)
    layer = funtorch.nn.Linear(3, 2)
    optimizer = funtorch.optim.Adam(layer.parameters())
    layer(funtorch.ones(1, 3)).sum().backward()
    optimizer.step()
    return {
        "views": [x, x.t(), x[1:, ::2]],
        "model": layer.state_dict(),
        "optimizer": optimizer.state_dict(),
        "types": [funtorch.ones(2, dtype=t) for t in (funtorch.uint16, funtorch.bfloat16, funtorch.bool)],
        "plain": (1, 2.5, None, "text", b"bytes", {3}, 2**80, funtorch.Size([1]), funtorch.device("cpu"), funtorch.float16),
        "parameter": funtorch.nn.Parameter(funtorch.ones(2)),
    }


def files():
    """The zip, the legacy format, and a zip whose structure is damaged while its checksums are right."""
    made = {}
    for name in ("zip", "legacy"):
        buffer = io.BytesIO()
        funtorch.save(content(), buffer, _use_new_zipfile_serialization=name == "zip")
        made[name] = buffer.getvalue()
    return made


def damage(data, draw):
    data = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at, kind = draw.randrange(len(data)), draw.randrange(6)
        if kind == 0:
            data[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            data[at] = draw.randrange(256)
        elif kind == 2:
            del data[at : at + draw.choice((1, 2, 8, 100))]
        elif kind == 3:
            data[at:at] = draw.randbytes(draw.choice((1, 2, 8)))
        elif kind == 4:
            data[at : at + 4] = draw.choice((b"\xff" * 4, b"\0" * 4, b"\xff\xff\xff\x7f"))
        elif draw.random() < 0.3:
            del data[at:]
        if not data:
            break
    return bytes(data)


def repacked(data, structure):
    """The archive with another structure, and right checksums."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            new.writestr(name, structure if name.endswith("data.pkl") else old.read(name))
    return buffer.getvalue()


@pytest.mark.filterwarnings("ignore")  # zipfile warns of some
@pytest.mark.timeout(120)
def test_corruptions():
    draw, good = random.Random(0), files()
    with zipfile.ZipFile(io.BytesIO(good["zip"])) as archive:
        structure = archive.read("archive/data.pkl")
    before, outcomes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, {}
    for number in range(TIMES):
        kind = ("zip", "legacy", "structure", "legacy")[number % 4]
        if kind == "structure":
            data = repacked(good["zip"], damage(structure, draw))
        else:
            data = damage(good[kind], draw)
        try:
            funtorch.load(io.BytesIO(data))
            outcome = "loads"
        except KNOWN as error:
            assert str(error).startswith(("load(", "Only Tensors", "only Tensors")), repr(error)
            outcome = "refused"
        outcomes[kind, outcome] = outcomes.get((kind, outcome), 0) + 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000, "KiB"
    assert outcomes["zip", "refused"] > TIMES // 8 and outcomes["structure", "refused"] > TIMES // 8, outcomes
