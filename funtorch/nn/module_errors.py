"""Saying where in a model an error arose: its path, as a note on the exception."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .module import Module


def note_place(error: Exception, module: Module) -> None:
    """Adds the path of the module that raised to an error, as a note; each enclosing module lengthens it.

    A note reads ``in GPT.blocks.3.attention (Attention)``. The error keeps the id of the module noted
    last, that is the one right below on the way out, and where in its notes the note stands.
    """
    kept = error.__dict__.get("_module_place")
    if kept is None:
        path = ""
        below, index, kind = 0, len(getattr(error, "__notes__", ())), type(module).__name__
    else:
        below, index, kind, path = kept
        step = next((name for name, found in module.named_modules() if id(found) == below), None)
        if step is None:
            # Called from here, but no part of this module: the path as it is names it best.
            return
        path = ".".join(part for part in (step, path) if part)
    error.__dict__["_module_place"] = (id(module), index, kind, path)
    note = f"in {type(module).__name__}.{path} ({kind})" if path else f"in {kind}"
    notes = getattr(error, "__notes__", [])
    if index < len(notes):
        notes[index] = note
    else:
        error.add_note(note)
