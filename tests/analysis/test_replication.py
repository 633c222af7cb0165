"""What the replication notebook computes, on tables small enough to do by hand."""

import itertools

import pandas as pd

from nscmdp.analysis import replication
from nscmdp.analysis.claims import simulation as claims
from nscmdp.analysis.claims.simulation.parts import together

PLACE = {"experiment": "one", "reading": "default", "budget": "default", "episodes": 100}
READING = {"map": "6x6", "cost drift": "off", "location": "reached", "switch": "none"}


def c20(**verdicts):
    """Claims of two parts in one environment, by choice of constants; a threshold that no verdict moves with."""
    cells = [
        {**PLACE, **READING, **judged(verdict), "setting": setting, "part": part, "agree": 3, "seeds": 4}
        for setting, found in verdicts.items()
        for part, verdict in zip(("C20a", "C20b"), found, strict=False)
    ]
    whole = [
        {**PLACE, "setting": setting, "part": "C20", **judged(together(list(v)))} for setting, v in verdicts.items()
    ]
    thresholds = {"learnt": {"says": "learnt", "default": 0.8, "range": [0.7, 0.8]}}
    return {"cells": cells, "whole": whole, "thresholds": thresholds}


def judged(verdict, apart=False):
    moved = {"learnt": [verdict, verdict]}
    return {"verdict": verdict, "mean_of_trials": verdict, "moved": moved, "whole_range": verdict, "apart": apart}


def test_the_whole_stands_beside_its_parts_with_the_same_reading():
    rows = replication.verdicts(c20(tuned=(claims.HOLDS, claims.MIXED)))
    assert list(rows["part"]) == ["C20a", "C20b", "C20"]
    assert list(rows["verdict"]) == [claims.HOLDS, claims.MIXED, claims.MIXED]
    assert set(rows["place"]) == {"6x6: cost drift off, location reached"}
    assert set(rows["map"]) == {"6x6"}


def test_the_tally_leaves_void_cells_out():
    rows = replication.verdicts(c20(tuned=(claims.HOLDS, claims.FAILS), literal=(claims.VOID, claims.VOID)))
    tally = replication.tally(pd.concat([rows, rows[rows["part"] == "C20a"].assign(verdict=claims.HOLDS)]))
    assert list(tally.index) == ["C20a", "C20b", "C20"]
    assert list(tally["tuned"]) == ["2 of 2", "0 of 1", "0 of 1"]
    assert list(tally["literal"]) == ["1 of 1", "void", "void"]


def test_the_tally_counts_constants_that_learn_nothing_apart():
    found = c20(tuned=(claims.HOLDS,), literal=(claims.FAILS,))
    found["cells"][1] |= {"apart": True}
    tally = replication.tally(replication.verdicts(found))
    assert tally.loc["C20a"].tolist() == ["1 of 1", "0 of 0, 1 unlearnt"]
    found["cells"][0] |= {"mean_of_trials": claims.FAILS}
    assert replication.tally(replication.verdicts(found), "mean_of_trials").loc["C20a", "tuned"] == "0 of 1"


def test_a_part_that_was_not_run_is_not_called_void():
    rows = replication.verdicts(c20(tuned=(claims.HOLDS, claims.FAILS), literal=(claims.HOLDS,)))
    assert list(replication.tally(rows)["literal"]) == ["1 of 1", "not run", "1 of 1"]


def test_cells_that_hold_are_counted_as_a_threshold_moves():
    found = c20(tuned=(claims.HOLDS, claims.FAILS), authors=(claims.HOLDS, claims.VOID), literal=(claims.HOLDS,))
    found["cells"][0] |= {"moved": {"learnt": [claims.HOLDS, claims.MIXED]}, "whole_range": None}
    found["cells"][-1] |= {"apart": True}
    counts = replication.over_thresholds(found).set_index(["part", "value"])
    assert counts.loc["C20a", "holds"].to_dict() == {0.7: 2, 0.8: 1}
    assert counts.loc["C20b", "holds"].to_dict() == {0.7: 0, 0.8: 0}
    assert counts.loc["C20b", "of"].to_dict() == {0.7: 1, 0.8: 1}
    ranges = replication.whole_ranges(found).set_index("part")
    assert ranges.loc["C20a", [claims.HOLDS, claims.FAILS, "of"]].tolist() == [1, 0, 2]
    assert ranges.loc["C20b", [claims.HOLDS, claims.FAILS, "of"]].tolist() == [0, 1, 1]


def test_readings_that_differ_in_nothing_that_is_said_are_kept_apart():
    found = c20(tuned=(claims.HOLDS, claims.MIXED))
    other = [{**row, "reading": "success_drift=0.0"} for row in found["cells"]]
    places = replication.verdicts({**found, "cells": found["cells"] + other})["place"].unique()
    assert [place.partition(" (")[2] for place in places] == [
        "one, default, K = 100)",
        "one, success_drift=0.0, K = 100)",
    ]


def test_means_weigh_episodes():
    exact = pd.DataFrame(
        {
            "learner": "a",
            "seed": [0, 0, 1],
            "weight": [1, 3, 4],
            "value": [0.0, 4.0, 1.0],
            "utility_value": [3.0, 3.0, 5.0],
            "horizon": 5,
            "gap": [4.0, 0.0, 1.0],
        }
    )
    first, second = replication.means(exact).to_dict("records")
    assert (first["reward"], first["cost"]) == (3.0, 2.0)
    assert first["gap"] == 1.0
    assert (second["reward"], second["cost"], second["gap"]) == (1.0, 0.0, 1.0)


PLAIN = {"no_btilde": False, "start": "optimistic"}


def crossing(seeds=(0, 1), setting="tuned"):
    """All crossings of Algorithm 1: a bump adds 2 to the reward, Triple-Q's eta takes 1 from the cost."""
    rows = []
    for levels in itertools.product(*replication.CROSSED.values()):
        chosen = dict(zip(replication.CROSSED, levels, strict=True))
        reward = 2.0 * (chosen["reset"] == "bump")
        cost = -1.0 * (chosen["eta"] == "triple_q")
        facts = {"algorithm": replication.FIRST, "setting": setting, **PLAIN, **chosen}
        name = ",".join((setting, *levels))
        rows += [
            {**facts, "learner": name, "seed": seed, "reward": reward + seed, "cost": cost + seed} for seed in seeds
        ]
    return pd.DataFrame(rows)


def beside():
    """Algorithm 1 without b~, and another algorithm."""
    own = {factor: levels[0] for factor, levels in replication.CROSSED.items()}
    without = {**own, "algorithm": replication.FIRST, "no_btilde": True, "start": "optimistic", "learner": "without"}
    other = {"algorithm": "triple_q", "learner": "other"}
    facts = {"setting": "tuned", "seed": 0, "reward": 9.0, "cost": 9.0}
    return pd.DataFrame([{**one, **facts} for one in (without, other)])


def test_an_effect_is_that_of_its_factor_alone():
    table = replication.effects(crossing()).set_index(["factor", "quantity"])
    assert table.loc[("reset", "reward"), ["mean", "low", "high"]].tolist() == [2.0, 2.0, 2.0]
    assert table.loc[("eta", "cost"), "mean"] == -1.0
    assert table["mean"].abs().sum() == 3.0  # and nothing else has any


def test_controls_are_kept_apart_from_the_crossings():
    runs = pd.concat([crossing(), beside()], ignore_index=True)
    assert replication.crossings(runs)["tuned"]["learner"].nunique() == 16
    labels = list(replication.contrasts(runs)["label"].unique())
    assert len(labels) == 3
    assert "Algorithm 1:" in labels[0]
    assert "Algorithm 1 without b~" in labels
    alone = beside()
    assert replication.crossings(alone) == {}
    assert len(replication.contrasts(alone)) == 2


def test_a_crossing_without_all_combinations_is_none():
    runs = crossing()
    each_alone = runs[(runs[[*replication.CROSSED]].isin(["bump", "triple_q"])).sum(axis=1) <= 1]
    assert all(each_alone[factor].nunique() == 2 for factor in replication.CROSSED)
    assert replication.crossings(each_alone) == {}
    assert replication.contrasts(each_alone)["label"].nunique() == 5  # each has a label of its own


def test_crossings_of_two_settings_are_not_mixed():
    found = replication.crossings(pd.concat([crossing(), crossing(setting="authors")], ignore_index=True))
    assert {setting: len(runs) for setting, runs in found.items()} == {"tuned": 32, "authors": 32}


def swept():
    """Runs of tuned learners: all have the same bonus as chosen but one, and none another initial value."""
    multiples = [(1, 1, 1), (1, 3, 1), (3, 1, 1), (3, 3, 1), (1, 1, 0.3)]
    names = ("eta", "frame", "bonus")
    times = [{f"times {name}": one for name, one in zip(names, chosen, strict=True)} for chosen in multiples]
    facts = {"seed": 0, "reward": 1.0, "cost": 1.0, "gap": 1.0, "times initial": 1.0}
    return pd.DataFrame([{**facts, "learner": str(i), **row} for i, row in enumerate(times)])


def test_multiples_are_those_of_the_learners_and_only_where_something_changes():
    times = replication.multiples(swept())
    assert replication.factors(times) == ["eta", "frame", "bonus"]
    assert times[["eta", "frame", "bonus"]].to_numpy().tolist() == [
        [1, 1, 1],
        [1, 3, 1],
        [3, 1, 1],
        [3, 3, 1],
        [1, 1, 0.3],
    ]
    assert replication.factors(replication.multiples(swept().iloc[:1])) == []


def test_a_multiple_that_all_share_is_one_all_the_same():
    times = replication.multiples(swept().iloc[[2, 3]])
    assert times["eta"].tolist() == [3, 3]
    assert replication.only(times, ["eta"])["learner"].tolist() == ["2"]


def test_factors_changed_alone_and_together():
    times = replication.multiples(swept())
    assert {name: sorted(replication.only(times, [name])[name]) for name in replication.factors(times)} == {
        "bonus": [0.3, 1.0],
        "eta": [1.0, 3.0],
        "frame": [1.0, 3.0],
    }
    assert replication.pair(times) == ["eta", "frame"]
    assert sorted(replication.only(times, ["eta", "frame"])["learner"]) == ["0", "1", "2", "3"]
    assert replication.pair(times.drop(index=3)) == []
    assert replication.only(times.loc[[0, 4]], ["eta"]).empty
