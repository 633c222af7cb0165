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
from nscmdp.files import write_csv
from nscmdp.metrics import mean_interval
from wei2023.study import layout
from wei2023.study.config import Strict
from wei2023.study.plan import Plan
from wei2023.verdicts.markdown import displayed, table

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


def markdown(entries: list[Entry], measured: pd.DataFrame) -> str:
    """The ledger as a page, with the measured effects."""
    switched = sum(bool(entry.switch) for entry in entries)
    lines = [
        "# Deviations from the printed text",
        "",
        "Made by the rule `deviations` from `workflow/deviations.yaml` and measured effects; not written by hand.",
        f"{len(entries)} places, {switched} of which can be switched in `config.yaml`. An effect compares two runs",
        "over the same seeds that differ in the switch alone, by exact means per episode; gap is the Lagrangian gap",
        "(V* - V) + multiplier x (rho - W). Intervals are 95%, over seeds.",
        "",
    ]
    for kind, meaning in KINDS.items():
        chosen = [entry for entry in entries if entry.kind == kind]
        links = ", ".join(f"[{entry.id}](#{entry.id})" for entry in chosen)
        lines += [f"- {meaning} ({kind}, {len(chosen)}): {links}"]
    for kind, meaning in KINDS.items():
        lines += ["", f"## {meaning}"]
        for entry in entries:
            if entry.kind == kind:
                lines += ["", *_section(entry, measured[measured["switch"].isin(entry.switch)])]
    return "\n".join(lines) + "\n"


def _section(entry: Entry, measured: pd.DataFrame) -> list[str]:
    lines = [f"### {entry.id}", "", f"*{entry.where}.* {entry.printed}", ""]
    if entry.formula:
        lines += [displayed(entry.formula), ""]
    lines += [f"**Chosen** (certainty {entry.certainty}): {entry.chosen} **Why:** {entry.evidence}"]
    if entry.switch:
        values = ", ".join(f"`{as_text(value)}`" for value in entry.values)
        lines += [
            "",
            f"**Switch:** {', '.join(f'`{key}`' for key in entry.switch)}; values {values}.",
        ]
    rows = [
        (*comparison[:2], *map(_change, comparison.effects)) for comparison in comparisons(measured)
    ]
    return [*lines, "", table(("switched", "in", *MEASURES.values()), rows)] if rows else lines


class Comparison(NamedTuple):
    switched: str
    place: str
    effects: list[dict[str, Any]]  # in the order of MEASURES


def comparisons(measured: pd.DataFrame) -> list[Comparison]:
    """What some rows of the table of effects compare, and what they found."""
    found = []
    for run, rows in measured.groupby(COLUMNS[:7], sort=False):
        switch, before, after, learner, environment, episodes, rho = run
        switched = f"{switch.split('.')[-1]}: {before} to {after}"
        place = f"{learner}, {environment}, K = {episodes}, rho = {rho:.3g}"
        found.append(Comparison(switched, place, rows.to_dict("records")))
    return found


def _change(row: dict[str, Any]) -> str:
    return "{without:.3f} to {with:.3f} ({difference:+.3f} [{low:+.3f}, {high:+.3f}])".format(**row)


def as_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def page(ledger: Path, measured: Path) -> str:
    """The ledger with the effects that a CSV file holds."""
    return markdown(load(ledger), load_effects(measured))


def load_effects(file: Path) -> pd.DataFrame:
    return pd.read_csv(file, dtype={"from": str, "to": str})


def write(plan: Plan, folder: Path) -> None:
    """The effects of the switches, and the ledger with them."""
    names = plan.roles.get("switches", [])
    found = effects(load(LEDGER), [folder / layout.table("exact.parquet", name) for name in names])
    written = folder / layout.table("deviations.csv")
    write_csv(written, found)
    files.write_text(folder / layout.DEVIATIONS, page(LEDGER, written))
