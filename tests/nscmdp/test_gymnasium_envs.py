"""The package's environments as Gymnasium plays them: the same draws, the same laws, the same clock."""

import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from scipy import stats

from helpers import World, evaluate, random_path
from nscmdp import environments, optimum
from nscmdp.gymnasium_envs import DriftingEnv, RunIsOver

IDS = {name: f"nscmdp:{name.title().replace('_', '')}-v0" for name in environments.NAMES}


def episode(env, policy, seed=None):
    """Everything that one episode shows, played by policy(observation) -> action."""
    observation, info = env.reset(seed=seed)
    shown, over = [(*observation.tolist(), info["k"])], False
    while not over:
        observation, reward, over, truncated, info = env.step(policy(observation))
        assert not truncated
        shown.append((*observation.tolist(), reward, info["cost"], info["utility"], info["k"]))
    return shown


def scattered(actions):
    """A policy that tries all actions, by step and state."""
    return lambda observation: int(observation[0] * 3 + observation[1] * 5) % actions


@pytest.mark.parametrize("name", environments.OWN)
def test_every_environment_passes_gymnasiums_checks_without_a_warning(name):
    env = gymnasium.make(IDS[name], episodes=100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    assert env.spec.max_episode_steps is None


def test_an_id_is_known_without_a_number_of_episodes():
    assert gymnasium.make("nscmdp:GridWorld-v0").unwrapped.path.episodes == 80_000


FIRST = {
    "gymnasium": "import gymnasium",
    "nscmdp, and somebody asks for gymnasium": "import sys, nscmdp; "
    "assert not {'gymnasium', 'numpy'} & set(sys.modules); from importlib.util import find_spec; "
    "assert find_spec('gymnasium') is not None; import gymnasium",
    "an environment that needs it": "from nscmdp.environments import make; make('toy_text', 5); import gymnasium",
}


@pytest.mark.parametrize("first", FIRST)
def test_ids_are_found_whatever_was_imported_first(first):
    code = f"{FIRST[first]}; print(gymnasium.make('nscmdp:Menu-v0', episodes=3).reset(seed=0)[1])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "{'k': 1}\n"), done.stderr


@pytest.mark.parametrize("name", ["menu", "random_tabular", "toy_text"])
def test_an_agent_meets_the_draws_that_a_learner_of_the_package_meets(name):
    path = environments.make(name, 30)
    env, world = gymnasium.make(IDS[name], episodes=30), World(path, seed=7)
    policy = scattered(path.A)
    for k in range(1, 31):
        x = world.begin_episode()
        expected = [(0, x, k)]
        for h in range(path.H):
            reward, utility, x = world.step(h, x, policy((h, x)))
            expected.append((h + 1, x, reward, 1 - utility, utility, k))
        assert episode(env, policy, seed=7 if k == 1 else None) == expected


def test_draws_of_later_episodes_do_not_depend_on_what_happened_before():
    whole, broken_off = (gymnasium.make(IDS["menu"], episodes=9) for _ in range(2))
    episode(whole, scattered(4), seed=1)
    broken_off.reset(seed=1)
    broken_off.step(0)
    assert episode(whole, scattered(4)) == episode(broken_off, scattered(4))


def test_a_seed_gives_the_same_bits_and_another_others():
    env = gymnasium.make(IDS["random_tabular"], episodes=20)
    runs = []
    for seed in (3, 4, 3):
        runs.append([episode(env, scattered(3), None if k else seed) for k in range(20)])
    assert runs[0] == runs[2]
    assert runs[0] != runs[1]


def test_a_run_without_a_seed_begins_at_episode_1_with_draws_of_its_own():
    one, other = (gymnasium.make(IDS["random_tabular"], episodes=50) for _ in range(2))
    runs = [[episode(env, scattered(3)) for _ in range(50)] for env in (one, other)]
    assert runs[0][0][0][-1] == 1
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    ("k", "paid_with"),
    [(1, "the row"), (4, "the row"), (4, "the successor"), (10, "the successor")],
)
def test_outcomes_have_the_law_of_the_model_of_their_episode(k, paid_with):
    """Successors of every step by chi-square; mean reward and utility within 4.5 standard errors."""
    if paid_with == "the row":
        path = random_path(np.random.default_rng(2), [1, 10], H=2, S=4, A=2, sparsity=0.4)
    else:
        path = environments.make("grid_world", 10, map="6x6", horizon=2, limit=2, success=0.5)
    env, model, action = DriftingEnv(path), path.at(k), 1
    env.reset(seed=0)
    seen: dict[tuple[int, int], list] = {}
    for _ in range(6000):
        env._k = k - 1
        (h, x), _ = env.reset()
        for _ in range(path.H):
            (after, y), reward, _, _, info = env.step(action)
            seen.setdefault((int(h), int(x)), []).append((y, reward, info["utility"]))
            h, x = after, y
    starts = np.bincount([x for h, x in seen for _ in seen[h, x] if h == 0], minlength=path.S)
    likely = path.mu0 > 0
    assert starts[~likely].sum() == 0
    if likely.sum() > 1:
        assert stats.chisquare(starts[likely], 6000 * path.mu0[likely]).pvalue > 1e-4
    for (h, x), outcomes in seen.items():
        states, rewards, utilities = (np.array(part) for part in zip(*outcomes, strict=True))
        row = model.P[h, x, action]
        counts = np.bincount(states, minlength=path.S)
        assert counts[row == 0].sum() == 0
        if (row > 0).sum() > 1 and len(outcomes) > 200:
            assert stats.chisquare(counts[row > 0], len(outcomes) * row[row > 0]).pvalue > 1e-4
            for paid, table in ((rewards, model.r), (utilities, model.g)):
                off = abs(paid.mean() - table[h, x, action])
                assert off <= 4.5 * stats.sem(paid) + 1e-12


def test_the_clock_goes_on_with_every_reset_and_back_only_with_a_seed():
    env = gymnasium.make(IDS["menu"], episodes=4)
    assert [env.reset(seed=0)[1]["k"], *(env.reset()[1]["k"] for _ in range(3))] == [1, 2, 3, 4]
    for _ in range(2):  # and it stays over
        with pytest.raises(RunIsOver, match=r"all 4 episodes are played: reset\(seed=...\) begins"):
            env.reset()
    assert env.reset(seed=0)[1]["k"] == env.unwrapped.episode == 1


def test_an_episode_has_h_steps_and_then_needs_a_reset():
    env = DriftingEnv(environments.make("menu", 5))
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)
    shown = episode(env, scattered(4), seed=0)
    assert [h for h, *_ in shown] == [0, 1, 2, 3, 4]
    with pytest.raises(gymnasium.error.ResetNeeded, match="call reset"):
        env.step(0)


@pytest.mark.parametrize("action", [-1, 4, 1.5, None])
def test_an_action_that_there_is_not_is_refused(action):
    env = DriftingEnv(environments.make("menu", 5))
    env.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match=f"action = {action}: expected 0 to 3"):
        env.step(action)


def test_the_limit_is_that_of_the_paper():
    env = gymnasium.make(IDS["grid_world"], episodes=10, limit=3.0).unwrapped
    assert (env.limit, env.rho) == (3.0, 22.0)


def test_a_path_of_ones_own_is_an_environment_with_nothing_left_to_choose():
    path = environments.make("menu", 5)
    assert DriftingEnv(path).path is path
    with pytest.raises(ValueError, match=r"has its episodes and options already.*'legs': 2"):
        DriftingEnv(path, legs=2)


def q_learning(env, episodes, weight, seed):
    """Q-learning of reward + weight * utility that knows Gymnasium's interface and nothing else; its greedy policy."""
    rng = np.random.default_rng(seed)
    Q, N = (np.zeros((*env.observation_space.nvec, env.action_space.n)) for _ in range(2))
    for number in range(episodes):
        (h, x), _ = env.reset(seed=seed if number == 0 else None)
        over = False
        while not over:
            a = int(rng.integers(Q.shape[2]) if rng.random() < 0.3 else Q[h, x].argmax())
            (g, y), reward, over, _, info = env.step(a)
            N[h, x, a] += 1
            target = reward + weight * info["utility"] + (0.0 if over else Q[g, y].max())
            Q[h, x, a] += (target - Q[h, x, a]) * 5 / (4 + N[h, x, a])
            h, x = g, y
    return np.eye(Q.shape[2])[Q[:-1].argmax(axis=2)]


def test_an_agent_from_elsewhere_learns_and_its_exact_regret_is_told():
    """In a model that stands still, the agent's Lagrangian gap is a small share of the uniform policy's.

    With the optimum's own multiplier as its weight, the policy it looks for has no gap.
    """
    still = environments.make("random_tabular", 4000, budget=0.0)
    model = still.at(1)
    best = optimum.constrained(model)
    policy = q_learning(DriftingEnv(still), 4000, best.multiplier, seed=0)

    def gap(policy):
        value, utility = evaluate(model, policy)
        return best.value - value + best.multiplier * (model.rho - utility)

    assert gap(best.policy) == pytest.approx(0.0, abs=1e-9)
    assert -1e-9 <= gap(policy) < 0.1 * gap(np.full_like(policy, 1 / model.A))
