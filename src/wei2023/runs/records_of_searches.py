"""What the repository keeps of deep searches: one file for each tuning, with what they were made from.

A record has every candidate that was scored on the selection seeds, so the curve of effort can be drawn from it; the
default run takes those that were kept.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nscmdp import __version__, files
from nscmdp.suite import tuning
from wei2023.runs import parts, specifications
from wei2023.study import layout
from wei2023.study.plan import Plan

DECISIVE = ("frames", "start", "strict", "objective", "variants", "evaluate_every")


def write(plan: Plan, results: Path, output: Path) -> None:
    """The records of all tunings whose searches are part of a run."""
    for name in plan.tunings:
        files.write_text(output / layout.record(name), text(plan, results, name))


def text(plan: Plan, results: Path, name: str) -> str:
    """JSON, one candidate per line."""
    chosen = plan.tuning(name)
    made_from = {
        "environment": {case.name: case.spec for case in plan.cases_of(name)},
        "effort": plan.effort_of(name),
        "searches": plan.searches_of(name),
        **{key: getattr(chosen, key) for key in DECISIVE},
        "sources": {
            algorithm: specifications.search(plan, name, algorithm, chosen.episodes, 0)["sources"]
            for algorithm in chosen.algorithms
        },
        "version": __version__,
    }
    found: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for tuned, algorithm, episodes, _ in plan.tuning_files():
        if tuned == name:
            searches = [results / file for file in plan.searched_by(name, algorithm, episodes)]
            spec = specifications.tuning(plan, name, algorithm, episodes)
            entries = tuning.entries(searches, spec, parts.margins_of(spec))
            found.setdefault(algorithm, {})[str(episodes)] = entries
    return one_line_each({"tuning": name, "made_from": made_from, "searches": found})


def one_line_each(record: dict[str, Any]) -> str:
    head = json.dumps({key: value for key, value in record.items() if key != "searches"})[:-1]

    def block(begin: str, lines: Iterable[str], end: str) -> str:
        return f"{begin}\n" + ",\n".join(lines) + f"\n{end}"

    learners = [
        block(
            f"{json.dumps(algorithm)}: {{",
            (
                block(f"{json.dumps(K)}: [", map(json.dumps, entries), "]")
                for K, entries in by_episodes.items()
            ),
            "}",
        )
        for algorithm, by_episodes in record["searches"].items()
    ]
    return block(f'{head},\n"searches": {{', learners, "}}") + "\n"
