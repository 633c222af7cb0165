"""Does it replicate? The answer in five sentences, and the numbers of a run that they are chosen
by.

What the sentences say of a protocol, of a number of episodes or of the order of the learners is
read from the rows of the protocols and from the runs at many values of eta.
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
from wei2023.verdicts import deviations, protocols, tables, thresholds
from wei2023.verdicts.comparison import CONSTANTS
from wei2023.verdicts.protocols import FAILS, HOLDS, verdict
from wei2023.verdicts.thresholds import Rules

Row = dict[str, Any]
WHOLES = [*protocols.WHOLE]
BASELINES = [
    f"{name}_{what}" for name in ("triple_q", "restart_q_ucb") for what in ("share", "late_cost")
]
NUMBERS = ("share", "cost", "late_cost", "worst_tenth", "limit", *BASELINES)
CHOSEN = ("name", "map", "K", "frame_end", "constants", "baselines", "reading")
EXPONENTS = ("gap_slope_K", "gap_slope_K_late", "positive_regret_slope_K", "gap_slope_B")
SLOPES = [f"{exponent}{end}" for exponent in EXPONENTS for end in ("", "_low", "_high")]
RULES = {
    "full": "with all tables reset at a frame's end",
    "bump": "with the earlier code's rule, which forgets nothing,",
}


def write(plan: Plan, folder: Path) -> None:
    files.write_text(folder / layout.ANSWER, json.dumps(gather(plan, folder), indent=1) + "\n")


def gather(plan: Plan, folder: Path) -> dict[str, Any]:
    """Return the numbers behind the answer, and its sentences."""
    assert plan.config.protocols is not None
    rules, entries = thresholds.load(), deviations.load(deviations.LEDGER)
    found, switched = (
        tables.load(folder / layout.table(name)).to_dict("records") for name in layout.PROTOCOLS[:2]
    )
    sweeps = [protocols.swept(folder, name) for name in plan.roles.get("eta", [])]
    swept = pd.concat(sweeps, ignore_index=True) if sweeps else None
    unstated = {one.name: one for one in plan.config.protocols.choices}
    claims: dict[str, list[str]] = {}
    for claim in json.loads((folder / layout.CLAIMS).read_text(encoding="utf-8")):
        claims.setdefault(claim["verdict"], []).append(claim["id"])
    numbers = {
        "protocols": [_protocol(row) for row in found],
        "choices": [
            {key: row[key] for key in ("choice", "option", "base")}
            | {"decides": _words(row["decides"]), **_protocol(row)}
            for row in switched
        ],
        "unstated": [
            one.model_dump(include={"name", "text", "stated"}) for one in unstated.values()
        ],
        "walk": {key: _short(value) for key, value in protocols.walk(80_000, 324, 25).items()},
        "eta": [] if swept is None else _ordering_by_eta(swept, rules),
        "still": swept is not None and _eta_changes_nothing(swept),
        "claims": claims,
        "growth": _growth(folder / layout.table("comparison.csv")),
        "ledger": {
            "places": len(entries),
            "switches": sum(bool(entry.switch) for entry in entries),
        },
    }
    return {"sentences": sentences(numbers, rules), **numbers}


def _short(value: float) -> float:
    return float(f"{value:.4g}")


def _words(cell: Any) -> list[str]:
    return [] if pd.isna(cell) else str(int(cell) if isinstance(cell, float) else cell).split()


def _protocol(row: Row) -> Row:
    counts = {
        name: {"agree": int(row[f"{name} agree"]), "of": int(row[f"{name} of"])}
        for name in (*PARTS, *WHOLES)
    }
    margins = {name: row[f"{name} margin"] for name in PARTS}
    objective = _words(row["objective"])
    return {
        **{key: row[key] for key in CHOSEN},
        **{key: [*map(int, _words(row[key]))] for key in ("seeds", "searched_on", "draws")},
        "parts": {name: counts[name] for name in PARTS},
        "whole": {name: counts[name] for name in WHOLES},
        "running_mean": bool(row["running mean"]),
        "mean": {name: bool(row[f"{name} mean"]) for name in WHOLES},
        "by_draw": {name: [*map(int, _words(row[f"{name} by draw"]))] for name in PARTS},
        "margins": {
            name: None if pd.isna(value) else _short(value) for name, value in margins.items()
        },
        "numbers": {name: _short(row[name]) for name in NUMBERS if not pd.isna(row.get(name))},
        "keeps": {
            name: {"agree": int(row[f"{short}keeps"]), "of": int(row[f"{short}runs"])}
            for name, short in protocols.SHORT.items()
            if not pd.isna(row.get(f"{short}keeps"))
        },
        "tuned_for": "margin" if "margin" in objective else "gap" if objective else None,
        "recorded": bool(row["recorded"]),
    }


def _ordering_by_eta(swept: pd.DataFrame, rules: Rules) -> list[Row]:
    """Return costs and who breaks the limit at equal eta and eps, under the earlier code's rule.

    Triple-Q runs with its own frame, and with Algorithm 1's.
    """
    found: list[Row] = []
    columns = swept.reindex(columns=[*swept.columns, *({"eps", "frame"} - {*swept.columns})])
    bump = columns[columns["frame_end"] == "bump"]
    for (K, eta, eps), runs in bump.groupby(["K", "eta", "eps"], dropna=False):
        is_triple_q, framed = runs["algorithm"] == TRIPLE_Q, runs["frame"].notna()
        row: Row = {"K": int(K), "eta": float(eta), "eps": None if pd.isna(eps) else float(eps)}
        for name, mine in {
            "algorithm_1": runs[~is_triple_q],
            "triple_q": runs[is_triple_q & ~framed],
            "triple_q_same_frame": runs[is_triple_q & framed],
        }.items():
            if len(mine):
                first = mine.iloc[0]
                row[name] = _short(first["late_cost"])
                for what in ("breaks", "keeps"):
                    row[f"{name}_{what}"] = verdict(first[what], first["of"], rules.agreement)
        found.append(row)
    return found


def _eta_changes_nothing(swept: pd.DataFrame) -> bool:
    """Say whether the dual never moves where all tables are reset and the frame is that of the
    formula.
    """
    reset = swept[(swept["frame_end"] == "full") & (swept["learner"].str.startswith("algorithm_1"))]
    return len(reset) > 1 and reset["late_cost"].nunique() == 1


def _growth(file: Path) -> list[Row]:
    """Return the slopes of Algorithms 1 and 2 with each choice of factors; printed constants learn
    nothing.
    """
    if not file.is_file():
        return []
    found, factors = tables.load(file), {**CONSTANTS, ("scaled", "once"): CONSTANTS["scaled", ""]}
    at = found.reindex(columns=["tuned_at"])["tuned_at"].fillna("once")
    found["factors"] = [factors.get(key) for key in zip(found["setting"], at, strict=True)]
    columns = ["algorithm", "factors", *SLOPES, "positive_violation_per_episode", "largest_K"]
    shown = found.reindex(columns=[*columns, "units"]).dropna(subset=["factors", "gap_slope_K"])
    shown = shown[shown["algorithm"].isin(("nonstationary_triple_q", "double_restart_triple_q"))]
    return json.loads(shown.to_json(orient="records", double_precision=4))


def agreed(counted: dict[str, int], rules: Rules) -> bool:
    """Say whether as many runs agree as must."""
    return counted["of"] > 0 and verdict(counted["agree"], counted["of"], rules.agreement) == HOLDS


def holds(row: Row, rules: Rules, whole: str = "all forgiving") -> bool:
    return agreed(row["whole"][whole], rules)


def _in_order(row: Row, rules: Rules) -> bool:
    """Say whether Algorithm 1 keeps the limit and Triple-Q breaks it."""
    return all(agreed(row["parts"][part], rules) for part in ("C20c", "C20d"))


def enumeration(words: Iterable[str]) -> str:
    """Return "one, two and three"."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _usual(numbers: dict[str, Any]) -> list[Row]:
    """Return the rows of the usual reading, at every K."""
    rows = [*numbers["protocols"], *numbers["choices"]]
    return [row for row in rows if row["reading"] == "default" and row.get("choice") in (None, "K")]


def tuned_by_an_author(numbers: dict[str, Any]) -> list[Row]:
    """Return the rows of Algorithm 1 tuned for its own parts, baselines as released, by frame-end
    rule and K.
    """
    own = [row for row in _usual(numbers) if row["tuned_for"] == "margin"]
    released = [row for row in own if row["baselines"] == "released"]
    return sorted(released, key=lambda row: (row["frame_end"], row["K"]))


def first_K(rows: list[Row], is_met: Callable[[Row], bool]) -> int | None:
    """Return the least K from which on the whole claim is met at every K that was tried."""
    failed = [row["K"] for row in rows if not is_met(row)]
    return min((row["K"] for row in rows if row["K"] > max(failed, default=0)), default=None)


def sentences(numbers: dict[str, Any], rules: Rules) -> list[str]:
    """Say what is missing; as printed; from which K on; what the order follows; what that means."""
    names = [one["name"] for one in numbers["unstated"] if not one["stated"]]
    return [
        f"The simulation cannot be reproduced from the paper's text, which leaves {len(names)} "
        f"choices open ({', '.join(names)}), and the paper's source contains no picture to "
        "compare with.",
        _as_printed(numbers, rules),
        _from_which_K(tuned_by_an_author(numbers), rules),
        _order(numbers, rules),
        _for_a_reader(numbers, rules),
    ]


def _as_printed(numbers: dict[str, Any], rules: Rules) -> str:
    rows = [row for row in _usual(numbers) if row["name"].startswith("as printed")]
    if not rows:
        return "As printed, Algorithm 1 was not run."
    shares = sorted(((row["K"], row["numbers"]["share"]) for row in rows), key=lambda one: one[0])
    learns = max(share for _, share in shares) >= rules.unlearnt
    reached = enumeration(f"{share:.0%} at K = {K:,}" for K, share in shares)
    said = "learns" if learns else "learns nothing at any K that was run"
    return (
        f"As printed, Algorithm 1 {said}: of the way from the uniform policy to the optimum it "
        f"covers {reached}."
    )


def _from_which_K(rows: list[Row], rules: Rules) -> str:
    groups = {name: [row for row in rows if row["frame_end"] == name] for name in RULES}
    if not rows:
        return "No protocol tunes Algorithm 1 alone."

    def each(is_met: Callable[[Row], bool]) -> str:
        found = {name: first_K(group, is_met) for name, group in groups.items() if group}
        return enumeration(
            f"{RULES[name]} {'at no K' if K is None else f'from K = {K:,} on'}"
            for name, K in found.items()
        )

    return (
        "If Algorithm 1 is tuned for the claim and the baselines run as released, the whole "
        "claim, with dips after a frame's end allowed, holds "
        f"{each(lambda row: holds(row, rules))}; the mean of the runs, which is what a figure "
        f"shows, meets it {each(lambda row: row['mean']['all forgiving'])}."
    )


def _order(numbers: dict[str, Any], rules: Rules) -> str:
    own, tuned = (
        [_in_order(row, rules) for row in numbers["protocols"] if row["baselines"] == name]
        for name in ("released", "tuned")
    )
    equal_eta, equal_frame = (
        [
            (row["algorithm_1_breaks"], row[f"{name}_breaks"]) == (FAILS, HOLDS)
            for row in numbers["eta"]
            if f"{name}_breaks" in row
        ]
        for name in ("triple_q", "triple_q_same_frame")
    )
    places = {
        "under {} of {} protocols with released baselines": own,
        "at {} of {} pairs of equal eta and eps": equal_eta,
        "at {} of {} where the frame is equal too": equal_frame,
        "under {} of {} protocols that tune Triple-Q too": tuned,
    }
    where = enumeration(
        text.format(sum(found), len(found))
        for text, found in places.items()
        if found or found is own
    )
    order = "The paper's order (Algorithm 1 within the limit and Triple-Q above it)"
    if not any(own) and not any(equal_eta):
        return f"{order} appears nowhere: {where}."
    if any(tuned) or any(equal_frame):
        return f"{order} is not that of eta, eps and frame alone: it appears {where}."
    cause = "eta, eps and the frame, which set how fast the dual moves" if any(equal_eta) else "eta"
    still = "; with all tables reset every frame of the printed length, eta changes nothing"
    return (
        f"{order} is the order of {cause}: it appears {where}{still if numbers['still'] else ''}."
    )


def _for_a_reader(numbers: dict[str, Any], rules: Rules) -> str:
    tuned = [row for row in numbers["protocols"] if row["baselines"] == "tuned"]
    said = [
        "keeps it in {agree} of {of} runs when it is tuned as Algorithm 1 is".format(
            **row["keeps"][TRIPLE_Q]
        )
        for row in tuned
        if row["tuned_for"] == "margin"
    ]
    closer = sum(row["numbers"]["triple_q_share"] > row["numbers"]["share"] for row in tuned)
    if tuned:
        of = f"{closer} of {len(tuned)} protocols that tune both"
        said.append(f"gets closer to the optimum under {of}")
    held = {row["baselines"] == "released" for row in numbers["protocols"] if holds(row, rules)}
    meaning = (
        "the claim holds under no protocol, and the simulation is no evidence for Algorithm 1"
        if not held
        else "the claim also holds where all learners are treated alike, and is evidence for "
        "Algorithm 1 under the protocols that say so"
        if False in held
        else "a figure like the paper's shows how the constants of both learners were chosen, "
        "not that Algorithm 1 alone keeps the limit"
    )
    return f"For a reader: {meaning}{f'; Triple-Q {enumeration(said)}' if said else ''}."
