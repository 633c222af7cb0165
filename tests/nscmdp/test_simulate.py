import numpy as np
import pytest

from helpers import gaps, random_path
from nscmdp import algorithms, environments, metrics, optimum, simulate
from nscmdp.cmdp import CMDP
from nscmdp.randomness import checkpoints, stratum_lengths

LEARNERS = ("nonstationary_triple_q", "triple_q", "restart_q_ucb", "uniform")
SETTINGS = [(name, setting) for name in algorithms.OWN for setting in algorithms.settings(name)]


@pytest.fixture(scope="module")
def env():
    rng, shape = np.random.default_rng(30), {"tightness": 0.6, "spread": 0.4}
    return random_path(rng, [1, 60, 61, 150], **shape, name="here")


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=60, map="6x6", horizon=15, limit=2)


def results(run):
    return [run.reward, run.utility, run.episode, run.weight, run.value, run.utility_value]


def test_regret_violation_and_gap_are_sums_over_episodes(env):
    run = simulate.run(env, "triple_q", "scaled", seed=2)
    np.testing.assert_array_equal(run.episode, np.arange(1, env.episodes + 1))
    sums = np.zeros(5)
    for i, (value, utility_value) in enumerate(zip(run.value, run.utility_value, strict=True)):
        regret = optimum.constrained(env.at(i + 1)).value - value
        violation = env.rho - utility_value
        gap = regret + run.optimum[i, 2] * violation
        sums += (regret, violation, gap, max(0.0, regret), max(0.0, violation))
        names = ("regret", "violation", "gap", "positive_regret", "positive_violation")
        assert [getattr(run, name)[i] for name in names] == pytest.approx(sums, abs=1e-8)


@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_the_lagrangian_gap_is_never_negative_on_the_map(grid, name, setting):
    run = simulate.run(grid, name, setting, seed=1)
    assert gaps(grid, run).min() >= -1e-9 * (1 + run.optimum[:, 2].max())


def jump(at, episodes):
    """All rewards are 0 up to the episode before ``at``, and 1 from it on."""
    P = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 3, 2))
    before, after = (
        CMDP(P=P, r=np.full((2, 3, 2), r), g=np.ones((2, 3, 2)), rho=0.0, mu0=np.full(3, 1 / 3))
        for r in (0.0, 1.0)
    )
    return environments.path([before, before, after, after], [1, at - 1, at, episodes], name="jump")


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("frame", [0.05, 1.0])
def test_a_restart_does_not_touch_the_environments_clock(name, frame):
    env = jump(at=101, episodes=240)
    scaled = "scaled" in algorithms.settings(name)
    options = {"setting": "scaled", "factors": {"frame": frame}} if scaled else {}
    run = simulate.run(env, name, **options)
    learner = run.learner
    if scaled:
        length = learner.epoch if hasattr(learner, "epoch") else learner.now[0].frame
        assert length < 101 or frame == 1.0, "restarts must happen before the jump"
    for earned in (run.reward, run.value):
        np.testing.assert_allclose(earned, 2.0 * (np.arange(1, 241) >= 101), atol=1e-12)


def indifferent():
    """Actions change nothing, so what an episode pays is chance alone."""
    rng = np.random.default_rng(31)

    def model():
        P, r, g = rng.dirichlet(np.ones(4), size=(3, 4)), rng.random((3, 4)), rng.random((3, 4))
        same = [np.repeat(table[:, :, None], 3, axis=2) for table in (P, r, g)]
        return CMDP(*same, rho=0.0, mu0=np.full(4, 0.25))

    return environments.path([model(), model()], [1, 100], name="indifferent")


@pytest.mark.usefixtures("a_window_for_each_episode")
def test_all_learners_face_the_same_environment_draws():
    env = indifferent()
    runs = [simulate.run(env, name, setting, seed=4, solve=False) for name, setting in SETTINGS]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.reward, runs[0].reward)
        np.testing.assert_array_equal(run.utility, runs[0].utility)
    other = simulate.run(env, "uniform", seed=5, solve=False)
    assert np.abs(other.reward - runs[0].reward).mean() > 0.1


@pytest.mark.usefixtures("a_window_for_each_episode")
def test_all_learners_start_from_the_same_states():
    rewards = np.arange(5.0)
    model = CMDP(
        P=np.full((1, 5, 2, 5), 0.2), r=np.repeat(rewards[None, :, None], 2, 2), g=np.ones((1, 5, 2)), rho=0.5,
        mu0=[0.1, 0.2, 0.3, 0.4, 0.0],
    )  # fmt: skip
    env = environments.path([model], [1], episodes=300, name="starts")
    runs = [simulate.run(env, name, setting, seed=4, solve=False) for name, setting in SETTINGS]
    starts = np.round(runs[0].reward).astype(int)
    np.testing.assert_allclose(np.bincount(starts, minlength=5) / 300, model.mu0, atol=0.1)
    assert (starts < 4).all()
    for run in runs[1:]:
        np.testing.assert_array_equal(run.reward, runs[0].reward)


def test_the_environments_seed_decides_its_draws():
    model = indifferent().anchors
    paths = [environments.path(model, [1, 100], name="indifferent", seed=s) for s in (0, 1)]
    runs = [simulate.run(env, "uniform", seed=4, solve=False) for env in paths]
    assert not np.array_equal(runs[0].reward, runs[1].reward)


@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
@pytest.mark.parametrize("name", LEARNERS[:3:2])
def test_results_do_not_depend_on_how_many_draws_are_made_at_a_time(env, monkeypatch, name, chunk):
    whole = simulate.run(env, name, seed=3, evaluate_every=4)
    monkeypatch.setattr(simulate, "CHUNK_STEPS", chunk)
    parts = simulate.run(env, name, seed=3, evaluate_every=4)
    for found, expected in zip(results(parts), results(whole), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_evaluating_less_often_evaluates_the_same_policies(env):
    every = simulate.run(env, "nonstationary_triple_q", "scaled", seed=3)
    some = simulate.run(env, "nonstationary_triple_q", "scaled", seed=3, evaluate_every=20)
    np.testing.assert_array_equal(some.reward, every.reward)
    np.testing.assert_array_equal(some.value, every.value[some.episode - 1])
    np.testing.assert_array_equal(some.utility_value, every.utility_value[some.episode - 1])
    # two warm starts end at the same optimum, but not at the same last bit
    np.testing.assert_allclose(some.optimum[:, 0], every.optimum[some.episode - 1, 0], atol=1e-9)


def test_checkpoints_belong_to_the_seed_and_not_to_the_learner(env):
    runs = [simulate.run(env, name, seed=6, evaluate_every=20, solve=False) for name in LEARNERS]
    for run in runs:
        np.testing.assert_array_equal(run.episode, checkpoints(150, 20, 6))
        np.testing.assert_array_equal(run.weight, stratum_lengths(150, 20))
        assert run.weight.sum() == env.episodes
    assert not np.array_equal(checkpoints(150, 20, 7), runs[0].episode)


def test_regret_at_checkpoints_counts_each_for_its_stratum(env):
    run = simulate.run(env, "uniform", seed=6, evaluate_every=20)
    expected = np.cumsum(run.weight * (run.optimum[:, 0] - run.value))
    np.testing.assert_allclose(run.regret, expected, atol=1e-12)
    everything = simulate.run(env, "uniform", seed=6)
    assert run.regret[-1] == pytest.approx(everything.regret[-1], rel=0.2)


def test_nothing_is_evaluated_where_nothing_is_asked_for(env):
    quiet, loud = (simulate.run(env, "triple_q", seed=1, evaluate_every=n) for n in (None, 1))
    assert len(quiet.episode) == len(quiet.value) == len(quiet.weight) == 0
    assert quiet.optimum is None
    np.testing.assert_array_equal(quiet.reward, loud.reward)


def test_measures_of_a_run_without_the_optimum_are_refused(env):
    run = simulate.run(env, "uniform", solve=False)
    for sums in ("regret", "gap", "positive_regret", "positive_violation", "measures"):
        with pytest.raises(ValueError, match="without the optimum"):
            getattr(run, sums)
    expected = np.cumsum(env.rho - run.utility_value)  # needs none
    np.testing.assert_allclose(run.violation, expected, atol=1e-12)
    with pytest.raises(ValueError, match="evaluate_every = 0"):
        simulate.run(env, "uniform", evaluate_every=0)


@pytest.mark.parametrize("episodes", [1, 399, 400, 401, 1003])
def test_windows_share_out_all_episodes(episodes):
    ones = np.ones((2, 1, 1))
    model = CMDP(P=ones[..., None], r=0.5 * ones, g=ones, rho=0.0, mu0=[1.0])
    env = environments.path([model], [1], episodes=episodes, name="one")
    run = simulate.run(env, "uniform", evaluate_every=None)
    assert run.window_episodes.sum() == episodes
    assert len(run.window_episodes) == min(episodes, metrics.WINDOWS)
    np.testing.assert_allclose(run.reward, 1.0)
    np.testing.assert_allclose(run.utility, 2.0)


def test_progress_counts_every_episode(env, monkeypatch):
    monkeypatch.setattr(simulate, "CHUNK_STEPS", 120)
    played = []
    simulate.run(env, "uniform", evaluate_every=None, progress=played.append)
    assert played == [40, 80, 120, 150]
