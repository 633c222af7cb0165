"""The command line ``nscmdp``: to look, to run and to extend.

Whatever is heavy is imported by the command that needs it.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import Namespace

INTERRUPTED = 130  # as shells have it: 128 + SIGINT


def main(arguments: Sequence[str] | None = None) -> int:
    return call("nscmdp", parse, arguments)


def parse(given: Sequence[str]) -> "Namespace":
    from nscmdp.cli import look, own, run
    from nscmdp.cli.commands import Commands

    about = "Non-stationary constrained MDPs: drifting models, learners, exact regret."
    commands = Commands("nscmdp", about)
    for title, group in (("to look", look), ("to run", run), ("to extend", own)):
        commands.group(title)
        group.add(commands)
    return commands.parse(given)


def call(
    name: str, parse: Callable[[Sequence[str]], "Namespace"], arguments: Sequence[str] | None = None
) -> int:
    """Run the command that was chosen; a mistake that its message explains gets one line and no traceback.

    Plug-ins are named by ``--plugin FILE`` or ``--plugin=FILE`` before the command, or by a job's specification.
    """
    files, rest = [], list(sys.argv[1:] if arguments is None else arguments)
    while rest and (rest[0].startswith("--plugin=") or (rest[0] == "--plugin" and len(rest) > 1)):
        word = rest.pop(0)
        files.append(word.partition("=")[2] or rest.pop(0))
    chosen = parse(rest)
    try:
        if files := [*files, *getattr(chosen, "specification", {}).get("plugins", [])]:
            from nscmdp import plugins

            plugins.load(files)
        chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        _say(f"{name}: stopped; nothing half-written is left, the same command starts it again")
        return INTERRUPTED
    except Exception as error:
        if not isinstance(error, ValueError | OSError):
            from nscmdp.files import Damaged, Refused

            if not isinstance(error, Damaged | Refused):
                raise
        _say(f"{name}: {error}")
        return 1
    return 0


def _say(message: str) -> None:
    """To the log; to the terminal if the log's disk is full."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        print(message)
