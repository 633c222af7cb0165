"""Does it replicate? One sentence, a table of what holds, and for everything in that table what it rests on."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pandas as pd

from nscmdp.analysis import replication, tables
from nscmdp.analysis.claims.simulation.alternatives import KINDS
from nscmdp.analysis.claims.simulation.parts import PARTS, WHOLE
from nscmdp.problem import Problem
from nscmdp.report.page.curves import CONSTANTS, constants_of, in_words
from nscmdp.report.page.render import number
from nscmdp.report.style import title
from nscmdp.runs import files, optima
from nscmdp.study import layout
from nscmdp.study.plan import Plan

ALGORITHMS = {part.name: part.algorithm for part in PARTS}
ALSO = {"C20b": "C20b forgiving", WHOLE: "C20 forgiving"}  # the same with the dips after restarts forgiven
BY_REWARD = ("C20a", "C20b")  # the others are decided by the cost
SCALARS = {"chi": "χ", "eta": "η", "eps": "ε", "btilde": "b̃", "frame": "frame (episodes)", "epoch": "epoch (episodes)"}

SAID = {  # of several claims, and of one
    "holds": ("hold", "holds"),
    "holds with declared deviations": ("hold with declared deviations", "holds with declared deviations"),
    "does not hold": ("do not hold", "does not hold"),
    "false as printed": ("are false as printed", "is false as printed"),
    "out of reach": ("cannot be judged at feasible K", "cannot be judged at feasible K"),
    "mixed": ("hold in part", "holds in part"),
    "depends on constants": ("depend on constants", "depends on constants"),
}


def context(plan: Plan, folder: Path) -> dict[str, Any] | None:
    if not plan.simulations:
        return None
    c20, claims = (
        json.loads((folder / name).read_text(encoding="utf-8")) for name in (layout.SIMULATION, layout.CLAIMS)
    )
    marks = {text: mark for mark, text in c20["class_names"].items()}
    others = [claim for claim in claims if claim["id"] != WHOLE]
    maps = [*dict.fromkeys(row["map"] for row in c20["classes"])]
    evidence = _Evidence(plan, folder, c20)
    return {
        "lead": _lead(c20),
        "others": _sentence(Counter(claim["verdict"] for claim in others), len(others)),
        "maps": maps,
        "classes": [
            {
                "mark": mark,
                "text": text,
                "parts": [[row for row in c20["classes"] if (row["map"], row["class"]) == (one, text)] for one in maps],
                "claims": [claim for claim in others if claim["class"] == text],
            }
            for mark, text in c20["class_names"].items()
        ],
        "evidence": [evidence.of(row, marks[row["class"]]) for row in c20["classes"]],
        "judged": plan.claim_groups != [],
        "not_counted": {"unlearnt": c20["unlearnt"], "void": c20["void"] + len(c20["void_readings"])},
    }


def _lead(c20: dict[str, Any]) -> str:
    """The answer, as the counts have it."""
    holds, judged = c20["holds_in"], c20["judged"]
    answer = "Not as a whole" if holds == 0 else "Yes" if holds == judged else "In part"
    forgiven = c20["forgiving"]["holds_in"]
    return (
        f"{answer}: what the paper says of its simulation holds in {holds} of {judged} combinations of constants and "
        f"readings, and in {forgiven} where the dip after a restart is forgiven."
    )


def _sentence(verdicts: Counter, number_of_claims: int) -> str:
    """Of the other claims."""
    counted = [f"{count} {SAID[verdict][count == 1]}" for verdict, count in verdicts.most_common()]
    return f"Of the paper's {number_of_claims} other claims that numbers can check, {', '.join(counted)}."


class _Evidence:
    """What the verdict on one part of the simulation's claim on one map rests on."""

    def __init__(self, plan: Plan, folder: Path, c20: dict[str, Any]) -> None:
        self.plan, self.folder, self.c20 = plan, folder, c20
        self.verdicts = replication.verdicts(c20)
        self.moved = replication.over_thresholds(c20)
        saturation = folder / layout.table("saturation.csv")
        self.saturation = tables.load(saturation) if saturation.is_file() else None

    def of(self, row: dict[str, Any], mark: str) -> dict[str, Any]:
        part, here = row["part"], self.verdicts[self.verdicts["map"] == row["map"]]
        cells = here[here["part"] == part]
        algorithm = ALGORITHMS.get(part)
        experiments = [*dict.fromkeys(cells["experiment"])]
        return {
            **{key: row[key] for key in ("map", "says", "class", "why", "moves_with")},
            "id": f"evidence-{row['map']}-{part}",
            "mark": mark,
            "cells": self._cells(cells, here[here["part"] == ALSO.get(part)], part),
            "thresholds": self._thresholds(row["map"], part),
            "constants": [self._constants(experiments[0], algorithm)] if algorithm else [],
            "searches": self._searches(experiments, algorithm),
            "alternatives": self._alternatives(row["map"], part),
            "chart": self._chart(cells.iloc[0], part),
            "files": [layout.SIMULATION, *(layout.table("summary.csv", name) for name in experiments)],
        }

    def _cells(self, cells: pd.DataFrame, also: pd.DataFrame, part: str) -> dict[str, Any]:
        keys = ["experiment", "reading", "budget", "episodes", "setting"]
        forgiving = {tuple(row[key] for key in keys): row["verdict"] for row in also.to_dict("records")}
        rows = []
        for row in cells.to_dict("records"):
            counted = part != WHOLE
            rows.append(
                {
                    "place": ", ".join(in_words(row)) or "as in the figure",
                    "episodes": row["episodes"],
                    "constants": CONSTANTS.get(row["setting"], row["setting"]),
                    "verdict": row["says"] if counted else row["verdict"],
                    "forgiving": forgiving.get(tuple(row[key] for key in keys)),
                    "agree": f"{row['agree']:.0f} of {row['seeds']:.0f}" if counted else None,
                    "lam": number(row["lam"], ".0%") if counted else None,
                    "cost": number(row["cost"]) if counted else None,
                    "limit": f"{row['limit']:g}" if counted else None,
                    "trials": row["mean_of_trials"],
                    "steady": row["whole_range"] is not None,
                    "apart": bool(row["apart"]),
                    "curves": self._link(row, part),
                }
            )
        return {"rows": rows, "counted": part != WHOLE, "forgiving": bool(forgiving)}

    def _link(self, row: dict[str, Any], part: str) -> str:
        """To the learning curves with these choices."""
        learners = ",".join(dict.fromkeys(ALGORITHMS.values())) if part == WHOLE else ALGORITHMS[part]
        chosen = {"experiment": row["experiment"], "measure": _measure(part), "learners": learners}
        chosen |= {"constants": row["setting"], "draw": "seeds", "restarts": "yes"}
        return "#" + urlencode({f"curves.{key}": value for key, value in chosen.items()})

    def _chart(self, row: pd.Series, part: str) -> dict[str, Any]:
        """The seeds in the map's first reading, with the last of the choices of constants."""
        names = [ALGORITHMS[part]] if part != WHOLE else [*dict.fromkeys(ALGORITHMS.values())]
        settings = [one.setting for one in self.plan.experiment(row["experiment"]).all_learners]
        return {
            "experiment": row["experiment"],
            "measure": _measure(part),
            "learners": {name: title(name) for name in names},
            "constants": {settings[-1]: CONSTANTS.get(settings[-1], settings[-1])},
        }

    def _thresholds(self, name: str, part: str) -> list[dict[str, Any]]:
        rows = self.moved[(self.moved["map"] == name) & (self.moved["part"] == part)]
        return [
            {
                "says": self.c20["thresholds"][str(threshold)]["says"],
                "values": [
                    {
                        "value": f"{row['value']:g}",
                        "holds": row["holds"],
                        "default": row["value"] == self.c20["thresholds"][str(threshold)]["default"],
                    }
                    for row in mine.to_dict("records")
                ],
                "of": int(mine["of"].iloc[0]),
            }
            for threshold, mine in rows.groupby("threshold", sort=False)
        ]

    def _constants(self, experiment: str, algorithm: str) -> dict[str, Any]:
        """The numbers behind each choice of constants, in the first case of an experiment."""
        _, facts = files.read(self.folder / layout.table("exact.parquet", experiment))
        problem = Problem.of(optima.environment(facts["cases"][0]))
        specs = [one for one in facts["learners"].values() if one["algorithm"] == algorithm]
        specs.sort(key=lambda spec: [*CONSTANTS].index(spec["setting"]) if spec["setting"] in CONSTANTS else 9)
        made = [_scalars(constants_of(spec, problem)) for spec in specs]
        return {
            "experiment": experiment,
            "head": [CONSTANTS.get(spec["setting"], spec["setting"]) for spec in specs],
            "rows": [
                (name, [number(one.get(name), ".4g") for one in made])
                for name in dict.fromkeys(k for m in made for k in m)
            ],
            "factors": next((spec["factors"] for spec in specs if spec.get("factors")), {}),
        }

    def _searches(self, experiments: list[str], algorithm: str | None) -> list[dict[str, Any]]:
        if self.saturation is None or algorithm is None:
            return []
        tunings = {self.plan.experiment(name).tuning for name in experiments}
        rows = self.saturation
        mine = rows[rows["tuning"].isin(tunings) & (rows["algorithm"] == algorithm)]
        return [
            {
                "tuning": row["tuning"].removeprefix("tuning_"),
                "searches": f"{row['searches']:.0f}",
                "tried": f"{row['tried']:.0f}",
                "feasible": f"{row['feasible_searches']:.0f}",
                "gained": number(row["gained"], ".0%"),
                "apart": number(row["apart"], ".0%"),
            }
            for row in mine.to_dict("records")
        ]

    def _alternatives(self, name: str, part: str) -> list[tuple[str, str]]:
        """How the part is judged where the tuning is done otherwise."""
        found = [row for row in self.c20["alternatives"] if (row["map"], row["part"]) == (name, part)]
        counts = {kind: Counter(row["verdict"] for row in found if row["kind"] == kind) for kind in KINDS}
        return [
            (f"another {KINDS[kind]}", ", ".join(f"{verdict}: {count}" for verdict, count in counted.items()))
            for kind, counted in counts.items()
            if counted
        ]


def _measure(part: str) -> str:
    return "reward" if part in BY_REWARD else "cost"


def _scalars(constants: Any) -> dict[str, float]:
    """By name: numbers, of a bonus that of the first visit, of what depends on the step that of the first step."""
    found = {SCALARS[name]: float(getattr(constants, name)) for name in SCALARS if hasattr(constants, name)}
    if hasattr(constants, "bonus"):
        found["bonus of the first visit"] = float(np.asarray(constants.bonus(np.array([1.0])))[0])
    for name, text in (
        ("initial_q", "Q at first, step 1"),
        ("initial_c", "C at first, step 1"),
        ("initial", "Q at first, step 1"),
    ):
        if hasattr(constants, name):
            found[text] = float(getattr(constants, name)[0])
    return found
