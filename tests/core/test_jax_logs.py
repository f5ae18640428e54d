"""A script that logs at the lowest level sees its own messages, and JAX's only if it asked for them."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import jax
import pytest

from funtorch.core.jax_logs import LOGGER, keep_to_warnings

SCRIPT = """
import logging, sys
import funtorch as torch
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s: %(message)s")
x = torch.randn(300, 300, requires_grad=True)
x.exp().sum().backward()
logging.info("done")
"""


def messages(**environment: str) -> list[str]:
    """What the script logs."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **environment}, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_a_script_logs_its_own_messages_alone():
    assert messages() == ["root: done"]


def test_jax_logs_what_was_asked_for():
    heard = messages(JAX_LOGGING_LEVEL="DEBUG")
    assert "root: done" in heard
    assert any(line.startswith("jax.") for line in heard)


@pytest.mark.parametrize("chosen", [logging.DEBUG, logging.INFO, logging.ERROR])
def test_a_chosen_level_stays(chosen, monkeypatch):
    monkeypatch.setattr(logging.getLogger(LOGGER), "level", chosen)
    keep_to_warnings()
    assert logging.getLogger(LOGGER).level == chosen


def test_jaxs_own_setting_comes_after(monkeypatch):
    before = jax.config.jax_logging_level
    try:
        jax.config.update("jax_logging_level", "INFO")
        assert logging.getLogger(LOGGER).getEffectiveLevel() == logging.INFO
    finally:
        jax.config.update("jax_logging_level", before)
        keep_to_warnings()
