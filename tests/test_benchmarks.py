"""The benchmarks compare like with like: every other implementation earns what ours does, or the comparison stops."""

import subprocess
from itertools import product

import pytest
from benchmarks import c_loop, cases, memory, misses, peers, scaling, timing
from benchmarks.cases import Case
from benchmarks.loops import Loop, Ours
from benchmarks.python_loop import InPython, beside_a_loop_of_ones_own
from matplotlib.text import Text

pytestmark = pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")


def has_compiler():
    try:
        return bool(c_loop.compiler())
    except c_loop.NoCompiler:
        return False


needs_compiler = pytest.mark.skipif(not has_compiler(), reason="no C compiler")


def small(algorithm, episodes, evaluated=False):
    setting = cases.settings(algorithm)[-1]
    return Case(cases.SMALL, algorithm, setting, episodes, evaluated=evaluated)


@needs_compiler
@pytest.mark.parametrize("algorithm", cases.EPISODES)
def test_the_loop_in_c_earns_the_same_and_finds_the_same_values(algorithm):
    Loop(small(algorithm, 60, evaluated=True)).turn(c_loop.InC, 60)


@needs_compiler
@pytest.mark.parametrize("algorithm", cases.WITH_FEATURES)
def test_the_loop_in_c_earns_the_same_with_features(algorithm):
    Loop(Case(cases.LINEAR, algorithm, "scaled", 300, evaluated=True)).turn(c_loop.InC, 300)


@needs_compiler
@pytest.mark.parametrize(
    "algorithm", ["nonstationary_triple_q", "triple_q", "double_restart_triple_q", "restart_q_ucb"]
)
def test_both_loops_forget_alike_at_the_ends_of_short_frames(algorithm):
    loop = Loop(small(algorithm, 300, evaluated=True)._replace(frame=0.2))
    loop.turn(c_loop.InC, 300)


@pytest.mark.parametrize("algorithm", cases.IN_PYTHON)
def test_the_loop_in_python_earns_the_same(algorithm):
    Loop(small(algorithm, 60)).turn(InPython, 3)


def test_the_direct_form_of_the_linear_learner_earns_the_same():
    Loop(Case(cases.LINEAR, "lsvi_primal_dual", "scaled", 40)).turn(InPython, 40)


def test_a_plain_learner_costs_little_more_than_in_a_loop_of_ones_own():
    """And earns the same; twice what it may cost, for a machine with other work to do."""
    row = beside_a_loop_of_ones_own(cases.SMALL, 300, 5)
    assert row.ratio < 1.2 * 2


def test_algorithm_1_earns_the_same_in_a_gymnasium_loop():
    """Or the comparison stops."""
    assert peers.beside_gymnasium(cases.SMALL, 5, 1).against == "Gymnasium loop"


def test_a_peer_that_cannot_be_installed_is_named(monkeypatch):
    monkeypatch.setenv("UV_OFFLINE", "1")
    with pytest.raises(peers.NotInstalled, match="no-such-package"):
        peers.Peer("cbc.py", "no-such-package==1.2.3")


class Generous(Ours):
    def play(self, first, draws, record):
        super().play(first, draws, record)
        record.reward[first - 1] += 1e-6


def test_a_loop_that_earns_something_else_stops_the_comparison():
    with pytest.raises(AssertionError, match="reward of episode 1 differs"):
        Loop(small("uniform", 20)).turn(Generous, 20)


@needs_compiler
def test_a_game_in_a_file_is_played_as_the_game_itself(tmp_path):
    loop = Loop(small("nonstationary_triple_q", 50))
    misses.write_image(loop, tmp_path / "image")
    sources = (str(c_loop.SOURCES / name) for name in ("main/play_image.c", "triple_q.c"))
    c_loop.compile_c(tmp_path / "play", *sources)
    command = [tmp_path / "play", tmp_path / "image", "50"]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    record = misses.in_all()
    c_loop.InC(loop.tables, loop.case.learner(loop.problem)).play(1, loop.draws[0], record)
    assert float(printed) == record.reward[0] > 0


def test_the_memory_of_a_learner_that_has_no_printed_constants():
    row = memory.of("S", 36, cases.SMALL, "sliding_window_opt_cmdp", 5)
    assert 20 < row.mebibytes < 2000


def test_both_sides_take_turns():
    order = []
    ours, theirs = ([lambda side=side: order.append(side)] * 3 for side in ("ours", "theirs"))
    timing.in_turns(ours, theirs)
    assert order == ["ours", "theirs", "theirs", "ours", "ours", "theirs"]


def test_the_ratio_is_that_of_the_medians():
    row = timing.compared("a case", "C", [(1.0, 2.0), (3.0, 4.0), (20.0, 5.0)])
    assert (row.ours, row.theirs, row.ratio) == (3.0, 4.0, 0.75)
    assert row.spread == pytest.approx((0.75 + 4.0) / 2 - (0.5 + 0.75) / 2)


def test_a_point_of_every_axis_its_memory_and_its_misses_are_drawn(tmp_path):
    places = product(scaling.AXES, (4.0, 9.0))
    points = [scaling.Point(axis, x, scaling.OURS, 1e-8 * x, 1e-9) for axis, x in places]
    counted = [misses.Misses(world, 36, 20.0, 2.0, 0.1) for world in ("grid world", "scattered")]
    held = [memory.Memory("S", states, "uniform", 100.0) for states in (36, 100)]
    figure = scaling.draw(points, counted, held, tmp_path / "scaling")
    assert all((tmp_path / f"scaling.{form}").stat().st_size > 0 for form in ("svg", "png"))
    assert {*scaling.AXES.values(), "cache misses a step", "MiB of a worker"} <= {
        text.get_text() for text in figure.findobj(Text)
    }
