"""Does it replicate? The answer in five sentences and a table, made from the verdicts and tables of a run.

Every sentence is chosen by its data: what the sentences say of a protocol, of a number of episodes or of the order
of the learners is read from the rows of the protocols and from the runs at many values of eta.
"""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from nscmdp import files
from wei2023.runs.parts import PARTS, TRIPLE_Q
from wei2023.study import layout
from wei2023.study.plan import Plan
from wei2023.study.protocols import Protocols
from wei2023.verdicts import deviations, protocols, tables, thresholds
from wei2023.verdicts.comparison import CONSTANTS
from wei2023.verdicts.markdown import between, table
from wei2023.verdicts.protocols import FAILS, HOLDS, verdict
from wei2023.verdicts.thresholds import Rules

BEGIN, END = "<!-- made by `make readme` from docs/answer.json -->\n", "<!-- end -->\n"
ALGORITHMS = ("nonstationary_triple_q", "double_restart_triple_q")
FACTORS = {**CONSTANTS, ("scaled", "once"): CONSTANTS["scaled", ""]}
EXPONENTS = ("gap_slope_K", "gap_slope_K_late", "positive_regret_slope_K", "gap_slope_B")
SLOPES = [f"{exponent}{end}" for exponent in EXPONENTS for end in ("", "_low", "_high")]
OF_BASELINES = [
    f"{name}_{what}" for name in ("triple_q", "restart_q_ucb") for what in ("share", "late_cost")
]
NUMBERS = ("share", "cost", "late_cost", "worst_tenth", "limit", *OF_BASELINES)
WHOLES = [*protocols.WHOLE]
ORDER = ("C20c", "C20d")  # Algorithm 1 within the limit, Triple-Q above it


def gather(plan: Plan, folder: Path) -> dict[str, Any]:
    """The numbers behind the answer, and its sentences."""
    assert plan.config.protocols is not None
    rules, entries = thresholds.load(), deviations.load(deviations.LEDGER)
    found, switched, _ = (tables.load(folder / layout.table(name)) for name in layout.PROTOCOLS)
    sweeps = [protocols.swept(folder, name) for name in plan.roles.get("eta", [])]
    swept = pd.concat(sweeps, ignore_index=True) if sweeps else None
    numbers = {
        "protocols": [_protocol(row) for row in found.to_dict("records")],
        "choices": [
            {key: row[key] for key in ("choice", "option", "base")}
            | {"decides": _words(row["decides"]), **_protocol(row)}
            for row in switched.to_dict("records")
        ],
        "unstated": _unstated(plan.config.protocols),
        "walk": {
            key: float(f"{value:.4g}") for key, value in protocols.walk(80_000, 324, 25).items()
        },
        "eta": [] if swept is None else ordering(swept, rules),
        "still": swept is not None and eta_changes_nothing(swept),
        "claims": _claims(folder / layout.CLAIMS),
        "growth": _growth(folder / layout.table("comparison.csv")),
        "ledger": {
            "places": len(entries),
            "switches": sum(bool(entry.switch) for entry in entries),
        },
    }
    return {"sentences": sentences(numbers, rules), **numbers}


def _unstated(study: Protocols) -> list[dict[str, Any]]:
    """Every choice once."""
    by_name = {one.name: one for one in study.choices}
    return [one.model_dump(include={"name", "text", "stated"}) for one in by_name.values()]


def _protocol(row: dict[str, Any]) -> dict[str, Any]:
    given = ("name", "map", "K", "frame_end", "constants", "baselines", "reading")
    counts = {
        name: {"agree": int(row[f"{name} agree"]), "of": int(row[f"{name} of"])}
        for name in (*PARTS, *WHOLES)
    }
    numbers = {name: float(f"{row[name]:.4g}") for name in NUMBERS if not pd.isna(row.get(name))}
    return {
        **{key: row[key] for key in given},
        **{key: [*map(int, _words(row[key]))] for key in ("seeds", "searched_on")},
        "draws": [*map(int, _words(row["draws"]))],
        "parts": {name: counts[name] for name in PARTS},
        "whole": {name: counts[name] for name in WHOLES},
        "running_mean": bool(row["running mean"]),
        "mean": {name: bool(row[f"{name} mean"]) for name in WHOLES},
        "by_draw": {name: [*map(int, _words(row[f"{name} by draw"]))] for name in PARTS},
        "margins": {
            name: None if pd.isna(row[f"{name} margin"]) else float(f"{row[f'{name} margin']:.4g}")
            for name in PARTS
        },
        "numbers": numbers,
        "keeps": {
            name: {"agree": int(row[f"{short}keeps"]), "of": int(row[f"{short}runs"])}
            for name, short in protocols.SHORT.items()
            if not pd.isna(row.get(f"{short}keeps"))
        },
        "tuned_for": "margin"
        if "margin" in _words(row["objective"])
        else "gap"
        if _words(row["objective"])
        else None,
        "recorded": bool(row["recorded"]),
    }


def _words(cell: Any) -> list[str]:
    return [] if pd.isna(cell) else str(int(cell) if isinstance(cell, float) else cell).split()


def ordering(swept: pd.DataFrame, rules: Rules) -> list[dict[str, Any]]:
    """Algorithm 1 and Triple-Q at equal eta and eps, under the earlier code's rule: their costs, who breaks the limit.

    Triple-Q runs with its own frame, and with Algorithm 1's.
    """
    found: list[dict[str, Any]] = []
    columns = swept.reindex(columns=[*swept.columns, *({"eps", "frame"} - {*swept.columns})])
    bump = columns[columns["frame_end"] == "bump"]
    for (K, eta, eps), mine in bump.groupby(["K", "eta", "eps"], dropna=False):
        other = mine["algorithm"] == TRIPLE_Q
        one, own, same = (
            mine[~other],
            mine[other & mine["frame"].isna()],
            mine[other & mine["frame"].notna()],
        )
        row: dict[str, Any] = {
            "K": int(K),
            "eta": float(eta),
            "eps": None if pd.isna(eps) else float(eps),
        }
        for name, rows in {
            "algorithm_1": one,
            "triple_q": own,
            "triple_q_same_frame": same,
        }.items():
            if len(rows):
                breaks = verdict(rows["breaks"].iloc[0], rows["of"].iloc[0], rules.agreement)
                keeps = verdict(rows["keeps"].iloc[0], rows["of"].iloc[0], rules.agreement)
                cost = float(f"{rows['late_cost'].iloc[0]:.4g}")
                row |= {name: cost, f"{name}_breaks": breaks, f"{name}_keeps": keeps}
        found.append(row)
    return found


def eta_changes_nothing(swept: pd.DataFrame) -> bool:
    """Where all tables are reset and the frame is that of the formula, as the dual never moves."""
    reset = swept[(swept["frame_end"] == "full") & (swept["learner"].str.startswith("algorithm_1"))]
    return len(reset) > 1 and reset["late_cost"].nunique() == 1


def ordered(row: dict[str, Any], other: str) -> bool:
    return (row["algorithm_1_breaks"], row[f"{other}_breaks"]) == (FAILS, HOLDS)


def agreed(counted: dict[str, int], rules: Rules) -> bool:
    """Do as many runs agree as must?"""
    return counted["of"] > 0 and verdict(counted["agree"], counted["of"], rules.agreement) == HOLDS


def holds(row: dict[str, Any], rules: Rules, whole: str = "all forgiving") -> bool:
    return agreed(row["whole"][whole], rules)


def sentences(numbers: dict[str, Any], rules: Rules) -> list[str]:
    """What is missing; as printed; from which K on; what the ordering follows; what that means for a reader."""
    return [
        _missing(numbers["unstated"]),
        _as_printed([*numbers["protocols"], *numbers["choices"]], rules),
        _from_which_K(tuned_by_an_author(numbers), rules),
        _ordering(numbers, rules),
        _for_a_reader(numbers, rules),
    ]


def _missing(unstated: list[dict[str, Any]]) -> str:
    names = [one["name"] for one in unstated if not one["stated"]]
    return (
        f"The simulation cannot be reproduced from the paper's text, which leaves {len(names)} choices open "
        f"({', '.join(names)}), and the paper's source contains no picture to compare with."
    )


def _as_printed(rows: list[dict[str, Any]], rules: Rules) -> str:
    printed = sorted(
        (row for row in rows if row["name"].startswith("as printed")), key=lambda row: row["K"]
    )
    usual = [
        row for row in printed if row["reading"] == "default" and row.get("choice") in (None, "K")
    ]
    if not usual:
        return "As printed, Algorithm 1 was not run."
    learns = max(row["numbers"]["share"] for row in usual) >= rules.unlearnt
    reached = enumeration(f"{row['numbers']['share']:.0%} at K = {row['K']:,}" for row in usual)
    said = "learns" if learns else "learns nothing at any K that was run"
    return f"As printed, Algorithm 1 {said}: of the way from the uniform policy to the optimum it covers {reached}."


def enumeration(words: Iterable[str]) -> str:
    """One, two and three."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def tuned_by_an_author(numbers: dict[str, Any]) -> list[dict[str, Any]]:
    """Algorithm 1 tuned for its own parts, baselines as released, the usual reading: at every K, by frame-end rule."""
    rows = [*numbers["protocols"], *numbers["choices"]]
    mine = [row for row in rows if row["tuned_for"] == "margin" and row["baselines"] == "released"]
    mine = [row for row in mine if row["reading"] == "default" and row.get("choice") in (None, "K")]
    return sorted(mine, key=lambda row: (row["frame_end"], row["K"]))


def first_K(rows: list[dict[str, Any]], is_met: Callable[[dict[str, Any]], bool]) -> int | None:
    """The least K from which on the whole claim is met at every K that was tried."""
    failed = [row["K"] for row in rows if not is_met(row)]
    later = [row["K"] for row in rows if row["K"] > max(failed, default=0)]
    return min(later, default=None)


RULES = {
    "full": "with all tables reset at a frame's end",
    "bump": "with the earlier code's rule, which forgets nothing,",
}


def _from_which_K(rows: list[dict[str, Any]], rules: Rules) -> str:
    groups = [[row for row in rows if row["frame_end"] == frame_end] for frame_end in RULES]
    groups = [group for group in groups if group]
    if not groups:
        return "No protocol tunes Algorithm 1 alone."

    def each(is_met: Callable[[dict[str, Any]], bool]) -> str:
        found = [(RULES[group[0]["frame_end"]], first_K(group, is_met)) for group in groups]
        return enumeration(
            f"{words} {'at no K' if K is None else f'from K = {K:,} on'}" for words, K in found
        )

    return (
        "If Algorithm 1 is tuned for the claim and the baselines run as released, the whole claim, with dips after a "
        f"frame's end allowed, holds {each(lambda row: holds(row, rules))}; the mean of the runs, which is what a "
        f"figure shows, meets it {each(lambda row: row['mean']['all forgiving'])}."
    )


def _ordering(numbers: dict[str, Any], rules: Rules) -> str:
    own = [row for row in numbers["protocols"] if row["baselines"] == "released"]
    apart = sum(all(agreed(row["parts"][part], rules) for part in ORDER) for row in own)
    tuned = [row for row in numbers["protocols"] if row["baselines"] == "tuned"]
    kept = sum(all(agreed(row["parts"][part], rules) for part in ORDER) for row in tuned)
    equal_eta = [ordered(row, "triple_q") for row in numbers["eta"] if "triple_q_breaks" in row]
    equal_frame = [
        ordered(row, "triple_q_same_frame")
        for row in numbers["eta"]
        if "triple_q_same_frame_breaks" in row
    ]
    where = [f"under {apart} of {len(own)} protocols with released baselines"]
    where += (
        [f"at {sum(equal_eta)} of {len(equal_eta)} pairs of equal eta and eps"] if equal_eta else []
    )
    where += (
        [f"at {sum(equal_frame)} of {len(equal_frame)} where the frame is equal too"]
        if equal_frame
        else []
    )
    where += [f"under {kept} of {len(tuned)} protocols that tune Triple-Q too"] if tuned else []
    order = "Algorithm 1 within the limit and Triple-Q above it"
    if not apart and not any(equal_eta):
        return f"The paper's order ({order}) appears nowhere: {enumeration(where)}."
    if kept or any(equal_frame):
        return f"The paper's order ({order}) is not that of eta, eps and frame alone: it appears {enumeration(where)}."
    cause = "eta, eps and the frame, which set how fast the dual moves" if any(equal_eta) else "eta"
    still = (
        "; with all tables reset every frame of the printed length, eta changes nothing"
        if numbers["still"]
        else ""
    )
    return f"The paper's order ({order}) is the order of {cause}: it appears {enumeration(where)}{still}."


def _for_a_reader(numbers: dict[str, Any], rules: Rules) -> str:
    own = [row for row in numbers["protocols"] if row["baselines"] == "released"]
    found = [row for row in own if holds(row, rules)]
    equal = [
        row for row in numbers["protocols"] if row["baselines"] != "released" and holds(row, rules)
    ]
    triple_q = f"; Triple-Q {enumeration(_of_triple_q(numbers))}" if _of_triple_q(numbers) else ""
    if not found and not equal:
        return (
            "For a reader: the claim holds under no protocol, and the simulation is no evidence for Algorithm 1"
            f"{triple_q}."
        )
    if equal:
        return (
            "For a reader: the claim also holds where all learners are treated alike, and is evidence for Algorithm 1 "
            f"under the protocols that say so{triple_q}."
        )
    return (
        "For a reader: a figure like the paper's shows how the constants of both learners were chosen, not that "
        f"Algorithm 1 alone keeps the limit{triple_q}."
    )


def _of_triple_q(numbers: dict[str, Any]) -> list[str]:
    """What it does where it is tuned as Algorithm 1 is."""
    tuned = [row for row in numbers["protocols"] if row["baselines"] == "tuned"]
    keeps = [row["keeps"][TRIPLE_Q] for row in tuned if row["tuned_for"] == "margin"]
    said = [
        f"keeps it in {one['agree']} of {one['of']} runs when it is tuned as Algorithm 1 is"
        for one in keeps
    ]
    closer = sum(row["numbers"]["triple_q_share"] > row["numbers"]["share"] for row in tuned)
    return (
        [
            *said,
            f"gets closer to the optimum under {closer} of {len(tuned)} protocols that tune both",
        ]
        if tuned
        else said
    )


def _growth(file: Path) -> list[dict[str, Any]]:
    """The slopes of Algorithms 1 and 2 with each choice of factors; the printed constants learn nothing."""
    if not file.is_file():
        return []
    columns = [
        "algorithm",
        "factors",
        *SLOPES,
        "positive_violation_per_episode",
        "largest_K",
        "units",
    ]
    found = tables.load(file)
    at = found.reindex(columns=["tuned_at"])["tuned_at"].fillna("once")
    factors = [FACTORS.get(key) for key in zip(found["setting"], at, strict=True)]
    shown = (
        found.assign(factors=factors)
        .reindex(columns=columns)
        .dropna(subset=["factors", "gap_slope_K"])
    )
    chosen = shown[shown["algorithm"].isin(ALGORITHMS)]
    return json.loads(chosen.to_json(orient="records", double_precision=4))


def _claims(file: Path) -> dict[str, list[str]]:
    """The rows of the ledger of claims by verdict."""
    found: dict[str, list[str]] = {}
    for claim in json.loads(file.read_text(encoding="utf-8")):
        found.setdefault(claim["verdict"], []).append(claim["id"])
    return found


def markdown(numbers: dict[str, Any]) -> str:
    """The answer: five sentences, the table of protocols, and what the other claims come to."""
    parts = [
        "\n".join(
            f"{number}. {sentence}" for number, sentence in enumerate(numbers["sentences"], start=1)
        ),
        "Runs that agree to each part of the claim, by protocol: Algorithm 1 performs well; learns quickly, strictly, "
        "and with dips allowed; keeps the limit; Triple-Q breaks it; RestartQ-UCB breaks it. Algorithm 1's share of "
        "the optimum and its cost (limit 5) are those of the last fifth; the last column: Triple-Q keeps the limit.",
        table(HEAD, map(cells, numbers["protocols"])),
        "From which K on? Algorithm 1 tuned, the baselines as released: runs that meet the whole claim, and whether "
        "their mean does.",
        table(GROWING, map(growing, tuned_by_an_author(numbers))),
        "The paper's theory, by the verdict on each row of the ledger of claims (`docs/claims.md`, `docs/erratum.md`):",
        table(
            ("verdict", "rows"),
            [(f"**{name}**", ", ".join(ids)) for name, ids in numbers["claims"].items()],
        ),
        "What each unstated choice of the simulation decides: the page.",
    ]
    return "\n\n".join(parts) + "\n"


LABELS = dict(
    zip(
        PARTS,
        ("well", "quickly", "with dips", "keeps the limit", "Triple-Q", "RestartQ-UCB"),
        strict=True,
    )
)
HEAD = ("protocol", "K", *LABELS.values(), "share", "cost", "Triple-Q keeps")


def cells(row: dict[str, Any]) -> list[str]:
    parts = [count(row["parts"][name]) for name in PARTS]
    name = f"{row['name']}{' (recorded)' if row['recorded'] else ''}"
    reached = [number(row, "share", "{:.0%}"), number(row, "late_cost", "{:.2f}")]
    keeps = row["keeps"].get(TRIPLE_Q, {"agree": 0, "of": 0})
    return [name, f"{row['K']:,}", *parts, *reached, count(keeps)]


GROWING = (
    "frame end",
    "K",
    "runs, with dips",
    "runs, without",
    "mean, with dips",
    "mean, without",
    "running mean",
)


def growing(row: dict[str, Any]) -> list[str]:
    """A number of episodes in the table of those from which on the claim holds."""
    K = f"{row['K']:,}{' (recorded)' if row['recorded'] else ''}"
    runs, mean = ([row[key][whole] for whole in WHOLES[::-1]] for key in ("whole", "mean"))
    said = ("yes" if met else "no" for met in (*mean, row["running_mean"]))
    return [row["frame_end"], K, *map(count, runs), *said]


def number(row: dict[str, Any], name: str, form: str) -> str:
    return form.format(row["numbers"][name]) if name in row["numbers"] else "-"


def count(counted: dict[str, int]) -> str:
    return f"{counted['agree']}/{counted['of']}" if counted["of"] else "-"


def write(plan: Plan, folder: Path) -> None:
    files.write_text(folder / layout.ANSWER, json.dumps(gather(plan, folder), indent=1) + "\n")


def in_readme(text: str, numbers: dict[str, Any]) -> str:
    """The text of a README with the answer between its two marks."""
    return between(text, BEGIN, END, markdown(numbers))
