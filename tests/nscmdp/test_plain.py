"""Plain Python learners, and the loop in Python that runs them, beside an independent loop and the compiled one."""

import math
import textwrap
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from helpers import evaluate, play, random_path
from nscmdp import algorithms, environments, plain, simulate
from nscmdp.cmdp import Array
from nscmdp.kernels import cache, jit, sources
from nscmdp.learner import learn, operation, policy
from nscmdp.randomness import stratum_lengths, stream

SEED = 3
PARTS = ("reward", "utility", "dual", "value", "utility_value")
SETTINGS = [(name, setting) for name in algorithms.OWN for setting in algorithms.settings(name)]


def example():
    """The class in the docstring."""
    text = plain.__doc__.partition("    class Greedy")[2].partition("    run = ")
    names = {"np": np}
    exec(textwrap.dedent("    class Greedy" + text[0]), names)
    return names["Greedy"]


Greedy = example()


class CompiledGreedy(NamedTuple):
    Q: Array  # (H+1, S, A)
    epsilon: float = 0.1
    alpha: float = 0.2
    name = "Greedy"


@operation(policy, CompiledGreedy)
def _(learner, h, x, probabilities):
    q, actions = learner.Q[h, x], len(probabilities)
    best, ties = q.max(), 0
    for a in range(actions):
        ties += q[a] == best
    for a in range(actions):
        probabilities[a] = learner.epsilon / actions + (1 - learner.epsilon) * (q[a] == best) / ties


@operation(learn, CompiledGreedy)
def _(learner, h, x, a, r, g, y):
    learner.Q[h, x, a] += learner.alpha * (r + learner.Q[h + 1, y].max() - learner.Q[h, x, a])


def drifting(knots):
    return random_path(np.random.default_rng(30), knots, tightness=0.6, spread=0.4, name="here")


@pytest.fixture(scope="module")
def env():
    return drifting([1, 60, 61, 150])


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=60, map="6x6", horizon=15, limit=2)


def assert_same(ours, theirs, parts=PARTS):
    for part in parts:
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part), err_msg=part)


@pytest.mark.parametrize("world", ["env", "grid"])
def test_the_example_earns_and_is_worth_what_an_independent_loop_says(request, world):
    env = request.getfixturevalue(world)
    ours, theirs = Greedy(env), Greedy(env)
    run = simulate.run(env, ours, seed=SEED, windows=env.episodes, solve=False)
    judged = play(env, theirs, "Greedy", SEED)
    np.testing.assert_array_equal(run.reward, judged.reward)
    np.testing.assert_array_equal(run.utility, judged.utility)
    np.testing.assert_allclose(run.value, judged.value, rtol=1e-12)
    np.testing.assert_allclose(run.utility_value, judged.utility_value, rtol=1e-12)
    np.testing.assert_array_equal(ours.Q, theirs.Q)
    assert len(set(run.value)) > 20


@pytest.mark.parametrize("world", ["env", "grid"])
def test_the_example_as_a_compiled_learner_has_the_same_bits(request, world):
    env = request.getfixturevalue(world)
    table = np.zeros((env.H + 1, env.S, env.A))
    compiled = simulate.run(env, CompiledGreedy(table), seed=SEED)
    ours = simulate.run(env, Greedy(env), seed=SEED)
    again = simulate.run(env, CompiledGreedy(np.zeros_like(table)), seed=SEED, compiled=False)
    for run in (ours, again):
        assert_same(run, compiled, (*PARTS, "regret", "violation", "gap", "episode", "weight"))
        np.testing.assert_array_equal(run.learner.Q, table)
        assert run.exact


def test_code_of_a_learner_from_outside_is_not_kept(env):
    """Its sources are in no hash: an edit of them would go unnoticed."""
    numba = jit.numba_module()
    learner = CompiledGreedy(np.zeros((env.H + 1, env.S, env.A)))
    ours = algorithms.make("uniform", simulate.Problem.of(env))
    outside, inside = numba.typeof(learner), numba.typeof(ours)
    assert cache.outside((numba.float64, outside)) == {__name__}
    assert cache.outside((numba.types.Tuple((inside, outside)),)) == {__name__}
    assert cache.outside((numba.float64, inside, numba.types.Tuple((inside,)))) == set()
    assert sources.plugin_digest(__name__) is None


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize(("name", "setting"), SETTINGS)
def test_an_algorithm_in_python_has_the_bits_of_the_compiled_one(name, setting):
    """Kernels take math.exp: numpy's own differs from the C library's in the last bit."""
    sizes = {"states": 12, "actions": 3, "dimension": 4, "horizon": 3}
    linear = environments.make("linear", 12, **sizes, slater=0.5, budget=3.0)
    for env in (drifting([1, 10, 11, 25]), linear):
        compiled = simulate.run(env, name, setting, SEED, 2, windows=7, solve=False)
        ours = simulate.run(env, name, setting, SEED, 2, windows=7, solve=False, compiled=False)
        assert_same(ours, compiled, (*PARTS, "episode", "weight"))
        assert ours.exact


def test_kernels_are_compiled_again_after_a_run_in_python(env):
    seen = []

    @jit.jit
    def which():
        return jit._IN_PYTHON.get()

    class Asking:
        def act(self, h, x, u):
            seen.append(jit._IN_PYTHON.get())
            return 0

    # a plain object may call compiled functions of the package
    simulate.run(env, Asking(), evaluate_every=None)
    assert not any(seen)
    with jit.in_python():
        assert which() is True
    assert jit._IN_PYTHON.get() is False


class Recorded:
    """Writes down every call."""

    def __init__(self):
        self.calls = []

    def begin_episode(self, u):
        self.calls.append(("begin_episode", u))

    def act(self, h, x, u):
        self.calls.append(("act", h, x, u))
        return 1

    def learn(self, h, x, a, r, g, y):
        self.calls.append(("learn", h, x, y))

    def end_of_episode(self):
        self.calls.append(("end_of_episode",))

    def dual(self):
        return float(len(self.calls))


def test_calls_come_in_order_with_the_draws_of_the_learner(env):
    learner = Recorded()
    run = simulate.run(env, learner, seed=SEED, evaluate_every=None, windows=env.episodes)
    draws = stream("learner", "Recorded", SEED).random((env.episodes, 1 + env.H))
    draws = iter(draws.ravel().tolist())
    calls = iter(learner.calls)
    for k in range(env.episodes):
        assert next(calls) == ("begin_episode", next(draws))
        y = None
        for h in range(env.H):
            _, step, x, u = next(calls)
            assert (step, u) == (h, next(draws))
            assert y is None or x == y
            _, step, before, y = next(calls)
            assert (step, before) == (h, x)
        assert next(calls) == ("end_of_episode",)
        assert run.dual[k] == (k + 1) * (2 + 2 * env.H)


def test_a_name_decides_the_draws_of_a_learner(env):
    def first_draw(learner):
        simulate.run(env, learner, seed=SEED, evaluate_every=None)
        return learner.calls[0][1]

    class Named(Recorded):
        name = "mine"

    assert first_draw(Named()) == stream("learner", "mine", SEED).random()
    assert first_draw(Recorded()) == stream("learner", "Recorded", SEED).random()


def test_without_a_policy_values_are_estimated_by_what_episodes_earned(env):
    exact = simulate.run(env, Greedy(env), seed=SEED, windows=env.episodes)
    assert exact.exact
    for every in (1, 20):
        run = simulate.run(env, Recorded(), seed=SEED, evaluate_every=every, windows=env.episodes)
        assert not run.exact
        assert "exact=False" in repr(run)
        strata = np.arange(env.episodes) // every
        for found, earned in ((run.value, run.reward), (run.utility_value, run.utility)):
            mean = np.bincount(strata, earned) / np.bincount(strata)
            np.testing.assert_allclose(found, mean, rtol=1e-12)
        np.testing.assert_array_equal(run.weight, stratum_lengths(env.episodes, every))
        np.testing.assert_allclose(run.violation[-1], (env.rho - run.utility).sum(), rtol=1e-9)
        assert np.isfinite(run.regret).all()
    assert len(simulate.run(env, Recorded(), evaluate_every=None).value) == 0


def test_a_policy_alone_is_a_learner(env):
    class Fixed:
        def policy(self, h, x):
            return [0.2, 0.5, 0.3]

    run = simulate.run(env, Fixed(), seed=SEED, evaluate_every=10)
    for k, value, utility_value in zip(run.episode, run.value, run.utility_value, strict=True):
        expected = evaluate(env.at(k), np.tile([0.2, 0.5, 0.3], (env.H, env.S, 1)))
        assert (value, utility_value) == pytest.approx(expected, rel=1e-12)
    assert np.isnan(run.dual).all()


def test_a_policy_is_asked_for_after_the_episode_begins_and_where_it_can_be_needed():
    env = environments.make("grid_world", episodes=4, map="6x6", horizon=3, limit=2)

    class Asked(Recorded):
        def policy(self, h, x):
            self.calls.append(("policy", h, x))
            return [0, 1, 0, 0]

    learner = Asked()
    run = simulate.run(env, learner, evaluate_every=2, solve=False)
    names = [name for name, *_ in learner.calls]
    begins = [i for i, name in enumerate(names) if name == "begin_episode"]
    for k, begin in enumerate(begins, 1):
        assert (names[begin + 1] == "policy") == (k in run.episode)
    asked = {call[1:] for call in learner.calls if call[0] == "policy"}
    assert {x for h, x in asked if h == 0} == set(np.flatnonzero(env.mu0))
    assert len(asked) < env.H * env.S


NO_DISTRIBUTION = [[0.5, 0.5], [0.5, 0.6, 0.0], [-0.1, 0.6, 0.5], [math.nan, 0.5, 0.5]]


@pytest.mark.parametrize("row", [*NO_DISTRIBUTION, np.array([0.2, 0.2, 0.2])])
@pytest.mark.parametrize("acts", [True, False])
def test_a_policy_that_is_no_distribution_is_refused(env, row, acts):
    class Wrong:
        def policy(self, h, x):
            return row if h == 1 else [1.0, 0.0, 0.0]

    if acts:
        Wrong.act = lambda *_: 0
    with pytest.raises(ValueError, match=r"policy\(1, \d\) = .*: expected 3 probabilities"):
        simulate.run(env, Wrong(), evaluate_every=1 if acts else None, solve=False)


@pytest.mark.parametrize(
    "action", [-1, 3, 1.0, "1", None, True, np.float64(1.0), np.bool_(True), np.int64(3)]
)
def test_a_wrong_action_is_refused(env, action):
    class Wrong:
        def act(self, h, x, u):
            return action if h == 1 else 0

    said = r"the action at h = 1, x = \d is .*: expected an integer from 0 to 2"
    with pytest.raises(ValueError, match=said):
        simulate.run(env, Wrong(), evaluate_every=None)


def test_an_integer_of_numpy_is_an_action(env):
    def rewards(kind):
        learner = SimpleNamespace(act=lambda h, x, u: kind(u * 3), name="right")
        return simulate.run(env, learner, evaluate_every=None).reward

    for kind in (np.int64, np.uint8):
        np.testing.assert_array_equal(rewards(kind), rewards(int))


def test_estimates_at_the_next_state_come_before_the_lesson(env):
    lessons = []

    class Estimating:
        def act_and_estimate(self, h, x, u):
            return 0, h + 0.25, h + 0.5

        def learn_from_estimate(self, h, x, a, r, g, y, v, w):
            lessons.append((h, v, w))

    simulate.run(env, Estimating(), evaluate_every=None)
    expected = [(h, h + 1.25, h + 1.5) for h in range(env.H - 1)] + [(env.H - 1, 0.0, 0.0)]
    assert lessons == expected * env.episodes


class Lessons:
    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        pass

    def act(self, h, x, u):
        return 0


def test_what_is_no_learner_is_refused(env):
    for learner, message in (
        (object(), "expected an object with act"),
        (Recorded, "is no learner"),
        (Lessons(), "expected act_and_estimate"),
    ):
        with pytest.raises(TypeError, match=message):
            simulate.run(env, learner)


def test_settings_are_for_algorithms_by_name(env):
    for choice in ({"setting": "scaled"}, {"factors": {"bonus": 1.0}}, {"assumed_budget": 2.0}):
        with pytest.raises(ValueError, match="are for algorithms by name"):
            simulate.run(env, Recorded(), **choice)


def test_results_do_not_depend_on_how_many_rows_or_draws_are_kept(env, monkeypatch):
    whole = simulate.run(env, Greedy(env), seed=SEED, evaluate_every=4)
    monkeypatch.setattr(plain, "KEPT_ROWS", 3)
    monkeypatch.setattr(simulate, "CHUNK_STEPS", 7)
    parts = simulate.run(env, Greedy(env), seed=SEED, evaluate_every=4)
    assert_same(parts, whole, (*PARTS, "regret"))
