"""The paper's comparison table: what is claimed, what no algorithm can beat, what is measured.

A learner whose constants several searches chose runs as one share for each search: a sweep that
is labelled by its choice, search_I. Shares are one learner here, and the search is the unit of its
intervals (:mod:`growth`).

The sum of V* - V is gap + lambda* (W - rho): the loss to the optimum at its own prices, and the
price of surplus utility. Where constants tighten the constraint by eps, W - rho comes to about eps;
if its price is most of the regret, the regret grows as K eps, an exponent that the constants put
in. Such rows say so.
"""

import re
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from nscmdp import algorithms, files, metrics
from nscmdp.files import write_csv
from nscmdp.problem import Problem
from nscmdp.suite.tuning import MAIN
from wei2023.study import layout
from wei2023.study.models import TUNED
from wei2023.study.plan import Plan
from wei2023.verdicts import growth, tables, theory

ENDS = ("", "_low", "_high")
CONSTANTS = {  # words for (setting, tuned_at); a setting that is not here is its own word
    (TUNED, "each"): "tuned at each K",
    (TUNED, "once"): "tuned once",
    ("scaled", ""): "defaults",
}
# The regret that no algorithm beats in the worst case: tabular (Mao et al. 2021, with T = H K), and
# linear (Zhou et al. 2020, the powers of d and H left out). A constraint may be one that all keep.
LOWER = {False: "S^{1/3} A^{1/3} H^{4/3} K^{2/3} B^{1/3}", True: "K^{2/3} B^{1/3}"}
MOST, ABOUT = 0.5, (0.5, 1.5)  # shares of the regret, and of eps
NOISE_LEFT_OUT = "constants of one search, whose noise is not in the intervals"

Shares = dict[str, dict[str, dict[str, Any]]]  # specifications by learner and search


class Study:
    """Growth experiments in one environment: instances, budgets, K and seeds, every episode."""

    def __init__(self, folder: Path, experiments: list[str]) -> None:
        self.files = [folder / layout.table("exact.parquet", name) for name in experiments]
        self.shares, self.called = _shares(self.files)
        self.learners = {name: next(iter(found.values())) for name, found in self.shares.items()}
        runs = pd.concat([growth.totals(tables.load(file)) for file in self.files])
        summaries = [tables.load(file.with_name("summary.csv")) for file in self.files]
        # One B for every case: instances agree on it but for rounding.
        mean_B = runs.groupby(["budget", "episodes"])["B"].transform("mean")
        self.runs = self.renamed(runs.assign(B=mean_B)).reset_index(drop=True)
        self.summary = self.renamed(pd.concat(summaries, ignore_index=True))
        self.middle = _middle(self.runs)

    def renamed(self, table: pd.DataFrame) -> pd.DataFrame:
        """With shares under the name of their learner, and the search that each is of."""
        named = [self.called[name] for name in table["learner"]]
        return table.assign(learner=[name for name, _ in named], search=[of for _, of in named])

    @cached_property
    def slopes(self) -> pd.DataFrame:
        return growth.slopes(self.runs)

    @cached_property
    def violations(self) -> pd.DataFrame:
        found = growth.violations(self.runs)
        found.insert(3, "tuned_at", found["learner"].map(self.tuned_at))
        return found

    def tuned_at(self, learner: str) -> str:
        """Tuned at "each" K, "once", by another choice than the main one; "": not tuned."""
        spec = self.learners[learner]
        if spec["setting"] != TUNED:
            return ""
        choice = spec.get("choice", MAIN) if "" in self.shares[learner] else MAIN
        return spec.get("tuned_at", "once") + (f" by {choice}" if choice != MAIN else "")

    def constants(self, learner: str) -> str:
        """In words."""
        setting = str(self.learners[learner]["setting"])
        return CONSTANTS.get((setting, self.tuned_at(learner)), setting)

    @cache  # noqa: B019
    def problem(self, budget: str, episodes: int) -> Problem:
        """Of the first instance."""
        found = [(file, case) for file in self.files for case in tables.cases(file)]
        file, case = next(one for one in found if one[1][1:] == (budget, episodes))
        return Problem.of(tables.environment(file, *case))

    def eps(self, learner: str, problem: Problem) -> float:
        """What a learner tightens the constraint by: the mean over its shares, and over the arms of a bandit."""
        found = []
        for spec in self.shares[learner].values():
            setting = "scaled" if spec["setting"] == TUNED else spec["setting"]
            factors = spec.get("factors_at", {}).get(str(problem.K), spec.get("factors"))
            given = (setting, factors, spec["variants"], spec.get("constants"))
            made = algorithms.constants(spec["algorithm"], problem, *given)
            arms = getattr(made, "arms", [made])
            found.append(np.mean([getattr(arm, "eps", np.nan) for arm in arms]))
        return float(np.mean(found))


def share_of(name: str, spec: dict[str, Any]) -> tuple[str, str]:
    """The learner that one of a configuration is a share of, and the search; itself, and ""."""
    search = spec.get("choice", "")
    if not search or not name.startswith(f"{search}."):
        return name, ""
    each = "_each" if spec["tuned_at"] == "each" else ""
    return f"{spec['algorithm']}.{spec['setting']}{each}", search


def _shares(files: list[Path]) -> tuple[Shares, dict[str, tuple[str, str]]]:
    """The shares of every learner, and the learner and search behind each name in the files.

    A share that several experiments have may have factors chosen at the K of each.
    """
    found: Shares = {}
    called: dict[str, tuple[str, str]] = {}
    for file in files:
        for name, spec in tables.learners(file).items():
            learner, search = called[name] = share_of(name, spec)
            share = found.setdefault(learner, {}).setdefault(search, {})
            at = share.get("factors_at", {}) | spec.get("factors_at", {})
            share |= spec | ({"factors_at": at} if at else {})
    return found, called


def _middle(runs: pd.DataFrame) -> str:
    """The middle one of the budgets in the order of B."""
    budgets = runs.sort_values("B", kind="stable")["budget"].unique()
    return str(budgets[(len(budgets) - 1) // 2])


def power(order: str, of: str) -> float:
    """The power of "K" or "B" in an order of growth, where T stands for H K; nan: it has none."""
    found = re.search(rf"[{of.replace('K', 'KT')}]\^{{(\d+)/(\d+)}}", order)
    return int(found[1]) / int(found[2]) if found else np.nan


def rows(study: Study | None, linear: Study | None) -> pd.DataFrame:
    """The paper's rows in its order, then others; one for each choice of constants that ran."""
    found = []
    for claim in theory.TABLE:
        chosen, lower = linear if claim.linear else study, LOWER[claim.linear]
        measured = []
        if chosen is not None:
            measured = [_measured(chosen, name) for name in plain(chosen, claim.algorithm)]
        unnamed = {"algorithm": claim.algorithm, "learner": "", "setting": "", "tuned_at": ""}
        entry = {**unnamed, **claim._asdict(), "lower_order": lower}
        for who, order in (("claimed", claim.regret_order), ("lower", lower)):
            entry |= {f"{who}_slope_{of}": power(order, of) for of in "KB"}
        found += [entry | row for row in measured or [{"note": "not run"}]]
    return pd.DataFrame(found)


def plain(study: Study, algorithm: str) -> list[str]:
    """The learners with one of an algorithm's settings as it is: tuned ones first, literal last."""
    wanted = [f"{TUNED}_each", TUNED, *reversed(algorithms.settings(algorithm))]
    names = (f"{algorithm}.{setting}" for setting in wanted)
    return [name for name in names if name in study.learners]


def _measured(study: Study, learner: str) -> dict[str, Any]:
    """The exponents of a learner, what its constants put in, and its violation, at its middle budget."""
    spec, runs = study.learners[learner], study.runs[study.runs["learner"] == learner]
    budget = study.middle if study.middle in {*runs["budget"]} else _middle(runs)
    here, unit = runs[runs["budget"] == budget], growth.unit_of(runs)
    episodes = sorted(here["episodes"].unique().tolist())
    budgets, K = runs.groupby("episodes")["budget"].nunique(), episodes[-1]
    widest = int(budgets[budgets == budgets.max()].index.max())  # the K with the most budgets
    row: dict[str, Any] = {
        "learner": learner,
        "setting": spec["setting"],
        "tuned_at": study.tuned_at(learner),
        "instances": runs["reading"].nunique(),
        "units": f"{runs[unit].nunique()} {growth.UNITS[unit]}",
        "budget": budget,
        "smallest_K": episodes[0],
        "largest_K": K,
        "slope_B_at_K": widest,
    }

    fits = study.slopes[study.slopes["learner"] == learner]
    in_K = fits[(fits["along"] == "episodes") & (fits["budget"] == budget)].groupby("which")
    all_K, late = in_K.get_group("all"), in_K.get_group("late")
    in_B = fits[(fits["along"] == "B") & (fits["episodes"] == widest)]
    for along, found in {"K": all_K, "K_late": late, "B": in_B}.items():
        for quantity, *ends in found[["quantity", "value", "low", "high"]].itertuples(index=False):
            keys = (f"{quantity}_slope_{along}{end}" for end in ENDS)
            row |= zip(keys, ends, strict=True)
    notes = [*filter(None, all_K["why_not"])]
    if spec["setting"] == TUNED and len(study.shares[learner]) == 1:
        notes.append(NOISE_LEFT_OUT)
    row["note"] = "; ".join(notes)

    # At the largest K: eps, surplus utility as a share of it, and its price as a share of the regret.
    problems = [study.problem(budget, each) for each in episodes]
    eps = np.array([study.eps(learner, problem) for problem in problems])
    slope = growth.exponent(np.array(episodes), eps[None], "eps").value
    mean = here.loc[here["episodes"] == K, [*metrics.MEASURES]].mean() / K
    of_eps, of_regret = np.nan, np.nan
    if mean["violation"] < 0:
        of_eps = -mean["violation"] / eps[-1]
        of_regret = (mean["regret"] - mean["gap"]) / mean["positive_regret"]
    row |= {"eps": eps[-1], "eps_slope_K": slope, "surplus_of_eps": of_eps}
    row |= {"surplus_of_regret": of_regret, "put_in": put_in(of_regret, of_eps, slope)}

    # Violation per episode, each budget at its largest K: that of the middle one, and the worst.
    mine = study.violations[study.violations["learner"] == learner]
    last = mine.loc[mine.groupby("budget")["episodes"].idxmax()].set_index("budget")
    middle, worst = last.loc[budget], last.loc[last["violation"].idxmax()]
    for name, found, column in (
        ("", middle, "violation"),
        ("positive_", middle, "positive_violation"),
        ("worst_", worst, "violation"),
    ):
        row |= {f"{name}violation_per_episode{end}": found[f"{column}{end}"] for end in ENDS}
    row |= {"worst_budget": worst.name, "worst_K": worst["episodes"]}
    row["theorem_from_K"] = theory.from_episodes(spec["algorithm"], problems[-1])
    kept = study.summary.query("learner == @learner and budget == @budget and episodes == @K")
    return row | {"state_bytes": int(kept["state_bytes"].iloc[0])}


def put_in(of_regret: float, of_eps: float, slope: float) -> str:
    """Says so where the price of surplus utility is most of the regret, and it is about eps."""
    if not (of_regret >= MOST and ABOUT[0] <= of_eps <= ABOUT[1]):
        return ""
    return (
        f"{of_regret:.0%} of the regret is the price of surplus utility, {of_eps:.0%} of eps ~ "
        f"K^{slope:.2f}: the constants put in an exponent of about {1 + slope:.2f}"
    )


def write(plan: Plan, folder: Path) -> None:
    """Writes comparison.csv and .tex, and the exponents and violations behind them."""
    roles = [role for role in ("growth", "linear") if role in plan.roles]
    studies = {role: Study(folder, plan.roles[role]) for role in roles}
    table = rows(studies["growth"], studies.get("linear"))
    write_csv(folder / layout.table("comparison.csv"), table)
    files.write_text(folder / layout.table("comparison.tex"), tex(table))
    for name in ("slopes", "violations"):
        parts = {role: getattr(study, name) for role, study in studies.items()}
        whole = pd.concat(parts, names=["role"]).reset_index(0)
        write_csv(folder / layout.table(f"{name}.csv"), whole)


def readable(table: pd.DataFrame, columns: dict[str, str], missing: str = "") -> pd.DataFrame:
    """Titles of algorithms, constants in words, and columns by heading, as m [low, high]."""

    def text(row: pd.Series, name: str) -> str:
        value, low, high = (row.get(f"{name}{end}", np.nan) for end in ENDS)
        if pd.isna(value) or isinstance(value, str):
            return "" if pd.isna(value) else value
        if isinstance(value, bool | np.bool_):
            return "yes" if value else "no"
        if abs(value) >= 1000:
            return f"{value:,.0f}" if value < 1e9 else f"{value:.0e}"
        digits = 3 if "per_episode" in name else 2
        mean, *ends = (f"{round(one, digits) + 0.0:.{digits}f}" for one in (value, low, high))
        return mean if pd.isna(low) else f"{mean} [{', '.join(ends)}]"

    known, made_by = algorithms.NAMES, table.reindex(columns=["setting", "tuned_at"]).fillna("")
    constants = (CONSTANTS.get(key, key[0]) for key in made_by.itertuples(index=False, name=None))
    shown: dict[str, Any] = {
        "Algorithm": [algorithms.title(a) if a in known else a for a in table["algorithm"]],
        "Constants": [words or missing for words in constants],
    }
    for heading, name in columns.items():
        if name in table:
            shown[heading] = [text(row, name) or missing for _, row in table.iterrows()]
    return pd.DataFrame(shown)


TEX = {  # headings and columns
    "Model-free": "model_free",
    "Known $B$": "known_budget",
    "Regret": "regret_order",
    "Violation": "violation_order",
    "Lower bound": "lower_order",
    r"$[\mathrm{Regret}]_+ \propto K^{\cdot}$": "positive_regret_slope_K",
    r"Gap $\propto K^{\cdot}$": "gap_slope_K",
    "last two octaves": "gap_slope_K_late",
    r"Gap $\propto B^{\cdot}$": "gap_slope_B",
    "Violation/episode": "violation_per_episode",
}
BELOW = (
    r"Exponents of single searches (tuned), instances or seeds: mean and 95\% $t$-interval. "
    r"* put in by the constants: most of the regret is the price of surplus utility, about "
    r"$\epsilon$."
)


def tex(table: pd.DataFrame) -> str:
    """As the paper prints it; names are escaped, orders of growth are formulas."""
    cells = readable(table, TEX, "--")
    cells["Known $B$"] = cells["Known $B$"].replace("-", "--")
    for heading in ("Regret", "Violation"):
        cells[heading] = [_order(text, r"\tilde O") for text in cells[heading]]
    cells["Lower bound"] = [_order(text, r"\Omega") for text in cells["Lower bound"]]
    if "put_in" in table:
        starred = table["put_in"].fillna("").astype(bool).to_numpy()
        regret = next(heading for heading, name in TEX.items() if "regret_slope" in name)
        cells.loc[starred, regret] += "*"
    styled = cells.style.hide(axis="index").format(escape="latex")
    styled = styled.format(escape="latex-math", subset=["Regret", "Violation", "Lower bound"])
    text = styled.to_latex(column_format="ll" + "c" * len(TEX), hrules=True)
    below = rf"\multicolumn{{{len(cells.columns)}}}{{l}}{{{BELOW}}} \\"
    return text.replace(r"\bottomrule", f"\\midrule\n{below}\n\\bottomrule")


def _order(text: str, sign: str) -> str:
    formula, _, remark = text.partition(" (")
    if not formula[0].isupper() or formula.startswith("T "):
        return text
    return rf"${sign}({formula})$" + (f" ({remark}" if remark else "")
