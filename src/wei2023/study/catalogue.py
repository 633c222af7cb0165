"""What a study shows: the roles that an experiment can have, the notebooks, and the figures that each of them draws.

An experiment of a role is drawn by the notebooks that name the role. A notebook is executed where the roles that it
needs are there; it draws the figures whose own roles are there.
"""

from pathlib import Path
from typing import NamedTuple

from wei2023.study import layout

ERRATUM = Path("workflow/erratum.md")  # the letter, with places for the numbers of claims
CLAIMS = Path("workflow/claims.yaml")  # the paper's claims, and the thresholds of verdicts

FIRST = "nonstationary_triple_q"  # Algorithm 1
ROLES = {
    "protocols": "the paper's simulation, made of the key protocols: its claim is judged on it",
    "choices": "options of what its text leaves open, made of the key protocols",
    "eta": "Algorithm 1 and Triple-Q at many values of eta",
    "frames": "Algorithm 1 at many lengths of a frame",
    "growth": "regret, violation and gap against K and B, for the comparison table",
    "assumed_budget": "what a wrongly assumed budget costs",
    "linear": "linear CMDPs: growth of Algorithms 3 and 4 and the appendix's approach",
    "switches": "what each switch of the ledger of deviations changes",
    "suite": "an environment of the suite, on which all learners are compared",
}
JUDGED = (
    "protocols",
    "choices",
    "eta",
    "frames",
)  # beside their optima stand the uniform policy and the unconstrained optimum
SWEPT = {"eta": "eta", "frames": "frame"}  # the constant that the learners of these roles differ in
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
    "arithmetic": "memory, computation, Table 1 and the remarks on it",
}
DRAWN = (
    "theorems",
    "bandit",
    "linear",
)  # the groups of claims with a figure: of what contradicts the text


class Figure(NamedTuple):
    """Drawn by the function of its name in ``report/figures/NOTEBOOK.py``."""

    name: str
    caption: str
    roles: tuple[str, ...]  # all are needed; "tuning", "claims" and "shown" are lists besides roles
    group: str | None = None  # of claims that it is about: it is shown with these


class Notebook(NamedTuple):
    name: str
    title: str  # of its section of the page
    figures: tuple[Figure, ...]
    reads: tuple[str, ...] = ()  # besides the tables of its experiments

    @property
    def roles(self) -> tuple[str, ...]:
        """All that it draws where they are there."""
        return tuple(dict.fromkeys(role for figure in self.figures for role in figure.roles))


NOTEBOOKS = (  # in the order of the page
    Notebook(
        "grid_world",
        "The paper's simulation",
        (
            Figure(
                "grid_world",
                "The authors' map under four protocols: reward and cost per episode, mean and 95% "
                "interval over draws and seeds. The source of the paper has no picture to compare "
                "with: this one is our own.",
                ("protocols",),
            ),
        ),
    ),
    Notebook(
        "replication",
        "Which unstated choice makes the figure appear",
        (
            Figure(
                "eta",
                "Cost and share of the optimum over the last fifth against eta, for both learners "
                "under both frame-end rules. Marked: the value of the released code, and the "
                "printed one.",
                ("eta",),
            ),
            Figure(
                "frames",
                "When can a learner that forgets everything learn? Share of the optimum, and where "
                "the limit is kept, against the length of a frame.",
                ("frames",),
            ),
            Figure(
                "margins",
                "From which K on: the margin of every part against K, constants tuned for it.",
                ("protocols",),
            ),
        ),
        (*map(layout.table, layout.PROTOCOLS), layout.ANSWER),
    ),
    Notebook(
        "tuning",
        "How the constants were chosen",
        (
            Figure(
                "efforts",
                "The loss of the best candidate so far on selection seeds, one line per independent "
                "search.",
                ("tuning",),
            ),
            Figure(
                "fronts",
                "Violation against loss of every candidate that was scored on the selection seeds. "
                "Star: the choice.",
                ("tuning",),
            ),
        ),
    ),
    Notebook(
        "suite",
        "What does work?",
        (
            Figure(
                "suite",
                "All learners on the suite. Left: how many of the runs have a gap of at most tau. "
                "Right: the mean gap in every environment, with its interval.",
                ("suite",),
            ),
        ),
        tuple(map(layout.table, layout.SUITE)),
    ),
    Notebook(
        "claims",
        "The paper's theory",
        (
            Figure(
                "looseness",
                "Where the constants of Theorem 1 come from: what each inequality of its proof "
                "allows, over what was needed where it was looked at.",
                ("claims",),
            ),
            *(
                Figure(
                    f"claims_{group}",
                    f"What contradicts {SUBJECTS[group]} to the letter.",
                    ("claims",),
                    group,
                )
                for group in DRAWN
            ),
        ),
        (layout.CLAIMS,),
    ),
    Notebook(
        "comparison_table",
        "The comparison table, and growth",
        (
            Figure(
                "growth",
                "By algorithm and kind of constants: gap, regret and local exponents against K, gap "
                "against B, violation per episode at every K and budget.",
                ("growth",),
            ),
            Figure(
                "assumed_budget",
                "What a wrongly assumed budget costs Algorithm 1.",
                ("assumed_budget",),
            ),
            Figure(
                "arms",
                "What Exp3 chose for Algorithm 2, which does not know the budget.",
                ("growth",),
            ),
        ),
        tuple(map(layout.table, layout.COMPARISON)),
    ),
    Notebook(
        "linear",
        "Linear CMDPs",
        (
            Figure(
                "linear",
                "Algorithm 3 in a drifting linear CMDP: literal beside scaled, with and without "
                "restarts.",
                ("linear",),
            ),
            Figure(
                "linear_arms", "What the bandit chose where the budget is not known.", ("linear",)
            ),
        ),
    ),
    Notebook(
        "environments",
        "Environments",
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


def _tables(texts: dict[str, str]) -> dict[str, str]:
    return {layout.table(name): text for name, text in texts.items()}


TABLES = {  # by the rule that makes them: the tables and verdicts over all experiments
    "tuned": _tables(
        {
            "tuned.csv": "What tuning chose for every learner, and what each search kept.",
            "candidates.csv": "Every candidate that was scored on the selection seeds.",
            "efforts.csv": "The best candidate so far, as each search went on.",
            "saturation.csv": "What the last doubling of the searches gained, and how far apart they ended.",
        }
    ),
    "comparison": _tables(
        {
            "comparison.csv": "The paper's Table 1 with measurements beside it.",
            "comparison.tex": "The comparison table in LaTeX.",
            "slopes.csv": "Growth exponents of gap and positive parts in K and in B, by unit.",
            "violations.csv": "Violation per episode at every K and budget.",
        }
    ),
    "suite": _tables(
        {
            "suite_scores.csv": "Every learner in every environment of the suite, with intervals.",
            "suite_profile.csv": "The share of runs on the suite whose gap is at most tau, by learner.",
            "suite_pairs.csv": "How probable it is that one learner beats another in the same run.",
            "suite_paired.csv": "How far every learner is from Algorithm 1 in the same runs.",
            "suite_hypotheses.csv": "What was expected of the suite, beside what was found.",
            "suite_ranking.csv": "Learners by their mean normalised gap on the suite.",
            "suite_stability.csv": "How often that ranking changes under other seeds, instances, searches.",
            "suite_runs.csv": "Every run on the suite.",
            "suite_searches.csv": "Runs on the suite with the constants that single searches found.",
        }
    ),
    "environments": _tables(
        {
            "environments.csv": "Sizes, variation budgets and optima of the environments.",
            "drift.parquet": "Budget used, optimum and reference values by episode, of each environment.",
        }
    ),
    "protocols": _tables(
        {
            "protocols.csv": "The protocols of the paper's simulation: how many runs agree to each part.",
            "choices.csv": "What each unstated choice decides, switched by itself.",
            "thresholds.csv": "How many runs agree to each part as one threshold moves.",
        }
    ),
    "judge": {
        layout.claims(group): f"What the checks on {subject} found."
        for group, subject in SUBJECTS.items()
    },
    "claims": {
        layout.CLAIMS: "Every claim of the paper with its verdict and evidence.",
        layout.CLAIMS_TEXT: "Every claim of the paper with its verdict, as text.",
        layout.ERRATUM: "What the paper's theory needs corrected, as a letter.",
    },
    "answer": {
        layout.ANSWER: "The answer, and the numbers behind it.",
    },
    "deviations": {
        layout.table("deviations.csv"): "What each switch of the ledger of deviations changes.",
        layout.DEVIATIONS: "Where the printed text had to be completed or corrected.",
    },
}


def drawn(present: set[str]) -> dict[str, list[Figure]]:
    """The figures that each notebook draws where these roles are there; notebooks that draw none are left out."""
    found = {
        one.name: [figure for figure in one.figures if {*figure.roles} <= present]
        for one in NOTEBOOKS
    }
    return {name: figures for name, figures in found.items() if figures}


def find(figure: str) -> tuple[str, Figure]:
    """The notebook that draws a figure, and the figure."""
    return next(
        (one.name, drawn) for one in NOTEBOOKS for drawn in one.figures if drawn.name == figure
    )
