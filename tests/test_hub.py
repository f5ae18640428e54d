"""Weights fetched by address, from files on this machine."""

from __future__ import annotations

import hashlib

import pytest
import torch

import funtorch

hub = funtorch.hub


@pytest.fixture
def weights(tmp_path):
    """A file of PyTorch's whose name has its hash, as an address."""
    path = tmp_path / "weights.pth"
    torch.save({"w": torch.arange(3.0)}, path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return path.rename(tmp_path / f"weights-{digest[:8]}.pth")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(hub, "_chosen", [])


def test_folders_are_those_of_torch(monkeypatch, tmp_path):
    assert hub.get_dir() == torch.hub.get_dir() == str(tmp_path / "home" / "hub")
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert hub.get_dir() == torch.hub.get_dir() == str(tmp_path / "cache" / "torch" / "hub")
    hub.set_dir(tmp_path / "mine")
    assert hub.get_dir() == str(tmp_path / "mine")


def test_a_state_dict_is_fetched_once(weights, capsys):
    url = weights.as_uri()
    found = hub.load_state_dict_from_url(url, check_hash=True, map_location="cpu", weights_only=True)
    assert found["w"].tolist() == [0, 1, 2]
    assert url in capsys.readouterr().err
    weights.unlink()
    again = funtorch.utils.model_zoo.load_url(url, progress=False)
    assert again["w"].tolist() == [0, 1, 2] and capsys.readouterr().err == ""


def test_another_folder_and_name(weights, tmp_path):
    hub.load_state_dict_from_url(weights.as_uri(), model_dir=str(tmp_path / "here"), file_name="mine.pth")
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["mine.pth"]


def test_a_wrong_hash_leaves_nothing(weights, tmp_path):
    target = tmp_path / "out" / "w.pth"
    target.parent.mkdir()
    with pytest.raises(RuntimeError, match=r'invalid hash value \(expected "0123", got "[0-9a-f]{64}"\)'):
        hub.download_url_to_file(weights.as_uri(), str(target), hash_prefix="0123")
    assert list(target.parent.iterdir()) == []
    with pytest.raises(OSError):
        hub.download_url_to_file((tmp_path / "nothing").as_uri(), str(target))
    assert list(target.parent.iterdir()) == []


def test_a_local_hubconf(tmp_path):
    (tmp_path / "hubconf.py").write_text("dependencies = ['math']\ndef linear(n, bias=True):\n    return ('linear', n, bias)\n")
    assert hub.load(str(tmp_path), "linear", 3, source="local", bias=False) == ("linear", 3, False)
    with pytest.raises(RuntimeError, match="Cannot find callable conv"):
        hub.load(str(tmp_path), "conv", source="local")
    (tmp_path / "hubconf.py").write_text("dependencies = ['nothing_of_the_kind']\n")
    with pytest.raises(RuntimeError, match="nothing_of_the_kind"):
        hub.load(str(tmp_path), "linear", source="local")
    with pytest.raises(NotImplementedError, match="github"):
        hub.load("someone/something", "linear")
    with pytest.raises(ValueError, match='Unknown source: "ftp"'):
        hub.load(str(tmp_path), "linear", source="ftp")


def test_what_a_hubconf_has(tmp_path):
    (tmp_path / "hubconf.py").write_text("def linear(n):\n    'A layer.'\n\ndef _hidden():\n    pass\n\nsize = 3\n")
    assert hub.list(str(tmp_path)) == ["linear"] and hub.help(str(tmp_path), "linear", source="local") == "A layer."
    with pytest.raises(RuntimeError, match="Cannot find callable conv"):
        hub.help(str(tmp_path), "conv")
    with pytest.raises(NotImplementedError, match="hub.list"):
        hub.list("someone/something")
