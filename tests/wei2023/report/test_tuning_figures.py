"""Drawings and tables of the tuning, from tables of known content."""

import json

import pandas as pd

from wei2023.report.figures import tuning
from wei2023.report.results import Results

FIRST, SECOND = "nonstationary_triple_q", "triple_q"


def results(folder, searches=2, feasible=True):
    """Two algorithms, some searches of two efforts each; the second halves the loss and is feasible."""
    efforts, tuned, saturation = [], [], []
    for name in (FIRST, SECOND):
        key = {"tuning": "t", "algorithm": name, "episodes": 100, "decides": True}
        for search in range(searches):
            for step, tried in enumerate((16, 32)):
                scores = {
                    "loss": (2.0 + search) / 2**step,
                    "violation": 0.1 - 0.2 * step,
                    "violation_bound": 0.2 - 0.3 * step,
                    "feasible": bool(step) and feasible,
                    "lam": 0.1 + 0.8 * step,
                }
                efforts.append({**key, "search": search, "tried": tried, **scores})
            choice = {
                "choice": f"search_{search}",
                "chosen": search == 0,
                "loss": 1.0 + search / 2,
                "violation": -0.1,
                "violation_bound": -0.05,
                "lam": 0.9,
                "factors": json.dumps({"eta": 0.5}),
                "edges": "eta" if search == 0 else "",
                "feasible": feasible,
                "only_by_not_learning": False,
            }
            tuned.append({**key, "search": search, **choice})
        counted = {"searches": searches, "tried": 32, "feasible_searches": searches}
        ended = {"gained": 0.5, "apart": 0.5, "done": False, "agree": False}
        saturation.append({**key, **counted, **ended})
    (folder / "tables").mkdir()
    tables = {"efforts": efforts, "candidates": efforts, "tuned": tuned, "saturation": saturation}
    for name, rows in tables.items():
        pd.DataFrame(rows).to_csv(folder / f"tables/{name}.csv", index=False)
    return Results(folder, {"tuning": ["t"]})


def test_every_search_is_a_line_and_infeasible_choices_are_hollow(tmp_path):
    axes = [ax for ax in tuning.efforts(results(tmp_path)).axes if ax.get_visible()]
    assert len(axes) == 2
    for ax in axes:
        assert [list(line.get_ydata()) for line in ax.lines] == [[2.0, 1.0], [3.0, 1.5]]
        fills = [points.get_facecolors()[0].tolist()[:3] for points in ax.collections]
        assert fills == [[1.0, 1.0, 1.0]] * 2  # before the last doubling nothing was feasible
        assert ax.get_ylim()[1] > 3.0


def test_the_choice_is_a_star_beside_every_candidate(tmp_path):
    ax = tuning.fronts(results(tmp_path)).axes[0]
    feasible, infeasible, star = ax.collections
    assert len(feasible.get_offsets()) == len(infeasible.get_offsets()) == 2
    assert star.get_offsets().tolist() == [[-0.1, 1.0]]


def test_one_search_is_drawn_too(tmp_path):
    assert len(tuning.efforts(results(tmp_path, searches=1)).axes[0].lines) == 1


def test_tables_say_what_was_gained_and_chosen(tmp_path):
    found = results(tmp_path)
    table = tuning.saturation(found)
    assert table.only("done", "agree", "gained").rows[0] == ["no", "no", "50%"]
    chosen = tuning.choices(found)
    named = ("feasible", "loss", "factors", "near an end of their range")
    assert chosen.only(*named).rows[0] == ["yes", "1.000", "eta 0.5", "eta"]


def test_a_choice_that_is_not_feasible_reads_none_found(tmp_path):
    shown = tuning.choices(results(tmp_path, feasible=False)).only("feasible")
    assert shown.rows == [["none found"]] * 2
