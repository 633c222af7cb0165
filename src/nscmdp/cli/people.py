"""The commands that people call, by groups."""

import argparse
from collections.abc import Sequence

from nscmdp.cli import look, own, run
from nscmdp.cli.commands import Commands


def parse(given: Sequence[str]) -> argparse.Namespace:
    commands = Commands(
        "nscmdp", "Non-stationary constrained MDPs: drifting models, learners, exact regret."
    )
    commands.group("to look")
    look.add(commands)
    commands.group("to run")
    run.add(commands)
    commands.group("to extend")
    own.add(commands)
    return commands.parse(given)
