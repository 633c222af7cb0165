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
    from nscmdp.cli import people

    return call("nscmdp", people.parse, arguments)


def call(
    name: str, parse: Callable[[Sequence[str]], "Namespace"], arguments: Sequence[str] | None = None
) -> int:
    """Run the command that was chosen; a mistake that its message explains gets one line and no traceback."""
    plugins, rest = split(sys.argv[1:] if arguments is None else arguments)
    chosen = parse(rest)
    try:
        _load([*plugins, *getattr(chosen, "specification", {}).get("plugins", [])])
        chosen.run(chosen)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has had enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        _say(f"{name}: stopped; nothing half-written is left, the same command starts it again")
        return INTERRUPTED
    except Exception as error:
        if not _expected(error):
            raise
        _say(f"{name}: {error}")
        return 1
    return 0


def split(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """The files of ``--plugin FILE`` or ``--plugin=FILE`` before the command, and the rest."""
    files, rest = [], list(given)
    while rest and (rest[0].startswith("--plugin=") or (rest[0] == "--plugin" and len(rest) > 1)):
        word = rest.pop(0)
        files.append(word.partition("=")[2] or rest.pop(0))
    return files, rest


def _load(files: list[str]) -> None:
    """Plug-ins that the command line, or the specification of a job, names."""
    if files:
        from nscmdp import plugins

        plugins.load(files)


def _say(message: str) -> None:
    """To the log; to the terminal if the log's disk is full."""
    try:
        print(message, file=sys.stderr, flush=True)
    except OSError:
        print(message)


def _expected(error: Exception) -> bool:
    """Is this a mistake that the message alone explains?"""
    from nscmdp import files

    return isinstance(error, ValueError | files.Damaged | files.Refused | OSError)
