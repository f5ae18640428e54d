"""``funtorch.hub``: weights fetched by address and kept on disk, in the folder that PyTorch uses too."""

from __future__ import annotations

import builtins
import contextlib
import hashlib
import importlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

from .errors import ArgumentValueError, MissingError, OpError
from .serialization import load as _load

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

DEFAULT_CACHE_DIR, READ_DATA_CHUNK = "~/.cache", 128 * 1024
ENV_TORCH_HOME, ENV_XDG_CACHE_HOME, ENV_GITHUB_TOKEN = "TORCH_HOME", "XDG_CACHE_HOME", "GITHUB_TOKEN"
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # the beginning of a file's hash, in its name: resnet18-bfd8deac.pth
MODULE_HUBCONF, VAR_DEPENDENCY = "hubconf.py", "dependencies"

_chosen: builtins.list[str] = []


def _get_torch_home() -> str:
    cache = os.getenv(ENV_XDG_CACHE_HOME, DEFAULT_CACHE_DIR)
    return os.path.expanduser(os.getenv(ENV_TORCH_HOME, os.path.join(cache, "torch")))


def get_dir() -> str:
    """The folder for what was fetched: `set_dir`'s, else ``$TORCH_HOME/hub``, else ``$XDG_CACHE_HOME/torch/hub``."""
    return _chosen[0] if _chosen else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike) -> None:
    """Say where to keep what is fetched."""
    _chosen[:] = [os.path.expanduser(d)]


def download_url_to_file(url: str, dst: str | os.PathLike, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetch what stands at an address into a file, which is there whole or not at all.

    Args:
        url: http, https, ftp or file.
        dst: the file.
        hash_prefix: the beginning of the SHA-256 that the content must have.
        progress: accepted, without effect.

    Raises:
        RuntimeError: the content has another hash.
        urllib.error.URLError: it can't be reached.
    """
    target = Path(os.path.expanduser(dst))
    digest = hashlib.sha256()
    with urlopen(Request(url, headers={"User-Agent": "funtorch.hub"})) as source:
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=target.name, suffix=".partial", delete=False) as part:
            try:
                while block := source.read(READ_DATA_CHUNK):
                    digest.update(block)
                    part.write(block)
                part.close()
                found = digest.hexdigest()
                if hash_prefix is not None and not found.startswith(hash_prefix):
                    raise OpError(f'invalid hash value (expected "{hash_prefix}", got "{found}")')
                shutil.move(part.name, target)
            finally:
                Path(part.name).unlink(missing_ok=True)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """`torch.load` of a file at an address, fetched once.

    Args:
        url: where it is.
        model_dir: where to keep it; ``get_dir()/checkpoints`` unless given.
        map_location: as for `torch.load`.
        progress: accepted, without effect.
        check_hash: whether the file's name ends with the beginning of its SHA-256, after a "-", which is then compared.
        file_name: its name here; the address's unless given.
        weights_only: as for `torch.load`.

    Raises:
        RuntimeError: the content has another hash than its name says.
    """
    folder = Path(model_dir or os.path.join(get_dir(), "checkpoints"))
    folder.mkdir(parents=True, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    kept = folder / name
    if not kept.exists():
        sys.stderr.write(f'Downloading: "{url}" to {kept}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, kept, found.group(1) if found else None, progress)
    return _load(str(kept), map_location=map_location, weights_only=weights_only)


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Call the function ``model`` of a folder's ``hubconf.py`` and return what it makes.

    Args:
        repo_or_dir: the folder.
        model: the function's name.
        args, kwargs: what it is called with.
        source: must be "local".
        trust_repo, force_reload, verbose, skip_validation: accepted, without effect.

    Raises:
        NotImplementedError: another source than "local": no repository is fetched.
        ValueError: an unknown source.
        RuntimeError: ``hubconf.py`` has no such function, or a package that it names is not there.
    """
    with _hubconf(repo_or_dir, source, "load") as module:
        return _entry(module, model)(*args, **kwargs)


def list(  # noqa: A001
    github: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None, verbose: bool = True,
    source: str = "local",
) -> Any:  # fmt: skip
    """The names of the functions of a folder's ``hubconf.py``.

    Differs from PyTorch: ``github`` is the folder, since no repository is fetched.

    Args:
        github: the folder.
        force_reload, skip_validation, trust_repo, verbose: accepted, without effect.
        source: must be "local".

    Raises as `load` does.
    """
    if not os.path.isdir(os.path.expanduser(github)):
        source = "github"
    with _hubconf(github, source, "list") as module:
        return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(  # noqa: A001
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None,
    source: str = "local",
) -> str | None:  # fmt: skip
    """What a function of a folder's ``hubconf.py`` says of itself. Arguments and errors are those of `list` and `load`."""
    if not os.path.isdir(os.path.expanduser(github)):
        source = "github"
    with _hubconf(github, source, "help") as module:
        return _entry(module, model).__doc__


@contextlib.contextmanager
def _hubconf(repo_or_dir: str, source: str, who: str) -> Iterator[Any]:
    """A folder's ``hubconf.py``, whose neighbours can be imported within."""
    if source.lower() not in ("github", "local"):
        raise ArgumentValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source.lower() == "github":
        raise MissingError(
            f"hub.{who}(source='github') is not in funtorch; fetch the repository and pass its folder with source='local'"
        )
    folder = os.path.expanduser(repo_or_dir)
    sys.path.insert(0, folder)
    try:
        spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, os.path.join(folder, MODULE_HUBCONF))
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(folder)


def _entry(module: Any, model: str) -> Any:
    """A function of ``hubconf.py``. Raises RuntimeError if it isn't there, or a package that the file names."""
    missing = [each for each in getattr(module, VAR_DEPENDENCY, ()) if importlib.util.find_spec(each) is None]
    if missing:
        raise OpError(f"Missing dependencies: {', '.join(missing)}")
    entry = getattr(module, model, None)
    if not callable(entry):
        raise OpError(f"Cannot find callable {model} in hubconf")
    return entry
