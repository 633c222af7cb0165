"""The table of protocols counts runs, says what a switched choice decides, and takes no stale record."""

from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml

from nscmdp import files
from shipped import ROOT
from wei2023.runs.parts import FIRST, PARTS
from wei2023.study import layout, plan
from wei2023.verdicts import protocols, tables

TINY = yaml.safe_load((ROOT / "workflow/presets/tiny.yaml").read_text())
N = 100  # evaluated episodes
# Lam and cost; the limit is 2
GOOD = {FIRST: (0.9, 1.5), "triple_q": (0.9, 3.0), "restart_q_ucb": (0.9, 4.0)}
IDLE = (0.0, 1.9)


@pytest.fixture(autouse=True)
def _project(monkeypatch):
    monkeypatch.chdir(ROOT)


def run(lam, cost, episodes):
    """The exact values of one run: an optimum of 10, a uniform policy of 6."""
    keys = {"episode": np.arange(1, N + 1) * episodes / N, "episodes": episodes}
    keys |= {"weight": episodes // N, "horizon": 15, "rho": 13.0}
    values = {"value": 6 + 4 * lam, "utility_value": 15 - cost}
    return pd.DataFrame({**keys, **values, "uniform_value": 6.0, "optimal_value": 10.0})


def judged(folder, behave, raw=TINY):
    """Tables of a run in which ``behave`` says the Lam and cost of a learner in a draw with a seed."""
    planned = plan.make(raw)
    for name in [*planned.roles["protocols"], *planned.roles.get("choices", [])]:
        experiment = planned.experiment(name)
        (episodes,), rows = experiment.episodes, []
        draws = [case.reading for case in planned.cases_of(name)]
        for one, draw, seed in product(experiment.all_learners, draws, experiment.seed_list):
            keys = {"learner": one.name, "algorithm": one.algorithm, "reading": draw, "seed": seed}
            rows.append(run(*behave(one, seed), episodes).assign(**keys))
        table = pa.Table.from_pandas(pd.concat(rows), preserve_index=False)
        file = folder / layout.table("exact.parquet", name)
        files.write(file, table, {"cases": [], "learners": {}})
    protocols.write(planned, folder)
    return [tables.load(folder / layout.table(name)) for name in layout.PROTOCOLS]


def as_published(one, seed):
    return IDLE if one.setting == "literal" else GOOD[one.algorithm]


def test_a_row_counts_the_runs_that_agree_to_each_part(tmp_path):
    def behave(one, seed):
        broken = one.algorithm == FIRST and one.setting == "tuned" and seed == 1002
        return (0.9, 2.5) if broken else as_published(one, seed)

    found, _, _ = judged(tmp_path, behave)
    rows = found.set_index("name")
    own = rows.loc["own method tuned"]
    assert (own["C20a agree"], own["C20a of"]) == (6, 6)  # two draws, three seeds
    assert (own["C20c agree"], own["C20d agree"], own["all forgiving agree"]) == (4, 6, 4)
    assert own["share"] == pytest.approx(0.9)
    assert own["cost"] == pytest.approx((4 * 1.5 + 2 * 2.5) / 6, rel=1e-5)
    costs = own[["triple_q_late_cost", "restart_q_ucb_late_cost", "limit"]]
    assert costs.tolist() == [3.0, 4.0, 2.0]
    # Runs that agree to a percent are equally sure.
    assert own["C20a margin"] == pytest.approx(0.1 / 0.01)
    printed = rows.loc["as printed"]
    assert (printed["C20a agree"], printed["C20c agree"], printed["all agree"]) == (0, 6, 0)
    assert (own["all forgiving mean"], printed["all mean"]) == (True, False)
    assert own["searched_on"] == 0
    assert pd.isna(printed["searched_on"])


def test_a_choice_decides_the_parts_in_which_the_counts_change(tmp_path):
    def behave(one, seed):
        bumped = one.algorithm == FIRST and one.variants.reset == "bump"
        return (0.9, 2.5) if bumped else as_published(one, seed)

    _, switched, _ = judged(tmp_path, behave)
    rows = switched.set_index("option")
    assert rows.loc["a bump", "decides"] == "C20c"
    assert pd.isna(rows.loc["none", "decides"])
    counts = rows.loc["a bump", ["C20c agree", "C20c of"]]
    assert counts.tolist() == [0, 4]  # two draws, two seeds
    assert rows.loc["a bump", "C20d of"] == 6  # the base's runs of a learner that is not switched


def test_a_choice_decides_where_half_of_the_runs_change_sides():
    counts = {(20, 20, 10, 20): True, (16, 20, 10, 10): False, (9, 20, 9, 10): False}
    counts[0, 20, 10, 10] = True
    for (*here, agreed, base_of), decided in counts.items():
        row = dict(zip(("C20a agree", "C20a of"), here, strict=True))
        base = {"C20a agree": agreed, "C20a of": base_of}
        assert protocols.differs(row, base, "C20a") == decided


def test_thresholds_are_moved_one_at_a_time(tmp_path):
    _, _, moved = judged(tmp_path, as_published)
    mine = moved[(moved["name"] == "own method tuned") & (moved["part"] == "C20a")]
    assert mine["threshold"].unique().tolist() == ["learnt"]
    agree = dict(zip(mine["value"], mine["agree"], strict=True))
    assert (agree[0.85], agree[0.95]) == (6, 0)


@pytest.mark.parametrize(
    ("agree", "said"), [(9, "holds"), (8, "mixed"), (2, "mixed"), (1, "does not hold")]
)
def test_a_part_holds_where_nine_in_ten_runs_agree(agree, said):
    assert protocols.verdict(agree, 10, 0.9) == said


def test_a_recorded_row_joins_the_table_and_a_stale_one_does_not(tmp_path, monkeypatch):
    (tmp_path / "record").mkdir()
    monkeypatch.setattr(protocols, "RECORDED", tmp_path / "record")
    later = {**TINY, "protocols": {**TINY["protocols"], "long": True}}
    found, _, _ = judged(tmp_path / "long", lambda one, seed: GOOD[one.algorithm], later)
    assert found["name"].tolist() == ["own method tuned, more episodes"]
    tables.write_csv(tmp_path / "record/protocols.csv", found)
    joined, _, _ = judged(tmp_path / "usual", as_published)
    noted = joined.set_index("name")["recorded"]
    assert noted["own method tuned, more episodes"]
    assert not noted["as printed"]
    tables.write_csv(tmp_path / "record/protocols.csv", found.assign(made_from="another"))
    stale, _, _ = judged(tmp_path / "stale", as_published)
    assert "own method tuned, more episodes" not in stale["name"].tolist()


def test_a_sign_drawn_in_every_episode_is_no_drift():
    """Its largest distance is some standard deviations of a walk, a hundredth of a drift of one sign."""
    found = protocols.walk(80_000, 324, 25)
    assert found["deviation"] == pytest.approx(0.1 / np.sqrt(80_000))
    assert 3 < found["largest"] / found["deviation"] < 6
    assert found["value"] == pytest.approx(25 * found["largest"])
    one = protocols.walk(4, 1, 1, drift=1.0)
    assert one["largest"] in (0.25, 0.5, 0.75, 1.0)


def test_every_part_is_counted_in_every_row(tmp_path):
    found, switched, moved = judged(tmp_path, as_published)
    counted = {f"{name} {what}" for name in PARTS for what in ("agree", "of", "margin")}
    for table in (found, switched):
        assert counted <= {*table.columns}
    assert {*moved["part"]} == {*PARTS}
