"""Each part of the simulation's claim is a distance; every case lies just next to one of its thresholds."""

import numpy as np
import pytest

from shipped import ROOT
from wei2023.runs import parts
from wei2023.runs.parts import PARTS, Thresholds, Trial
from wei2023.verdicts import thresholds

N = 5000
SHARE = np.arange(1, N + 1) / N
DEFAULT = Thresholds(learnt=0.8, floor=0.7, deadline=0.25, slack=1.01)


def seed(lam=1.0, cost=1.0, limit=2.0, room=4.0):
    lam, cost = np.broadcast_to(lam, N), np.broadcast_to(cost, N)
    return Trial(SHARE, np.full(N, 80.0), lam * room, np.full(N, room), cost, limit)


def within(begin, end, inside, outside):
    """One value in the episodes from a share of the run to another, another value in all others."""
    return np.where((begin + 1e-9 < SHARE) & (end + 1e-9 > SHARE), inside, outside)


def test_lam_is_a_ratio_of_sums_weighted_by_the_episodes_that_each_stands_for():
    one = seed(lam=within(0.8, 1, 0.9, 0.1))
    assert one.lam() == pytest.approx(0.26)
    assert one.lam(after=0.8) == pytest.approx(0.9)
    columns = [0.5, 1.0], [3, 1], [1.0, 0.0], [2.0, 4.0], [5.0, 1.0]
    weighted = Trial(*map(np.array, columns), 2.0)
    assert weighted.lam() == pytest.approx(3 / 10)
    assert weighted.mean_cost() == pytest.approx(4.0)
    assert weighted.mean_cost(0.5, 1.0) == 1.0


@pytest.mark.parametrize(
    ("lam", "well"),
    [
        (within(0.8, 1, 0.801, 0.0), True),
        (within(0.8, 1, 0.799, 9.0), False),
        # All of the last fifth counts, and no episode before it.
        (within(0.8, 1, 0.801, 0.0) - within(0.8, 0.81, 0.1, 0.0), False),
        (within(0.79, 0.8, -9.0, 0.801), True),
    ],
)
def test_performing_well_is_at_least_four_fifths_of_the_way_over_the_last_fifth(lam, well):
    assert (parts.performs_well(seed(lam=lam), DEFAULT) >= 0) is well


LEARNT = within(0.2, 1, 0.9, 0.0)


@pytest.mark.parametrize(
    ("lam", "quickly"),
    [
        # Windows of 100 of the 5000: four fifths of the first that counts must be full.
        (within(0.25 - 80 / N, 1, 1.0, 0.0), True),
        (within(0.25 - 79 / N, 1, 1.0, 0.0), False),  # one episode too late
        (within(0.1, 0.25, 0.801, 0.0) + within(0.25, 1, 1.0, 0.0), True),
        # Reached after a quarter alone.
        (within(0.1, 0.25, 0.799, 0.0) + within(0.25, 1, 1.0, 0.0), False),
        (LEARNT - within(0.6, 1, 0.199, 0.0), True),  # never below 0.7
        (LEARNT - within(0.6, 1, 0.201, 0.0), False),
        (LEARNT - within(1 - 100 / N, 1, 0.201, 0.0), False),  # the last window counts
        (LEARNT - within(0.6, 0.6 + 20 / N, 0.9, 0.0), True),  # a window, not an episode, decides
        (np.zeros(N), False),
    ],
)
def test_learning_quickly_is_reaching_four_fifths_in_a_quarter_and_keeping_seven_tenths(
    lam, quickly
):
    assert (parts.learns_quickly(seed(lam=lam), DEFAULT) >= 0) is quickly


@pytest.mark.parametrize(
    ("lam", "strict", "forgiving"),
    [
        (LEARNT, True, True),
        (LEARNT - within(0.6, 0.65, 0.9, 0.0), False, True),  # a restart: a dip, then as before
        (LEARNT - within(0.6, 1, 0.9, 0.0), False, False),  # a collapse
        (LEARNT - within(0.6, 0.69, 0.9, 0.0), False, False),  # 0.9 x 0.66/0.75: too long a dip
        (within(0.26, 1, 1.0, 0.0), False, False),  # too late, whatever follows
        (LEARNT - within(0.25, 1, 0.15, 0.0), True, False),  # and strictness is not all
    ],
)
def test_the_second_reading_of_quickly_forgives_a_dip_and_no_collapse(lam, strict, forgiving):
    assert (parts.learns_quickly(seed(lam=lam), DEFAULT) >= 0) is strict
    assert (parts.forgives_dips(seed(lam=lam), DEFAULT) >= 0) is forgiving


@pytest.mark.parametrize(
    ("part", "run", "threshold", "holds_at", "fails_at"),
    [
        (parts.performs_well, {"lam": 0.82}, "learnt", 0.8, 0.85),
        (parts.learns_quickly, {"lam": 0.82}, "learnt", 0.8, 0.85),
        (parts.learns_quickly, {"lam": 0.9 - within(0.6, 0.7, 0.25, 0.0)}, "floor", 0.6, 0.7),
        (parts.learns_quickly, {"lam": within(0.3, 1, 0.9, 0.0)}, "deadline", 0.35, 0.25),
        (parts.forgives_dips, {"lam": within(0.3, 1, 0.9, 0.0)}, "deadline", 0.35, 0.25),
        (parts.keeps_the_limit, {"cost": within(0.5, 0.6, 2.05, 1.9)}, "slack", 1.03, 1.02),
        (parts.breaks_the_limit, {"cost": 2.05}, "slack", 1.02, 1.03),
    ],
)
def test_a_threshold_that_is_moved_past_what_a_run_shows_changes_the_answer(
    part, run, threshold, holds_at, fails_at
):
    assert part(seed(**run), DEFAULT._replace(**{threshold: holds_at})) >= 0
    assert part(seed(**run), DEFAULT._replace(**{threshold: fails_at})) < 0


def test_what_is_learnt_at_less_than_the_floor_need_not_stay_above_it():
    assert parts.learns_quickly(seed(lam=0.6), DEFAULT._replace(learnt=0.5)) >= 0


def test_a_distance_is_a_number_and_how_far_the_run_is_from_its_threshold():
    assert parts.performs_well(seed(lam=0.9), DEFAULT) == pytest.approx(0.1)
    assert parts.learns_quickly(seed(lam=0.95), DEFAULT) == pytest.approx(0.15)
    assert parts.forgives_dips(seed(lam=0.85), DEFAULT) == pytest.approx(0.05)
    below, tenth = seed(cost=1.9), seed(cost=within(0.5, 0.6, 2.2, 1.0))
    assert parts.keeps_the_limit(below, DEFAULT) == pytest.approx(0.05)  # in shares of the limit
    assert parts.keeps_the_limit(tenth, DEFAULT) == pytest.approx(1.01 - 1.1)
    assert parts.breaks_the_limit(seed(cost=2.5), DEFAULT) == pytest.approx(0.24)


@pytest.mark.parametrize(("cost", "keeps"), [(2.0, True), (2.0001, False)])
def test_the_limit_is_kept_on_average_over_the_whole_run(cost, keeps):
    assert (parts.keeps_the_limit(seed(cost=cost), DEFAULT) >= 0) is keeps


def test_the_first_two_tenths_may_cost_more():
    assert parts.keeps_the_limit(seed(cost=within(0, 0.2, 5.0, 1.0)), DEFAULT) >= 0
    assert parts.keeps_the_limit(seed(cost=within(0.2, 0.3, 2.03, 1.0)), DEFAULT) < 0


def test_a_cost_of_exactly_the_slack_limit_does_not_break_it():
    assert parts.breaks_the_limit(seed(cost=2.0), DEFAULT._replace(slack=1.0)) < 0
    assert parts.breaks_the_limit(seed(cost=2.0 * 1.01, limit=2.0), DEFAULT) < 0
    assert parts.breaks_the_limit(seed(cost=2.0201, limit=2.0), DEFAULT) > 0


def test_every_part_is_about_the_learner_that_it_names():
    named = [part.algorithm for part in PARTS.values()]
    assert named == [parts.FIRST] * 4 + [parts.TRIPLE_Q, parts.RESTART_Q]
    about_first = {name for name, part in PARTS.items() if part.algorithm == parts.FIRST}
    assert {*parts.OWN} == about_first - {"C20b"}


def test_the_shipped_defaults_are_those_fixed_before_any_run():
    rules = thresholds.load(ROOT / "workflow/claims.yaml")
    assert rules.default == DEFAULT
    assert (rules.agreement, rules.unlearnt) == (0.9, 0.2)
    assert [value for value, _ in rules.moved("deadline")] == [0.1, 0.15, 0.25, 0.35, 0.5]
    assert all(at._replace(deadline=0.25) == DEFAULT for _, at in rules.moved("deadline"))
