"""Direct forms (see `core.direct`) of the ops that most programs begin with."""
