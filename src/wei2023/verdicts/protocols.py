"""The verdict on the paper's simulation: a table of protocols, and of what each unstated choice decides.

protocols     one row per protocol: how many runs agree to each part, the margins, shares of the optimum and costs
choices       the same for every option of an unstated choice, switched by itself, and the parts that it decides
thresholds    how many runs agree to each part of each protocol as one threshold moves over its range

A run is a learner in one draw of the environment with one seed. Runs of one draw are alike, so that counts are also
given by draw; and the mean over all runs, which is what a paper plots, is judged as if it were one run. Rows that take
long are recorded in docs/long by `make long`; a recorded row whose sources, constants or environment are not those at
hand is left out.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import files
from nscmdp.kernels import sources
from nscmdp.suite.scoring import margin
from wei2023.runs import specifications
from wei2023.runs.parts import LAST, PARTS, RESTART_Q, TRIPLE_Q, Part, Thresholds, Trial, trial
from wei2023.study import layout, protocols
from wei2023.study import plan as planning
from wei2023.study.cases import DEFAULT
from wei2023.study.catalogue import FIRST
from wei2023.study.models import TUNED
from wei2023.study.plan import Plan
from wei2023.study.protocols import Protocol
from wei2023.verdicts import tables, thresholds

RECORDED = Path("docs/long")
HOLDS, MIXED, FAILS = "holds", "mixed", "does not hold"
WHOLE = {  # all of the claim, with "quickly" in one of its two readings
    "all": tuple(name for name in PARTS if name != "C20b forgiving"),
    "all forgiving": tuple(name for name in PARTS if name != "C20b"),
}
SHORT = {FIRST: "", TRIPLE_Q: "triple_q_", RESTART_Q: "restart_q_ucb_"}  # of columns by learner
Run = tuple[str, int]  # (draw, seed)


def verdict(agree: int, of: int, agreement: float) -> str:
    if agree >= agreement * of - 1e-9:
        return HOLDS
    return FAILS if agree <= (1 - agreement) * of + 1e-9 else MIXED


class Judge:
    """Judges the protocols of a finished run."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        assert plan.config.protocols is not None
        self.plan, self.folder, self.study = plan, folder, plan.config.protocols
        self.rules, self.places = thresholds.load(), protocols.places(self.study)
        self._trials: dict[str, dict[str, dict[Run, Trial]]] = {}

    def trials(self, one: Protocol, algorithm: str) -> dict[Run, Trial]:
        """The runs of a protocol's learner; none where it has no such learner."""
        place = self.places[one.name].get(algorithm)
        if place is None:
            return {}
        if place.experiment not in self._trials:
            self._trials[place.experiment] = trials(self.folder, place.experiment)
        return self._trials[place.experiment][place.learner]

    def distances(self, one: Protocol, part: Part, at: Thresholds) -> pd.Series:
        """The distance of every run of the learner that a part is about."""
        runs = self.trials(one, part.algorithm)
        return pd.Series({run: part.distance(each, at) for run, each in runs.items()}, dtype=float)

    def row(self, one: Protocol) -> dict[str, Any]:
        at = self.rules.default
        found = {name: self.distances(one, part, at) for name, part in PARTS.items()}
        tuned = [each["tuning"] for each in one.learners if each.get("setting") == TUNED]
        tunings = [self.plan.tuning(name) for name in tuned]
        seeds = {seed for distances in found.values() for _, seed in distances.index}
        searched = {tuning.environment.seed for tuning in tunings}
        row: dict[str, Any] = {
            "name": one.name,
            "map": {**self.study.environment, **one.reading}.get("map", "18x18"),
            "K": one.episodes,
            "frame_end": one.frame_end,
            "constants": one.constants,
            "baselines": one.baselines,
            "reading": ", ".join(f"{key} {value}" for key, value in one.reading.items()) or DEFAULT,
            "draws": " ".join(map(str, self.study.draws)),
            "seeds": " ".join(map(str, sorted(seeds))),
            "searched_on": " ".join(map(str, sorted(searched))),  # draws
            "objective": " ".join(sorted({tuning.objective for tuning in tunings})),
        }
        means, moving = {}, {}  # the distance of the mean over runs, and of its running average
        for name, distances in found.items():
            if len(distances):
                mean = mean_of([*self.trials(one, PARTS[name].algorithm).values()])
                means[name] = PARTS[name].distance(mean, at)
                moving[name] = PARTS[name].distance(running(mean), at)
            agree = distances >= 0
            row[f"{name} agree"], row[f"{name} of"] = int(agree.sum()), len(agree)
            row[f"{name} margin"] = margin(distances.mean(), distances.std(ddof=1))
            by_draw = agree.groupby(level=0, sort=False).sum()
            row[f"{name} by draw"] = " ".join(map(str, by_draw))
            row[f"{name} mean"] = means.get(name, np.nan)
        row["running mean"] = all(moving.get(name, 0.0) >= 0 for name in WHOLE["all"])
        for whole, parts in WHOLE.items():
            asked = [found[name] for name in parts if len(found[name])]
            together = pd.concat(asked, axis=1, join="inner") >= 0
            row[f"{whole} mean"] = all(means.get(name, 0.0) >= 0 for name in parts)
            row[f"{whole} agree"] = int(together.all(axis=1).sum())
            row[f"{whole} of"] = len(together)
        for algorithm in self.places[one.name]:
            mine = [*self.trials(one, algorithm).values()]
            short = SHORT.get(algorithm, f"{algorithm}_")
            row["limit"] = mine[0].limit
            row |= {f"{short}{name}": number for name, number in averages(mine, at).items()}
        return row | {"made_from": made_from(self.plan, one)}

    def moved(self, one: Protocol) -> list[dict[str, Any]]:
        """How many runs agree to each part for every value of each threshold that it has."""
        rows = []
        for name, part in PARTS.items():
            for threshold in part.thresholds:
                for value, at in self.rules.moved(threshold):
                    agree = self.distances(one, part, at) >= 0
                    keys = {"name": one.name, "part": name, "threshold": threshold, "value": value}
                    rows.append({**keys, "agree": agree.sum(), "of": len(agree)})
        return rows


def decided(row: dict[str, Any], base: dict[str, Any]) -> str:
    """The parts in which at least half of the runs change sides against the base."""
    asked = [name for name in PARTS if row[f"{name} of"]]
    return " ".join(name.replace(" ", "_") for name in asked if differs(row, base, name))


def differs(row: dict[str, Any], base: dict[str, Any], name: str) -> bool:
    agree, agreed = (one[f"{name} agree"] / one[f"{name} of"] for one in (row, base))
    return abs(agree - agreed) >= 0.5


def averages(runs: list[Trial], at: Thresholds) -> dict[str, Any]:
    """Means over runs, and how many of them keep the limit."""
    return {
        "share": np.mean([run.lam(after=LAST) for run in runs]),
        "cost": np.mean([run.mean_cost() for run in runs]),
        "late_cost": np.mean([run.mean_cost(after=LAST) for run in runs]),
        "worst_tenth": np.mean([run.worst_tenth() for run in runs]),
        "keeps": sum(PARTS["C20c"].distance(run, at) >= 0 for run in runs),
        "runs": len(runs),
    }


def mean_of(runs: list[Trial]) -> Trial:
    """The mean over runs, stretch by stretch; they have one limit."""
    return Trial(*(np.mean(values, axis=0) for values in zip(*runs, strict=True)))._replace(
        limit=runs[0].limit
    )


def running(run: Trial) -> Trial:
    """Averages since the first episode."""
    total = np.cumsum(run.weight)
    gain, room, cost = (np.cumsum(run.weight * of) / total for of in (run.gain, run.room, run.cost))
    return Trial(run.share, np.ones_like(total, dtype=float), gain, room, cost, run.limit)


def trials(folder: Path, experiment: str) -> dict[str, dict[Run, Trial]]:
    """By learner of an experiment, and by draw and seed."""
    exact = tables.load(folder / layout.table("exact.parquet", experiment))
    found: dict[str, dict[Run, Trial]] = {}
    for (learner, draw, seed), mine in exact.groupby(["learner", "reading", "seed"], sort=False):
        found.setdefault(str(learner), {})[str(draw), int(seed)] = trial(mine)
    return found


def made_from(plan: Plan, one: Protocol) -> str:
    """A digest of all that decides a protocol's row: its runs, and how they are judged."""
    places = protocols.places(plan.config.protocols)[one.name].values()  # type: ignore[arg-type]
    specs = [specifications.simulation(plan, *place) for place in places]
    judged = [plan.experiment(places.experiment).seed_list for places in places]
    code = sources.digest(beside="wei2023.runs.parts")
    decisive = json.dumps([specs, judged, code, plan.thresholds], sort_keys=True)
    return hashlib.sha256(decisive.encode()).hexdigest()[:16]


def recorded(plan: Plan, name: str, columns: list[str]) -> pd.DataFrame:
    """The rows that `make long` has recorded, but for those that are made from something else than what is at hand."""
    file = RECORDED / name
    if not file.is_file() or plan.config.protocols is None or plan.config.protocols.long:
        return pd.DataFrame()
    rows = tables.load(file)
    if not {*columns} <= {*rows.columns}:
        return pd.DataFrame()
    raw = json.loads(plan.config.model_dump_json(exclude_unset=True))
    made = (protocols.ROLE, protocols.CHOICES, "suite")  # with the keys that are given anew
    raw["experiments"] = [one for one in raw["experiments"] if one.get("role") not in made]
    raw["tunings"] = [one for one in raw["tunings"] if "suite" not in one["name"]]
    later = planning.make(raw | {"suite": None, "protocols": raw["protocols"] | {"long": True}})
    known = {one.name: one for one in later.config.protocols.run}  # type: ignore[union-attr]
    sound = [
        row["name"] in known and made_from(later, known[row["name"]]) == row["made_from"]
        for row in rows.to_dict("records")
    ]
    return rows[sound].assign(recorded=True)


def write(plan: Plan, folder: Path) -> None:
    judge = Judge(plan, folder)
    run = judge.study.run
    bases = {one.name: judge.row(one) for one in run if one.base is None}
    switched = []
    for one in run:
        if one.base is not None:
            row, base = judge.row(one), bases.get(one.base)
            keys = {"choice": one.choice, "option": one.option, "base": one.base}
            switched.append({**keys, "decides": base and decided(row, base), **row})
    order = {one.name: place for place, one in enumerate(judge.study.every)}
    for name, rows in zip(layout.PROTOCOLS, ([*bases.values()], switched), strict=False):
        made = pd.DataFrame(rows)
        made = pd.concat([made.assign(recorded=False), recorded(plan, name, [*made.columns])])
        if len(made):
            made = made.sort_values("name", key=lambda names: names.map(order), kind="stable")
        tables.write_csv(folder / layout.table(name), made)
    moved = [row for one in run if one.base is None for row in judge.moved(one)]
    tables.write_csv(folder / layout.table(layout.PROTOCOLS[2]), pd.DataFrame(moved))


def swept(folder: Path, experiment: str) -> pd.DataFrame:
    """One row per learner of an experiment whose learners differ in some constants: these, and means over its runs."""
    facts = files.read(folder / layout.table("exact.parquet", experiment))[1]
    at, rows = thresholds.load().default, []
    for learner, runs in trials(folder, experiment).items():
        spec, mine = facts["learners"][learner], [*runs.values()]
        row = {"learner": learner, "algorithm": spec["algorithm"]}
        row |= {"frame_end": spec["variants"].get("reset", "bump")}
        row |= {"K": facts["cases"][0]["episodes"], **spec["constants"], **averages(mine, at)}
        breaks = sum(PARTS["C20d"].distance(each, at) >= 0 for each in mine)
        rows.append({**row, "breaks": breaks, "of": len(mine), "limit": mine[0].limit})
    return pd.DataFrame(rows)


def walk(episodes: int, locations: int, horizon: int, drift: float = 0.1) -> dict[str, float]:
    """The reward's drift if its sign were drawn anew in every episode: a walk of steps drift/K at every location.

    ``largest``: how far any location gets in any episode; ``value``: no value of any policy moves by more.
    """
    rng, at, largest = np.random.default_rng([27, episodes]), np.zeros(locations), 0.0
    for first in range(0, episodes, 1000):
        steps = 2.0 * rng.integers(0, 2, (min(1000, episodes - first), locations)) - 1.0
        path = at + np.cumsum(steps, axis=0) * drift / episodes
        at, largest = path[-1], max(largest, float(np.abs(path).max()))
    return {"deviation": drift / episodes**0.5, "largest": largest, "value": horizon * largest}
