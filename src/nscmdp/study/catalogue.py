"""What a study shows: the roles that an experiment can have, the notebooks, and the figures that each of them draws.

An experiment of a role is drawn by the notebooks that name the role. A notebook is executed where the roles that it
needs are there; it draws the figures whose own roles are there.
"""

from pathlib import Path
from typing import NamedTuple

from nscmdp.study import layout

CLAIMS = Path("workflow/claims.yaml")  # the paper's claims, and the thresholds of verdicts

ROLES = {
    "grid_world": "the paper's simulation: drawn in the grid-world figure, and the simulation's claim is judged on it",
    "reading": "another reading of the paper's simulation: the claim is judged on it",
    "alternatives": "other searches, finalists, rules and bounds of the tuning in the environment of a grid_world "
    "experiment or a reading: which verdicts depend on them",
    "growth": "regret, violation and gap against K and B, for the comparison table",
    "assumed_budget": "what a wrongly assumed budget costs",
    "linear": "linear CMDPs: growth of Algorithms 3 and 4 and the appendix's approach",
    "controls": "Algorithm 1 crossed with Triple-Q, choice by choice, and controls",
    "sensitivity": "multiples of the factors that tuning chose",
    "switches": "what each switch of the ledger of deviations changes",
    "suite": "an environment of the suite, on which all learners are compared",
}
SIMULATIONS = ("grid_world", "reading")  # on these the simulation's claim is judged
JUDGED = (*SIMULATIONS, "alternatives")  # and on these once more
QUESTIONS = {  # of a best case for the paper: whose constants are searched
    "own": "nonstationary_triple_q",  # baselines at their own tuned choices
    "shared": "nonstationary_triple_q",  # baselines at the same constants
    "triple_q": "triple_q",  # can it both learn and keep the limit?
    "restart_q_ucb": "restart_q_ucb",
}
CLAIM_GROUPS = {  # files of checks, and the tables over all experiments that they read where these are there
    "learning_rates": (),
    "optimism": (),
    "queue": (),
    "theorems": layout.COMPARISON,
    "bandit": (),
    "linear": layout.COMPARISON,
    "arithmetic": (),
}
SUBJECTS = {
    "learning_rates": "the learning rates, the drift of values and the tightened problem",
    "optimism": "ranges, concentration, over-estimation and estimation error",
    "queue": "the virtual queue",
    "theorems": "Theorems 1 and 2 and the assumption on local budgets",
    "bandit": "the bandit over bandits",
    "linear": "linear CMDPs",
    "arithmetic": "memory, Table 1 and the remarks on it",
}
REGION = "region"  # how large is the part of Algorithm 1's constants that works?


class Figure(NamedTuple):
    name: str
    caption: str
    roles: tuple[str, ...]  # all are needed; "tuning", "best_case", "claims" and "shown" stand for lists of these


class Notebook(NamedTuple):
    name: str
    figures: tuple[Figure, ...]
    reads: tuple[str, ...] = ()  # besides the tables of its experiments

    @property
    def roles(self) -> tuple[str, ...]:
        """All that it draws where they are there."""
        return tuple(dict.fromkeys(role for figure in self.figures for role in figure.roles))


NOTEBOOKS = (
    Notebook(
        "grid_world",
        (
            Figure(
                "grid_world",
                "One row for each choice of constants: the printed formulas (literal), those of the authors' code for "
                "the predecessor (authors), and factors chosen with equal effort for every learner on other seeds "
                "(tuned).",
                ("grid_world",),
            ),
        ),
    ),
    Notebook(
        "replication",
        (
            Figure(
                "claims",
                "The simulation's claim in its parts, for every choice of constants and every reading: how many of "
                "the seeds agree, and the verdict that follows.",
                ("grid_world",),
            ),
            Figure(
                "thresholds",
                "In how many cells each part holds as one threshold moves, the others at their defaults (dashed).",
                ("grid_world",),
            ),
            Figure(
                "alternatives",
                "The verdicts with tuned constants under the main choice, other searches and finalists, other rules of "
                "tuning and other bounds on frames.",
                ("grid_world", "alternatives"),
            ),
            Figure(
                "best_case",
                "The constants found to make the claim come true by the widest margin, on seeds that the search never "
                "saw: how far each of them is from the threshold of every part.",
                ("best_case",),
            ),
            Figure(
                "causes",
                "What separates Algorithm 1 from Triple-Q: every difference switched by itself.",
                ("controls",),
            ),
            Figure("sensitivity", "How much each factor matters around the chosen ones.", ("sensitivity",)),
        ),
        (layout.SIMULATION,),
    ),
    Notebook(
        "tuning",
        (
            Figure(
                "efforts",
                "The loss of the best candidate so far on selection seeds, one line per independent search.",
                ("tuning",),
            ),
            Figure(
                "fronts",
                "Violation against loss of every candidate that was scored on the selection seeds. Star: the choice.",
                ("tuning",),
            ),
        ),
    ),
    Notebook(
        "comparison_table",
        (
            Figure(
                "growth",
                "By algorithm and kind of constants: gap, regret and local exponents against K, gap against B, "
                "violation per episode at every K and budget.",
                ("growth",),
            ),
            Figure("assumed_budget", "What a wrongly assumed budget costs Algorithm 1.", ("assumed_budget",)),
            Figure("arms", "What Exp3 chose for Algorithm 2, which does not know the budget.", ("growth",)),
        ),
        tuple(map(layout.table, layout.COMPARISON)),
    ),
    Notebook(
        "linear",
        (
            Figure(
                "linear",
                "Algorithm 3 in a drifting linear CMDP: literal beside scaled, with and without restarts.",
                ("linear",),
            ),
            Figure("linear_arms", "What the bandit chose where the budget is not known.", ("linear",)),
        ),
    ),
    Notebook(
        "suite",
        (
            Figure(
                "suite",
                "All learners on the suite. Left: how many of the runs have a gap of at most tau. Right: the mean gap "
                "in every environment, with its interval.",
                ("suite",),
            ),
        ),
        tuple(map(layout.table, layout.SUITE)),
    ),
    Notebook(
        "claims",
        (
            Figure(
                "looseness",
                "Where the constants of Theorem 1 come from: what each inequality of its proof allows, over what was "
                "needed where it was looked at.",
                ("claims",),
            ),
            *(
                Figure(f"claims_{group}", f"What decides the verdicts on {subject}.", ("claims",))
                for group, subject in SUBJECTS.items()
            ),
        ),
        (layout.CLAIMS,),
    ),
    Notebook(
        "environments",
        (
            Figure(
                "environments",
                "How the environments drift, how much their constraint binds, and what can be earned.",
                ("shown",),
            ),
        ),
    ),
)

EXPERIMENT = {  # the tables of every experiment
    "curves.parquet": "Reward and utility that were earned, and the dual variable, of every run by window.",
    "exact.parquet": "Exact values of the policies played beside the optimum, at every evaluated episode or window.",
    "traces.parquet": "What learners that choose among arms or budgets chose.",
    "summary.csv": "Means over the run and over its last fifth, with intervals, of every learner.",
}
WATCHED = {  # and those of experiments that are watched on the map
    "learning.parquet": "Which cells the policies of some episodes visit and where they move, beside the optimum.",
    "learning.csv": "Expected reward and cost of the policies of some episodes, beside the optimum.",
}
TABLES = {  # by the rule that makes them: the tables and verdicts over all experiments
    "tuned": {
        layout.table("tuned.csv"): "What tuning chose for every learner, with the finalists beside it.",
        layout.table("candidates.csv"): "Every candidate that was scored on the selection seeds.",
        layout.table("efforts.csv"): "The best candidate so far, as each search went on.",
        layout.table("saturation.csv"): "What the last doubling of the searches gained, and how far apart they ended.",
    },
    "best_cases": {
        layout.table("best_cases.csv"): "The constants found to make the claim come true by the widest margin.",
        layout.table("best_case_seeds.csv"): "The distance to the threshold of every part, on every fresh seed.",
        layout.table("best_case_regions.csv"): "The share of all admissible constants that works.",
    },
    "comparison": {
        layout.table("comparison.csv"): "The paper's Table 1 with measurements beside it.",
        layout.table("comparison.tex"): "The comparison table in LaTeX.",
        layout.table("slopes.csv"): "Growth exponents of gap and regret in K and in B, by instance.",
        layout.table("violations.csv"): "Violation per episode at every K and budget.",
    },
    "suite": {
        layout.table("suite_scores.csv"): "Every learner in every environment of the suite, with intervals.",
        layout.table("suite_profile.csv"): "The share of runs on the suite whose gap is at most tau, by learner.",
        layout.table("suite_pairs.csv"): "How probable it is that one learner beats another in the same run.",
        layout.table("suite_paired.csv"): "How far every learner is from Algorithm 1 in the same runs.",
        layout.table("suite_hypotheses.csv"): "What was expected of the suite, beside what was found.",
        layout.table("suite_ranking.csv"): "Learners by their mean normalised gap on the suite.",
        layout.table("suite_stability.csv"): "How often that ranking changes under other seeds, instances, searches.",
        layout.table("suite_runs.csv"): "Every run on the suite.",
        layout.table("suite_searches.csv"): "Runs on the suite with the constants that single searches found.",
    },
    "environments": {layout.table("environments.csv"): "Sizes, variation budgets and optima of the environments."},
    "simulation": {
        layout.SIMULATION: "Every verdict on the paper's simulation, with seeds and intervals.",
        layout.VERDICTS: "The verdicts on the paper's simulation, one row each.",
    },
    "judge": {layout.claims(group): f"What the checks on {subject} found." for group, subject in SUBJECTS.items()},
    "claims": {
        layout.CLAIMS: "Every claim of the paper with its verdict and evidence.",
        layout.CLAIMS_TEXT: "Every claim of the paper with its verdict, as text.",
    },
    "answer": {layout.ANSWER: "The numbers behind the answer."},
    "deviations": {
        layout.table("deviations.csv"): "What each switch of the ledger of deviations changes.",
        layout.DEVIATIONS: "Where the printed text had to be completed or corrected.",
    },
}


def drawn(present: set[str]) -> dict[str, list[Figure]]:
    """The figures that each notebook draws where these roles are there; notebooks that draw none are left out."""
    found = {one.name: [figure for figure in one.figures if {*figure.roles} <= present] for one in NOTEBOOKS}
    return {name: figures for name, figures in found.items() if figures}


def find(figure: str) -> tuple[str, Figure]:
    """The notebook that draws a figure, and the figure."""
    return next((one.name, drawn) for one in NOTEBOOKS for drawn in one.figures if drawn.name == figure)
