"""How commands are declared, in groups, each with a line of help and an example; and what several of them take."""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

from nscmdp.plugins import unknown

EPISODES = 10_000
MANY: dict[str, Any] = {"action": "append", "default": [], "metavar": "NAME=VALUE"}


class Commands:
    """A parser whose help shows its commands by groups."""

    def __init__(self, name: str, about: str) -> None:
        self.parser = argparse.ArgumentParser(
            prog=name,
            usage=f"{name} [--plugin FILE] COMMAND ...",
            description=about,
            epilog=f"{name} COMMAND --help says what a command takes.\n--plugin FILE: an algorithm or environment.",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        self.parser.set_defaults(run=lambda _: self.parser.print_help())
        hidden: Any = {"metavar": "COMMAND", "help": argparse.SUPPRESS}
        self._parsers = self.parser.add_subparsers(prog=name, **hidden)

    def group(self, title: str) -> None:
        """The commands that follow stand below this title."""
        self.parser.description = f"{self.parser.description}\n\n{title}:"

    def add(
        self, name: str, run: Callable | None, help: str, example: str
    ) -> argparse.ArgumentParser:
        """A command that calls ``run`` with what was chosen."""
        line = f"  {name:10} {help}\n  {'':10}   {example}"
        self.parser.description = f"{self.parser.description}\n{line}"
        sub = self._parsers.add_parser(name, description=help, epilog=f"example: {example}")
        if run is not None:
            sub.set_defaults(run=run)
        return sub

    def parse(self, given: Sequence[str]) -> argparse.Namespace:
        """What was chosen; where the first word is no command, the nearest one is suggested."""
        known = self._parsers.choices
        if given and not given[0].startswith("-") and given[0] not in known:
            self.parser.error(unknown(given[0], known, f"unknown command {given[0]!r}"))
        return self.parser.parse_args(given)


def add_drift(option: Callable[..., object]) -> None:
    """How long an environment lasts, and its options."""
    about = f"default: {EPISODES:,}"
    option("--episodes", type=int, default=EPISODES, metavar="K", help=about)
    option("--option", **MANY, help="of the environment")


def environment(name: str, chosen: argparse.Namespace) -> Any:
    """The environment ``name`` with the options that were chosen."""
    import inspect

    from nscmdp import environments

    if chosen.episodes < 1:
        raise ValueError(f"--episodes {chosen.episodes}: expected at least 1")
    options = named("--option", chosen.option)
    parameters = inspect.signature(environments.maker(name)).parameters
    for option, value in options.items():
        kind: Any = parameters[option].annotation if option in parameters else None
        if kind in (int, float):
            is_number = isinstance(value, int | kind) and not isinstance(value, bool)
            accepted = is_number and abs(value) < float("inf")
        else:
            is_free = not isinstance(kind, type) or kind is inspect.Parameter.empty
            accepted = is_free or isinstance(value, kind)
        if not accepted:
            raise ValueError(f"--option {option}={json.dumps(value)}: expected {kind.__name__}")
    try:
        return environments.make(name, chosen.episodes, **options)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from None


def named(option: str, texts: Sequence[str]) -> dict[str, Any]:
    """{"legs": 2} of ["legs=2"]; what is not JSON is text."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"{option} {text}: expected NAME=VALUE")
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    return found


def setting_of(algorithm: str, chosen: argparse.Namespace) -> str:
    """The setting that was chosen; else "scaled", which every algorithm with factors has."""
    from nscmdp import algorithms

    offered = algorithms.settings(algorithm)
    return chosen.setting or ("scaled" if "scaled" in offered else offered[0])
