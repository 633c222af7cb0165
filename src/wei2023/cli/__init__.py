"""The command line ``wei2023``: to validate a configuration, to check results, and the jobs that the rules call."""

from argparse import Namespace
from collections.abc import Sequence

from nscmdp.cli import call


def main(arguments: Sequence[str] | None = None) -> int:
    return call("wei2023", parse, arguments)


def parse(given: Sequence[str]) -> Namespace:
    if given[:1] == ["job"]:
        from wei2023.cli import jobs

        return jobs.parser().parse_args(given[1:])
    from nscmdp.cli.commands import Commands
    from wei2023.cli import audit

    commands = Commands(
        "wei2023", "The replication of Wei et al. (2023): its configuration, its results, its jobs."
    )
    audit.add(commands)
    commands.add("job", None, "a step of the pipeline, as its rules call it", "wei2023 job --help")
    return commands.parse(given)
