"""The command ``funtorch``: ``demo`` shows what the library does, ``info`` what it runs on, ``run`` runs a PyTorch script on it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="funtorch", description="PyTorch's eager API on JAX.")
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="train, compile, per-sample gradients, meta-learning and Hessians on real digits")
    demo.add_argument(
        "--only",
        metavar="PART",
        action="append",
        help="run this part only: train, compile, per-sample, maml or hvp (may be repeated)",
    )
    demo.add_argument("--seed", type=int, default=0, help="of all random numbers (default 0)")
    demo.add_argument("--device", default="cpu", help="cpu, cuda or tpu (default cpu)")
    demo.add_argument("--json", metavar="FILE", help="write the results there as well")
    info = commands.add_parser("info", help="versions, devices, cache folder, engine")
    engine = "also the rules between its tiers, its bounds, and the primitives with and without NumPy rules"
    info.add_argument("--engine", action="store_true", help=engine)
    script = commands.add_parser("run", help="run a PyTorch script with funtorch in the place of torch")
    script.add_argument("-m", dest="module", action="store_true", help="SCRIPT is the name of a module")
    script.add_argument("script", metavar="SCRIPT")
    script.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="the script's own arguments")
    chosen = parser.parse_args(arguments)
    if chosen.command == "run":
        from .naming.running import run as run_script

        run_script(chosen.script, chosen.rest, as_module=chosen.module)
        return 0
    if chosen.command == "info":
        from .information import show

        show(engine=chosen.engine)
        return 0
    from .demo import run

    return run(only=chosen.only, seed=chosen.seed, device=chosen.device, json_file=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
