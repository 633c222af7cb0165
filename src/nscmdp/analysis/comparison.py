"""The paper's comparison table, regenerated, with what is measured set beside what is claimed."""

from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms
from nscmdp.analysis import growth, tables, theory
from nscmdp.analysis.tables import write_csv
from nscmdp.problem import Problem
from nscmdp.runs import files
from nscmdp.study import layout
from nscmdp.study.config import TUNED
from nscmdp.study.plan import Plan

MEASURED = ("gap", "regret")
ENDS = ("", "_low", "_high")
CONSTANTS = {
    ("tuned", "each"): "tuned at each K",
    ("tuned", "once"): "tuned once",
    ("scaled", ""): "defaults",
}


class Study:
    """Growth experiments in one environment: instances, budgets, K and seeds, every episode evaluated."""

    def __init__(self, folder: Path, experiments: list[str]) -> None:
        self.files = [folder / layout.table("exact.parquet", name) for name in experiments]
        runs = pd.concat([growth.totals(tables.load(file)) for file in self.files], ignore_index=True)
        # One B for every case: instances agree on it but for rounding.
        self.runs = runs.assign(B=runs.groupby(["budget", "episodes"])["B"].transform("mean"))
        summaries = [tables.load(file.with_name("summary.csv")) for file in self.files]
        self.summary = pd.concat(summaries, ignore_index=True)
        self.learners = _specifications(self.files)
        self.middle = _middle(self.runs)

    @property
    def budgets(self) -> list[str]:
        return _budgets(self.runs)

    def of(self, learner: str) -> pd.DataFrame:
        return self.runs[self.runs["learner"] == learner]

    def budget(self, learner: str) -> str:
        """The study's middle budget, or the middle one of those that a learner ran at."""
        mine = self.of(learner)
        return self.middle if (mine["budget"] == self.middle).any() else _middle(mine)

    def episodes(self, learner: str) -> list[int]:
        """The K that a learner ran with at that budget."""
        mine = self.of(learner)
        return sorted(int(K) for K in mine.loc[mine["budget"] == self.budget(learner), "episodes"].unique())

    def widest(self, learner: str) -> int:
        """The largest K at which a learner ran at the most budgets."""
        budgets = self.of(learner).groupby("episodes")["budget"].nunique()
        return int(budgets[budgets == budgets.max()].index.max())

    def tuned_at(self, learner: str) -> str:
        """Tuned at "each" K, "once", by another rule than the main one, or, where a learner is not tuned, ""."""
        spec = self.learners[learner]
        if spec["setting"] != TUNED:
            return ""
        choice = spec.get("choice", "main")
        return spec.get("tuned_at", "once") + (f" by {choice}" if choice != "main" else "")

    def constants(self, learner: str) -> str:
        """In words."""
        setting = self.learners[learner]["setting"]
        return CONSTANTS.get((setting, self.tuned_at(learner)), setting)

    @cache  # noqa: B019
    def problem(self, budget: str, episodes: int) -> Problem:
        """Of the first instance."""
        file, reading = self._cases[budget, episodes]
        return Problem.of(tables.environment(file, reading, budget, episodes))

    @cached_property
    def _cases(self) -> dict[tuple[str, int], tuple[Path, str]]:
        """The file and the first reading of every budget and K."""
        found: dict[tuple[str, int], tuple[Path, str]] = {}
        for file in self.files:
            for reading, budget, episodes in tables.cases(file):
                found.setdefault((budget, episodes), (file, reading))
        return found

    @cached_property
    def slopes(self) -> pd.DataFrame:
        return growth.slopes(self.runs)

    @cached_property
    def violations(self) -> pd.DataFrame:
        found = growth.violations(self.runs)
        found.insert(3, "tuned_at", found["learner"].map(self.tuned_at))
        return found

    def regret_bound(self, learner: str, episodes: int) -> float:
        """Theorem 1's explicit bound at this learner's constants; raises :class:`theory.NotInForce` with the reason."""
        spec = self.learners[learner]
        if spec["algorithm"] != theory.FIRST:
            raise theory.NotInForce("Theorem 1's explicit bound is about Algorithm 1")
        problem = self.problem(self.budget(learner), episodes)
        setting = "scaled" if spec["setting"] == TUNED else spec["setting"]
        factors = spec["factors_at"][str(episodes)] if "factors_at" in spec else spec.get("factors")
        made = algorithms.make(spec["algorithm"], problem, setting, factors, spec["variants"], spec["constants"])
        return theory.regret_bound(problem, made)

    def bounds(self, learner: str) -> dict[str, Any]:
        """The explicit bound at the largest K with its local exponent there, or why there is none."""
        *_, longest = episodes = self.episodes(learner)
        try:
            found = [self.regret_bound(learner, K) for K in reversed(episodes[-2:])]
        except theory.NotInForce as error:
            return {"regret_bound": np.nan, "bound_slope_K": np.nan, "why_no_bound": str(error)}
        local = np.log(found[0] / found[1]) / np.log(longest / episodes[-2]) if len(found) > 1 else np.nan
        return {"regret_bound": found[0], "bound_slope_K": local, "why_no_bound": ""}


def _specifications(files: list[Path]) -> dict[str, dict[str, Any]]:
    """By learner; one that several experiments have may have factors chosen at the K of each."""
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        for name, spec in tables.learners(file).items():
            earlier = found.get(name, {}).get("factors_at", {})
            more = {"factors_at": earlier | spec["factors_at"]} if "factors_at" in spec else {}
            found[name] = {**spec, **more}
    return found


def _budgets(runs: pd.DataFrame) -> list[str]:
    """In the order of B."""
    return list(runs.sort_values("B", kind="stable")["budget"].unique())


def _middle(runs: pd.DataFrame) -> str:
    budgets = _budgets(runs)
    return budgets[(len(budgets) - 1) // 2]


def rows(study: Study | None, linear: Study | None) -> pd.DataFrame:
    """The paper's rows in the paper's order, then the others; one for each choice of constants that was run."""
    found = []
    for claim in theory.TABLE:
        chosen = linear if claim.linear else study
        entry: dict[str, Any] = {
            "algorithm": claim.algorithm,
            "learner": "",
            "setting": "",
            "tuned_at": "",
            "model_free": claim.model_free,
            "known_budget": claim.known_budget,
            "regret_order": claim.regret_order,
            "violation_order": claim.violation_order,
            "source": claim.source,
        }
        names = [] if chosen is None else plain(chosen, claim.algorithm)
        if chosen is None or not names:
            found.append({**entry, "note": "not run"})
        else:
            found += [{**entry, **_measured(chosen, name)} for name in names]
    return pd.DataFrame(found)


def plain(study: Study, algorithm: str) -> list[str]:
    """The learners of an algorithm that run with one of its settings as it is: tuned ones first, literal ones last."""
    wanted = [f"{TUNED}_each", TUNED, *reversed(algorithms.settings(algorithm))]
    return [name for name in (f"{algorithm}.{setting}" for setting in wanted) if name in study.learners]


def _measured(study: Study, learner: str) -> dict[str, Any]:
    spec, budget, longest = study.learners[learner], study.budget(learner), study.episodes(learner)[-1]
    where = (study.summary["learner"] == learner) & (study.summary["budget"] == budget)
    last = study.summary[where & (study.summary["episodes"] == longest)].iloc[0]
    problem = study.problem(budget, longest)
    return {
        "learner": learner,
        "setting": spec["setting"],
        "tuned_at": study.tuned_at(learner),
        "instances": study.of(learner)["reading"].nunique(),
        "budget": budget,
        "largest_K": longest,
        **_growth(study, learner),
        **_violation(study, learner),
        **study.bounds(learner),
        "trivial_bound": problem.H * longest,
        "theorem_from_K": theory.from_episodes(spec["algorithm"], problem),
        "state_bytes": int(last["state_bytes"]),
    }


def _growth(study: Study, learner: str) -> dict[str, Any]:
    """Slopes in K at the middle budget, with those of single instances, and in B where most budgets were run."""
    found = study.slopes[study.slopes["learner"] == learner]
    in_K = found[(found["along"] == "episodes") & (found["budget"] == study.budget(learner))]
    entry: dict[str, Any] = {}
    notes = []
    for quantity in MEASURED:
        mine = in_K[in_K["quantity"] == quantity]
        pooled, alone = mine[mine["instance"] == growth.POOLED], mine[mine["instance"] != growth.POOLED]
        for which, suffix in (("all", ""), ("last three", "_last3")):
            fit = pooled[pooled["which"] == which].iloc[0]
            entry |= _interval(fit, f"{quantity}_slope_K{suffix}")
            if fit["why_not"] and which == "all":
                notes.append(f"no slope: {fit['why_not']} episodes")
        values = alone.loc[alone["which"] == "all", "value"]
        entry |= {f"{quantity}_slope_K_least": values.min(), f"{quantity}_slope_K_most": values.max()}
    in_B = found[(found["along"] == "B") & (found["episodes"] == study.widest(learner))]
    for quantity in MEASURED:
        entry |= _interval(in_B[in_B["quantity"] == quantity].iloc[0], f"{quantity}_slope_B")
    return {**entry, "slope_B_at_K": study.widest(learner), "note": "; ".join(notes)}


def _violation(study: Study, learner: str) -> dict[str, Any]:
    """Per episode: at the middle budget, and at the budget where it is worst, each at its largest K."""
    found = study.violations[study.violations["learner"] == learner]
    last = found.loc[found.groupby("budget")["episodes"].idxmax()]
    middle = last[last["budget"] == study.budget(learner)].iloc[0]
    worst = last.loc[last["violation"].idxmax()]
    entry = {f"violation_per_episode{end}": middle[f"violation{end}"] for end in ENDS}
    entry["positive_violation_per_episode"] = middle["positive_violation"]
    entry |= {f"worst_violation_per_episode{end}": worst[f"violation{end}"] for end in ENDS}
    return {**entry, "worst_budget": worst["budget"], "worst_K": worst["episodes"]}


def _interval(fit: pd.Series, name: str) -> dict[str, float]:
    return {name: fit["value"], f"{name}_low": fit["low"], f"{name}_high": fit["high"]}


def write(plan: Plan, folder: Path) -> None:
    """comparison.csv, comparison.tex as the paper prints it with measured columns, slopes.csv and violations.csv."""
    studies = {role: Study(folder, plan.roles[role]) for role in ("growth", "linear") if role in plan.roles}
    table = rows(studies["growth"], studies.get("linear"))
    write_csv(folder / layout.table("comparison.csv"), table)
    files.write_text(folder / layout.table("comparison.tex"), tex(table))
    for name in ("slopes", "violations"):
        parts = [getattr(study, name) for study in studies.values()]
        write_csv(folder / layout.table(f"{name}.csv"), pd.concat(parts, keys=studies, names=["role"]).reset_index(0))


def tex(table: pd.DataFrame) -> str:
    """As the paper prints it; numbers and names are escaped, orders of growth are formulas."""
    cells = pd.DataFrame([_cells(row) for _, row in table.iterrows()])
    formulas = ["Regret", "Violation"]
    styled = cells.style.hide(axis="index").format(escape="latex").format(escape="latex-math", subset=formulas)
    return styled.to_latex(column_format="llccccccc", hrules=True)


def _cells(row: pd.Series) -> dict[str, str]:
    return {
        "Algorithm": algorithms.title(row["algorithm"]) if row["algorithm"] in algorithms.NAMES else row["algorithm"],
        "Constants": CONSTANTS.get((row["setting"], row["tuned_at"]), row["setting"]) or "--",
        "Model-free": "yes" if row["model_free"] else "no",
        "Regret": _order(row["regret_order"]),
        "Violation": _order(row["violation_order"]),
        "Known $B$": row["known_budget"].replace("-", "--"),
        r"Gap $\propto K^{\cdot}$": _number(row, "gap_slope_K", "{:.2f}", interval=True),
        r"Bound $\propto K^{\cdot}$": _number(row, "bound_slope_K", "{:.2f}"),
        "Violation/episode": _number(row, "violation_per_episode", "{:.3f}"),
    }


def _order(text: str) -> str:
    formula, _, remark = text.partition(" (")
    if not formula[0].isupper() or formula.startswith("T "):
        return text
    return rf"$\tilde O({formula})$" + (f" ({remark}" if remark else "")


def _number(row: pd.Series, key: str, form: str, interval: bool = False) -> str:
    if key not in row or pd.isna(row[key]):
        return "--"
    text = form.format(row[key])
    if interval and not pd.isna(row[f"{key}_low"]):
        text += f" [{form.format(row[f'{key}_low'])}, {form.format(row[f'{key}_high'])}]"
    return text
