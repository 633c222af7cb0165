"""What the searches found and what was chosen, in tables; when a search is done, and when searches agree."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from nscmdp.suite import optima, scoring, search, tuning
from wei2023.runs import records_of_searches, specifications
from wei2023.study import plan
from wei2023.verdicts import tuned

ALGORITHMS = ["nonstationary_triple_q", "restart_q_ucb"]
CONFIG = {
    "effort": {
        "population": 4,
        "generations": 8,
        "searches": 2,
        "seeds": 1,
        "pool": 2,
        "selection_seeds": 3,
    },
    "tunings": [
        {
            "name": "choice",
            "environment": {"name": "menu"},
            "episodes": 32,
            "checks": [16],
            "algorithms": ALGORITHMS,
        }
    ],
    "experiments": [
        {
            "name": "walk",
            "environment": {"name": "menu"},
            "episodes": [32],
            "seeds": 1,
            "learners": [{"algorithm": "uniform", "setting": "literal"}],
        }
    ],
}
CLAIMS = Path(__file__).parents[3] / "workflow/claims.yaml"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, planned = tmp_path_factory.mktemp("tuned"), plan.make(CONFIG)
    solved = folder / "environments/choice.parquet"
    optima.solve(specifications.optimum(planned, "choice"), solved)
    for name, algorithm, episodes, number, file in planned.search_files():
        spec = specifications.search(planned, name, algorithm, episodes, number)
        search.for_tuning(spec, solved, folder / file, folder / "progress")
    for name, algorithm, episodes, file in planned.tuning_files():
        found = [folder / one for one in planned.searched_by(name, algorithm, episodes)]
        tuning.tune(specifications.tuning(planned, name, algorithm, episodes), folder / file, found)
    return planned, folder


@pytest.fixture(autouse=True)
def _claims(monkeypatch):
    monkeypatch.chdir(CLAIMS.parents[1])


def test_every_kept_candidate_has_one_row_and_one_is_chosen(study):
    table = tuned.table(*study)
    groups = table.groupby(["tuning", "algorithm", "episodes"], sort=False)
    assert set(groups.groups) == {
        ("choice", name, episodes) for name in ALGORITHMS for episodes in (32, 16)
    }
    for (_, _, episodes), rows in groups:
        assert rows["decides"].tolist() == [episodes == 32] * len(rows)
        assert rows["chosen"].sum() == 1
        for _, mine in rows.groupby("search"):
            assert len(mine) == 1


def test_the_curve_of_effort_is_the_best_by_the_rule_so_far(study):
    scored = tuned.candidates(*study)
    curves = tuned.efforts(scored)
    for keys, curve in curves.groupby(["algorithm", "episodes", "search"]):
        mine = scored[(scored[["algorithm", "episodes", "search"]] == list(keys)).all(axis=1)]
        assert curve["tried"].tolist() == [16, 32]
        for row in curve.itertuples():
            best = scoring.ranked(mine[mine["tried"] <= row.tried]).iloc[0]
            assert (row.loss, row.feasible) == (best["loss"], best["feasible"])


def test_tables_from_a_record_are_those_of_the_searches(study, tmp_path):
    planned, folder = study
    records_of_searches.write(planned, folder, tmp_path)
    recorded = plan.make({**CONFIG, "searches": str(tmp_path)})
    pd.testing.assert_frame_equal(
        tuned.candidates(recorded, folder), tuned.candidates(planned, folder)
    )
    written = json.loads((tmp_path / "choice.json").read_text())
    assert written["made_from"]["effort"] == planned.effort_of("choice")


def test_the_written_table_is_that_one(study):
    planned, folder = study
    tuned.write(planned, folder)
    written, table = pd.read_csv(folder / "tables/tuned.csv"), tuned.table(planned, folder)
    assert written.columns.tolist() == table.columns.tolist()
    np.testing.assert_allclose(written["loss"], table["loss"], rtol=1e-5)
    assert written["factors"].tolist() == table["factors"].tolist()


def curves(*ends):
    """Searches of three efforts each: losses, and from which on they are feasible."""
    rows = [
        {
            "tuning": "t",
            "algorithm": "a",
            "episodes": 1,
            "decides": True,
            "search": i,
            "tried": 16 * 2**j,
        }
        | {"loss": loss, "feasible": j >= since}
        for i, (losses, since) in enumerate(ends)
        for j, loss in enumerate(losses)
    ]
    return pd.DataFrame(rows)


def test_a_search_is_done_where_the_last_doubling_gains_little_in_the_median():
    done = tuned.saturation(
        curves(([3, 1.0, 0.99], 0), ([3, 1.0, 0.98], 0), ([3, 2.0, 1.0], 0))
    ).iloc[0]
    assert done["gained"] == pytest.approx(0.02)
    assert done["done"]
    again = tuned.saturation(
        curves(([3, 1.0, 0.9], 0), ([3, 1.0, 0.8], 0), ([3, 1.0, 1.0], 0))
    ).iloc[0]
    assert again["gained"] == pytest.approx(0.1)
    assert not again["done"]


def test_searches_agree_where_all_end_close_to_the_best_and_are_feasible_alike():
    close = tuned.saturation(curves(([2.0, 2.0, 2.0], 0), ([2.0, 2.0, 2.18], 0))).iloc[0]
    assert close["apart"] == pytest.approx(0.09)
    assert close["agree"]
    assert not tuned.saturation(curves(([1.0, 1.0, 1.0], 0), ([1.0, 1.0, 1.2], 0))).iloc[0]["agree"]
    mixed = tuned.saturation(curves(([1.0, 1.0, 1.0], 0), ([1.0, 1.0, 1.0], 3))).iloc[0]
    assert mixed["feasible_searches"] == 1
    assert not mixed["agree"]


def test_a_doubling_that_makes_the_choice_feasible_has_gained():
    assert not tuned.saturation(curves(([1.0, 1.0, 1.0], 2))).iloc[0]["done"]
