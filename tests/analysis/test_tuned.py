"""What tuning tried, in one table; what a smaller effort would have found."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from nscmdp.analysis import replication, tuned
from nscmdp.runs import files, optima, tuning
from nscmdp.study import plan

ALGORITHMS = ["nonstationary_triple_q", "restart_q_ucb"]
CONFIG = {
    "effort": {"candidates": 5, "seeds": 3, "first_seed": 500, "screening_seeds": 1, "finalists": 2},
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


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder, planned = tmp_path_factory.mktemp("tuned"), plan.make(CONFIG)
    solved = folder / "environments/choice.parquet"
    optima.solve(planned.optimum_spec("choice"), solved)
    for name, algorithm, episodes, file in planned.tuning_files():
        tuning.tune(planned.tuning_spec(name, algorithm, episodes), solved, folder / file)
    return planned, folder


def test_every_candidate_of_every_tuning_has_one_row(study):
    planned, folder = study
    table = tuned.table(planned, folder)
    groups = table.groupby(["tuning", "algorithm", "episodes"], sort=False)
    assert set(groups.groups) == {("choice", name, episodes) for name in ALGORITHMS for episodes in (32, 16)}
    for (_, algorithm, episodes), rows in groups:
        assert sorted(rows["candidate"]) == list(range(5))
        assert rows["decides"].tolist() == [episodes == 32] * 5
        assert rows["finalist"].sum() == 2
        assert rows["chosen"].sum() == 1
        (file,) = (folder / file for _, name, K, file in planned.tuning_files() if (name, K) == (algorithm, episodes))
        scores = files.read(file)[0].to_pandas().groupby("candidate")["score"].mean()
        np.testing.assert_allclose(rows.set_index("candidate")["score"], scores)
        assert rows.loc[rows["chosen"], "score"].item() == rows.loc[rows["finalist"], "score"].min()


def test_the_written_table_is_that_one(study):
    planned, folder = study
    tuned.write(planned, folder)
    written, table = pd.read_csv(folder / "tables/tuned.csv"), tuned.table(planned, folder)
    assert written.columns.tolist() == table.columns.tolist()
    np.testing.assert_allclose(written["score"], table["score"], rtol=1e-5)
    assert written["factors"].tolist() == table["factors"].tolist()


def test_what_an_effort_of_n_finds_is_the_mean_over_all_subsets():
    scores = np.array([3.0, 1.0, 7.0, 4.0, 1.5])
    expected = [np.mean([min(drawn) for drawn in combinations(scores, n)]) for n in range(1, 6)]
    found = replication.efforts(pd.DataFrame({"score": scores}))
    assert found.index.tolist() == [1, 2, 3, 4, 5]
    np.testing.assert_allclose(found, expected)
