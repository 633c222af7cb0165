"""The ledger of deviations: where the paper's text had to be completed or corrected, and what each choice changes.

``workflow/deviations.yaml`` declares them. Many can be switched in the configuration, and what a switch changes is
measured: a run with another value than the default is compared with the run of the same experiment that has the default
and is the same otherwise. Both have the same seeds, so differences are taken by seed.
"""

from itertools import permutations, product
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import pandas as pd
import yaml
from pydantic import Field, TypeAdapter, ValidationError

from nscmdp import algorithms, files
from nscmdp.metrics import mean_interval
from wei2023.study.config import Strict

KINDS = {
    "ambiguous": "The text allows more than one reading",
    "wrong": "The text cannot be right",
    "unusable": "The text is clear, but cannot be run or learns nothing",
    "unstated": "The text does not say",
}
LEDGER = Path("workflow/deviations.yaml")
MEASURES = {"value": "reward", "utility_value": "utility", "gap": "gap"}  # exact means per episode
CASE = ["reading", "budget", "episodes"]
COLUMNS = ["switch", "from", "to", "learner", "environment", "episodes", "rho", "seeds", "measure"]
COLUMNS += ["without", "with", "difference", "low", "high"]


class Entry(Strict):
    id: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    where: str  # in the paper
    printed: str
    formula: str | None = None  # LaTeX, every line of it displayed by itself
    kind: Literal["ambiguous", "wrong", "unusable", "unstated"]
    chosen: str
    evidence: str
    certainty: Literal["high", "medium", "low"]
    switch: list[str] = Field(default=[])  # config keys that choose among ...
    values: list[str | bool | int | float] = Field(default=[])  # ... these, the default first


def load(file: Path) -> list[Entry]:
    raw = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        entries = TypeAdapter(list[Entry]).validate_python(raw)
    except ValidationError as error:
        raise ValueError(f"{file}: {error}") from None
    switches = [key for entry in entries for key in entry.switch]
    for what, names in (("id", [entry.id for entry in entries]), ("switch", switches)):
        twice = {name for name in names if names.count(name) > 1}
        if twice:
            raise ValueError(f"{file}: the {what} {twice.pop()!r} stands in it twice")
    return entries


class Run(NamedTuple):
    reading: str
    budget: str
    episodes: int
    learner: str
    keys: dict[str, Any]  # all that decides it, by the names that the ledger uses


def effects(entries: list[Entry], exact_tables: list[Path]) -> pd.DataFrame:
    """What each switch changes in the experiments behind some tables of exact values: one row per measure."""
    rows = []
    for file in exact_tables:
        table, facts = files.read(file)
        exact = table.to_pandas()
        weighted = exact[list(MEASURES)].mul(exact["weight"], axis=0).assign(weight=exact["weight"])
        sums = weighted.groupby([exact[key] for key in (*CASE, "learner", "seed")]).sum()
        rho = exact.groupby(CASE)["rho"].first()
        means = sums[list(MEASURES)].div(sums["weight"], axis=0).rename(columns=MEASURES)
        for switch, here, there in pairs(entries, facts["cases"], facts["learners"]):
            without, changed = means.loc[here[:4]], means.loc[there[:4]]
            intervals = mean_interval((changed - without).to_numpy())
            learner = f"{there.keys['algorithm']}.{there.keys['setting']}"
            what = [switch, as_text(here.keys[switch]), as_text(there.keys[switch]), learner]
            where = [there.keys["environment"], there.episodes, rho[there[:3]], len(without)]
            numbers = zip(means, without.mean(), changed.mean(), *intervals, strict=True)
            rows += [[*what, *where, *row] for row in numbers]
    return pd.DataFrame(rows, columns=COLUMNS)


def pairs(
    entries: list[Entry], cases: list[dict[str, Any]], learners: dict[str, dict[str, Any]]
) -> list[tuple[str, Run, Run]]:
    """(switch, run, run) of an experiment's runs that differ in that switch alone, the first of them at its default."""
    defaults = {switch: entry.values[0] for entry in entries for switch in entry.switch}
    runs = [
        Run(case["reading"], case["budget"], case["episodes"], name, _keys(case, learner))
        for case, (name, learner) in product(cases, learners.items())
    ]
    found = []
    for here, there in permutations(runs, 2):
        differing = [key for key, value in here.keys.items() if there.keys.get(key, value) != value]
        if len(differing) == 1 and here.keys[differing[0]] == defaults.get(differing[0]):
            found.append((differing[0], here, there))
    return found


def _keys(case: dict[str, Any], learner: dict[str, Any]) -> dict[str, Any]:
    name, environment = learner["algorithm"], case["name"]
    keys = {"environment": environment, "episodes": case["episodes"], "algorithm": name}
    keys |= {key: learner[key] for key in ("setting", "assumed_budget", "assumed_for")}
    keys |= {f"{environment}.{option}": value for option, value in case["options"].items()}
    factors = {key: factor.default for key, factor in algorithms.factors(name).items()}
    factors |= learner.get("factors", {})  # given for "scaled" alone
    for group, chosen in (("variants", learner["variants"]), ("factors", factors)):
        keys |= {f"{name}.{group}.{key}": value for key, value in chosen.items()}
    return keys


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def load_effects(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype={"from": str, "to": str})
