"""The ledgers: every claim of the paper with its verdict, and every place where the printed text was not followed."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import pandas as pd

from wei2023.proofs import findings, ledger, noticed
from wei2023.report.page import formulas
from wei2023.report.page.prose import prose
from wei2023.study import catalogue, layout
from wei2023.study.plan import Plan
from wei2023.verdicts import deviations

SUBJECTS = {**catalogue.SUBJECTS, "simulation": "the simulation"}
KINDS = ("theorem", "lemma", "statement")  # of a claim
MARKS = {  # how a verdict looks
    findings.HOLDS: "holds",
    findings.MISPRINT: "holds",
    findings.ASSUMPTION: "depends",
    findings.DEPENDS: "depends",
    findings.FALSE: "fails",
    findings.OPEN: "unjudged",
    findings.ASYMPTOTIC: "unjudged",
    findings.IDENTITY: "unjudged",
    findings.NO_SOURCE: "unjudged",
}
CERTAINTIES = ("high", "medium", "low")
PLACES = {  # of a deviation, by what it names
    "Problem formulation": "Problem formulation|Definition of|Assumption 1",
    "Algorithm 1": "Algorithm 1",
    "Algorithm 2": r"Algorithms? 2",
    "Algorithm 3": "Algorithm 3|Algorithms 2 to 4",
    "Algorithm 4": r"Algorithm 4|Algorithms 2 (to|and) 4",
    "Theorems": "Theorem",
    "Linear CMDPs": "[Ll]inear CMDPs",
    "Table 1": "Table 1",
    "Simulation": "Simulation section",
    "Baselines": "baseline|Triple-Q|RestartQ-UCB|PROPD-PPO",
    "Appendix": "[Aa]ppendix",
}


class Filter(NamedTuple):
    name: str
    label: str
    options: list[tuple[str, str, int]]  # value, text, number of entries


def context(plan: Plan, folder: Path) -> dict[str, Any]:
    """What claims.html.j2 and deviations.html.j2 show."""
    judged = (
        json.loads((folder / layout.CLAIMS).read_text(encoding="utf-8"))
        if plan.claim_groups
        else []
    )
    entries = deviations.load(deviations.LEDGER)
    links = {
        name: f"{layout.CLAIMS_PAGE}#{quote(claim['id'])}"
        for claim in judged
        for name in (claim["id"], *claim["covers"])
    }
    links |= {entry.id: f"{layout.DEVIATIONS_PAGE}#{entry.id}" for entry in entries}
    measured = deviations.load_effects(folder / layout.table("deviations.csv"))
    claims = _claims(plan, judged, links) if judged else None
    return {"claims": claims, "deviations": _deviations(entries, measured, links)}


def _claims(plan: Plan, judged: list[dict[str, Any]], links: dict[str, str]) -> dict[str, Any]:
    entries = [_claim(claim, links) for claim in judged]
    drawn = {
        layout.figure(figure.name) for figures in plan.notebooks.values() for figure in figures
    }
    groups = []
    for group in ledger.GROUPS:
        evidence = [claim["evidence"] for claim in judged if claim["group"] == group][:1]
        files = [
            one[key]
            for one in evidence
            for key in ("data", "figure")
            if key == "data" or one[key] in drawn
        ]
        here = [entry for entry in entries if group in entry["tags"]["group"]]
        groups.append(
            {"id": group, "title": _heading(SUBJECTS[group]), "files": files, "entries": here}
        )
    sections = {section for entry in entries for section in entry["tags"]["section"]}
    filters = [
        _filter("verdict", "Verdict", entries, _as_they_are(findings.VERDICTS)),
        _filter("group", "About", entries, SUBJECTS),
        _filter(
            "section", "Section", entries, _as_they_are(sorted(sections, key=_as_in_the_paper))
        ),
        _filter("kind", "Kind", entries, _as_they_are(KINDS)),
    ]
    standard = [(name, MARKS[name], says) for name, says in findings.VERDICTS.items()]
    shown = [one for one in groups if one["entries"]]
    return {"number": len(entries), "groups": shown, "filters": filters, "standard": standard}


def _claim(claim: dict[str, Any], links: dict[str, str]) -> dict[str, Any]:
    show = _typesetter(f"claim {claim['id']}", links)
    return {
        "id": claim["id"],
        "covers": claim["covers"],
        "where": show("where", claim["where"]),
        "statement": show("statement", claim["statement"]),
        "equation": show("formula", claim["formula"]),
        "corrected": claim["corrected"] and show("corrected", claim["corrected"]),
        "mark": MARKS[claim["verdict"]],
        "verdict": claim["verdict"],
        "why": show("why", _heading(claim["evidence"]["why"].rstrip(".")) + "."),
        "facts": [(show("number", term), show(term, fact)) for term, fact in _facts(claim)],
        "tags": {
            "verdict": [claim["verdict"]],
            "group": [claim["group"]],
            "section": _sections(claim["where"]),
            "kind": _kinds(claim),
        },
    }


def _facts(claim: dict[str, Any]) -> list[tuple[str, str]]:
    """How a verdict was come to, in words and numbers."""
    evidence = claim["evidence"]
    facts = [("Measured", claim["measured"]), ("Test", claim["test"])]
    facts += [
        (what, number if isinstance(number, str) else f"{number:.4g}")
        for what, number in evidence["numbers"]
    ]
    if evidence["notices"]:
        facts.append(("Smallest error noticed", noticed(evidence["notices"])))
    if claim["value"] is not None:
        interval = [claim["low"], claim["high"]]
        ends = (
            ""
            if None in interval or interval[0] == interval[1]
            else " [{:.4g}, {:.4g}]".format(*interval)
        )
        facts.append(("Value", f"{claim['value']:.4g}{ends}"))
    if evidence["bound"] is not None:
        facts.append(("Bound", f"{evidence['bound']:.4g}"))
    if claim["slack"] is not None:
        facts.append(
            ("Slack", f"{claim['slack']:.3g} ({evidence['slack_in']}; below 0 where it fails)")
        )
    return [*facts, ("Looked at", f"{evidence['samples']:,} problems, runs or steps")]


def _kinds(claim: dict[str, Any]) -> list[str]:
    found = re.match(r"(?:In place of )?(Lemma|Theorem)", claim["where"])
    return [found[1].lower() if found else "statement"]


def _sections(where: str) -> list[str]:
    found = re.findall(r"(?i)(section \d|appendix [A-Z]\b|table 1|introduction)", where)
    return list(dict.fromkeys(one[0].upper() + one[1:] for one in found))


def _as_in_the_paper(section: str) -> tuple[int, str]:
    return ["Intr", "Tabl", "Sect", "Appe"].index(section[:4]), section


def _deviations(
    entries: list[deviations.Entry], measured: pd.DataFrame, links: dict[str, str]
) -> dict[str, Any]:
    made = [
        _deviation(entry, measured[measured["switch"].isin(entry.switch)], links)
        for entry in entries
    ]
    groups = [
        {"id": kind, "title": meaning, "entries": [one for one in made if one["kind"] == kind]}
        for kind, meaning in deviations.KINDS.items()
    ]
    filters = [
        _filter("kind", "Kind", made, _as_they_are(deviations.KINDS)),
        _filter("section", "Section", made, _as_they_are(PLACES)),
        _filter("switch", "Switch", made, {"yes": "can be switched", "no": "cannot be switched"}),
        _filter("certainty", "Certainty", made, _as_they_are(CERTAINTIES)),
    ]
    switches = sum(bool(entry.switch) for entry in entries)
    return {"number": len(made), "switches": switches, "groups": groups, "filters": filters}


def _deviation(
    entry: deviations.Entry, measured: pd.DataFrame, links: dict[str, str]
) -> dict[str, Any]:
    show = _typesetter(f"deviation {entry.id}", links)
    return {
        "id": entry.id,
        "kind": entry.kind,
        **{
            key: show(key, getattr(entry, key))
            for key in ("where", "printed", "chosen", "evidence")
        },
        "equation": show("formula", entry.formula or ""),
        "certainty": entry.certainty,
        "switch": entry.switch,
        "values": [deviations.as_text(value) for value in entry.values],
        "measures": list(deviations.MEASURES.values()),
        "comparisons": [
            {"switched": one.switched, "place": show("effect", one.place), "effects": one.effects}
            for one in deviations.comparisons(measured)
        ],
        "tags": {
            "kind": [entry.kind],
            "section": [place for place, named in PLACES.items() if re.search(named, entry.where)],
            "switch": ["yes" if entry.switch else "no"],
            "certainty": [entry.certainty],
        },
    }


def _typesetter(entry: str, links: dict[str, str]) -> Callable[[str, str], Any]:
    """What typesets the fields of an entry, and names it where one cannot be."""

    def typeset(field: str, text: str) -> Any:
        try:
            return formulas.lines(text) if field == "formula" else prose(text, links)
        except ValueError as error:
            raise ValueError(f"{entry}, {field}: {error}") from None

    return typeset


def _filter(
    name: str, label: str, entries: list[dict[str, Any]], options: Mapping[str, str]
) -> Filter:
    """A choice among the tags that entries have, in the order of the options."""
    counts = Counter(tag for entry in entries for tag in entry["tags"][name])
    return Filter(
        name, label, [(tag, text, counts[tag]) for tag, text in options.items() if counts[tag]]
    )


def _as_they_are(options: Iterable[str]) -> dict[str, str]:
    return {option: option for option in options}


def _heading(text: str) -> str:
    return text[0].upper() + text[1:]
