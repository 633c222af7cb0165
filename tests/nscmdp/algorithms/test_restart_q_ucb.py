"""RestartQ-UCB beside a plain reading of its listing."""

import math
from fractions import Fraction

import numpy as np
import pytest

from helpers import facts, optimistic_start, random_path, resets_applied, variation_by_definition
from nscmdp import environments, simulate
from nscmdp.algorithms.restart_q_ucb import stage_ends
from nscmdp.cmdp import CMDP

SEED = 5


def update_times(H, most):
    """e_1 = H, e_{i+1} = floor((1+1/H) e_i); the visits e_1, e_1 + e_2, ..."""
    times, stage = [H], H
    while times[-1] < most:
        stage = math.floor((1 + Fraction(1, H)) * stage)
        times.append(times[-1] + stage)
    return times


class Listing:
    name = "restart_q_ucb"

    def __init__(self, env, setting, factors, local_budgets):
        f = facts(env)
        c = {"bonus": 0.01, "frame": 1.0, "initial": 4.0, **factors}
        Delta, T = f.B_r + f.B_p, f.K * f.H
        D = math.ceil((f.S * f.A) ** (-1 / 3) * (Delta / f.H) ** (2 / 3) * T ** (1 / 3))
        length = math.ceil(f.K / max(1, D))
        self.epoch = length if setting != "scaled" else min(max(1, int(c["frame"] * length)), f.K)
        iota = math.log(2 / 0.05)
        self.b = {
            "literal": lambda n: math.sqrt(f.H**2 * iota / n) + math.sqrt(iota / n),
            "authors": lambda n: 0.05 * math.sqrt(f.H**2 / n),
            "scaled": lambda n: c["bonus"] * f.H / math.sqrt(n),
        }[setting]
        remaining = [f.H - h + 1 for h in range(1, f.H + 1)]
        start = optimistic_start(env, c["initial"]) if setting == "scaled" else remaining
        self.start = np.array(start, dtype=float)
        self.env, self.local_budgets, self.episode, self.lowered = env, local_budgets, 0, False
        self.times = set(update_times(f.H, f.K))

    def start_epoch(self):
        H, S, A = self.env.H, self.env.S, self.env.A
        start = self.start
        self.Q = np.repeat(start, S * A).reshape(H, S, A)
        self.V = np.vstack([np.repeat(start, S).reshape(H, S), np.zeros(S)])
        self.N, self.Nc = np.zeros((H, S, A), int), np.zeros((H, S, A), int)
        self.rc, self.vc = np.zeros((H, S, A)), np.zeros((H, S, A))
        last = min(self.episode + self.epoch, self.env.episodes)
        B_r, _, B_p = variation_by_definition(self.env, self.episode + 1, last)
        self.b_Delta = B_r + H * B_p if self.local_budgets else 0.0

    def best_actions(self, h, x):
        return np.flatnonzero(self.Q[h, x] == self.Q[h, x].max())

    def begin_episode(self, u):
        if self.episode % self.epoch == 0:
            self.start_epoch()

    def policy(self, h, x):
        probabilities, tied = np.zeros(self.env.A), self.best_actions(h, x)
        probabilities[tied] = 1 / len(tied)
        return probabilities

    def act(self, h, x, u):
        tied = self.best_actions(h, x)
        return tied[int(u * len(tied))]

    def learn(self, h, x, a, r, g, y):
        self.rc[h, x, a] += r
        self.vc[h, x, a] += self.V[h + 1, y]
        self.N[h, x, a] += 1
        self.Nc[h, x, a] += 1
        if self.N[h, x, a] in self.times:
            n = self.Nc[h, x, a]
            target = self.rc[h, x, a] / n + self.vc[h, x, a] / n + self.b(n) + 2 * self.b_Delta
            self.Q[h, x, a] = min(self.Q[h, x, a], target)
            self.V[h, x] = self.Q[h, x].max()
            self.Nc[h, x, a], self.rc[h, x, a], self.vc[h, x, a] = 0, 0.0, 0.0

    def end_of_episode(self):
        self.episode += 1
        self.lowered |= bool((self.Q[0] < self.start[0]).any())


@pytest.fixture(scope="module")
def small():
    shape = {"H": 4, "tightness": 0.7, "spread": 0.15, "name": "small"}
    return random_path(np.random.default_rng(12), [1, 70, 71, 212], **shape)


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=70, map="6x6", horizon=6, limit=1, success=0.7)


CASES = [("literal", {}), ("authors", {}), ("scaled", {})]
CASES += [("scaled", {"bonus": 0.2, "frame": 0.7, "initial": 1.3})]


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize("world", ["small", "grid"])
@pytest.mark.parametrize("local_budgets", [False, True])
@pytest.mark.parametrize(("setting", "factors"), CASES)
def test_the_learner_does_what_the_listing_says(request, world, setting, factors, local_budgets):
    env = request.getfixturevalue(world)
    plain = Listing(env, setting, factors, local_budgets)
    slow = simulate.run(env, plain, seed=SEED, solve=False)
    choices = {"factors": factors, "variants": {"local_budgets": local_budgets}}
    run = simulate.run(env, "restart_q_ucb", setting, SEED, solve=False, **choices)
    assert run.learner.epoch == plain.epoch
    if env.episodes % plain.epoch:
        Q, N, stage_n, stage_sum = np.moveaxis(resets_applied(run.learner), 2, 0)
        np.testing.assert_allclose(Q, plain.Q, rtol=1e-9)
        np.testing.assert_array_equal(N, plain.N)
        np.testing.assert_array_equal(stage_n, plain.Nc)
        np.testing.assert_allclose(stage_sum, plain.rc + plain.vc, rtol=1e-9, atol=1e-12)
    for part in ("reward", "utility", "value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-9)
    if world == "small":
        assert env.episodes > plain.epoch, "an epoch must end"
        assert env.episodes % plain.epoch, "the last epoch must be under way, for tables to show"
        if not local_budgets:
            assert plain.lowered == (setting != "literal"), "what the bonus leaves to learn"


def test_known_local_budgets_keep_estimates_higher():
    env = random_path(np.random.default_rng(13), [1, 212], H=4, spread=0.01, name="calm")
    factors, tables = {"frame": 0.3}, []
    for local_budgets in (False, True):
        plain = Listing(env, "scaled", factors, local_budgets)
        simulate.run(env, plain, seed=SEED, evaluate_every=None)
        choices = {"factors": factors, "variants": {"local_budgets": local_budgets}}
        run = simulate.run(env, "restart_q_ucb", "scaled", SEED, None, **choices)
        np.testing.assert_allclose(resets_applied(run.learner)[:, :, 0], plain.Q, rtol=1e-9)
        assert (plain.Q[0] < env.H).any()
        tables.append(plain.Q)
    assert tables[1][0].mean() > tables[0][0].mean()


@pytest.mark.parametrize("H", [1, 2, 5, 25])
def test_stages_end_where_the_recursion_says(H):
    times = [t for t in update_times(H, 3000) if t <= 3000]
    np.testing.assert_array_equal(np.flatnonzero(stage_ends(H, 3000)), times)


def paid_otherwise(env, paid):
    """The same path with other rewards and utilities."""
    anchors = [
        CMDP.sparse(a.successors, a.probability, *paid(a), a.H, a.rho, a.mu0) for a in env.anchors
    ]
    return environments.path(anchors, list(env.knots), name=env.name)


def test_the_utility_is_never_looked_at(small):
    other = paid_otherwise(small, lambda a: (a.reward_of, 1.0 - a.utility_of))
    runs = [simulate.run(e, "restart_q_ucb", "scaled", SEED, solve=False) for e in (small, other)]
    np.testing.assert_array_equal(*(resets_applied(run.learner) for run in runs))
    np.testing.assert_array_equal(runs[0].reward, runs[1].reward)
    assert not np.array_equal(runs[0].utility, runs[1].utility)


class Freedman(Listing):
    """The listing with sums of V_ref and V - V_ref beside those of V, and a third bound on Q."""

    def __init__(self, env, setting, factors, local_budgets):
        super().__init__(env, setting, factors, local_budgets)
        f = facts(env)
        D = math.ceil((f.S * f.A) ** (-1 / 3) * (f.B_r + f.B_p) ** (2 / 3) * (f.K * f.H) ** (1 / 3))
        frame = factors.get("frame", 1.0)  # of the scaled setting alone
        self.epoch = min(max(1, int(frame * math.ceil(f.K / D))), f.K)
        iota = math.log(2 / 0.05)
        bonus = factors.get("bonus", 0.01)
        self.iota = {"literal": iota, "authors": 0.05**2, "scaled": bonus**2}[setting]
        self.noise = self.iota if setting == "literal" else 0.0
        self.N0 = f.S * f.A * f.H**6 * iota
        if setting == "scaled":
            self.N0 = factors.get("reference", 50.0) * f.H
        self.active = self.frozen = 0

    def start_epoch(self):
        super().start_epoch()
        H, S, A = self.env.H, self.env.S, self.env.A
        self.V_ref = self.V.copy()
        self.references, self.advantages = (
            {place: [] for place in np.ndindex(H, S, A)} for _ in range(2)
        )

    def learn(self, h, x, a, r, g, y):
        self.rc[h, x, a] += r
        self.vc[h, x, a] += self.V[h + 1, y]
        self.references[h, x, a].append(self.V_ref[h + 1, y])
        self.advantages[h, x, a].append(self.V[h + 1, y] - self.V_ref[h + 1, y])
        self.N[h, x, a] += 1
        self.Nc[h, x, a] += 1
        if self.N[h, x, a] in self.times:
            n = self.Nc[h, x, a]
            first = self.rc[h, x, a] / n + self.vc[h, x, a] / n + self.b(n) + 2 * self.b_Delta
            second = self.by_advantage(h, x, a) + 4 * self.b_Delta
            self.active += second < min(first, self.Q[h, x, a])
            self.Q[h, x, a] = min(self.Q[h, x, a], first, second)
            self.V[h, x] = self.Q[h, x].max()
            self.Nc[h, x, a], self.rc[h, x, a], self.vc[h, x, a] = 0, 0.0, 0.0
            self.advantages[h, x, a] = []
        if self.N[h, x].sum() == math.ceil(self.N0):
            self.V_ref[h, x] = self.V[h, x]
            self.frozen += 1

    def by_advantage(self, h, x, a):
        H, iota, N, n = self.env.H, self.iota, self.N[h, x, a], self.Nc[h, x, a]
        references, advantages = self.references[h, x, a], self.advantages[h, x, a]
        b = 2 * math.sqrt(iota / N * np.var(references))
        b += 2 * math.sqrt(iota / n * np.var(advantages))
        b += 5 * (H * iota / N + H * iota / n + H * iota**0.75 / N**0.75 + H * iota**0.75 / n**0.75)
        b += math.sqrt(self.noise / n)
        return self.rc[h, x, a] / n + np.mean(references) + np.mean(advantages) + b


FREEDMAN = [("literal", {}), ("authors", {}), ("scaled", {"frame": 2.5})]
FREEDMAN += [("scaled", {"bonus": 1e-4, "frame": 2.5, "reference": 3.3, "initial": 1.5})]


@pytest.mark.parametrize("local_budgets", [False, True])
@pytest.mark.parametrize(("setting", "factors"), FREEDMAN)
def test_the_freedman_bonus_does_what_its_listing_says(small, setting, factors, local_budgets):
    plain = Freedman(small, setting, factors, local_budgets)
    slow = simulate.run(small, plain, seed=SEED, solve=False)
    variants = {"local_budgets": local_budgets, "bonus": "freedman"}
    choices = {"factors": factors, "variants": variants, "solve": False}
    run = simulate.run(small, "restart_q_ucb", setting, SEED, **choices)
    assert run.learner.epoch == plain.epoch < small.episodes
    for part in ("value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-9)
    if small.episodes % plain.epoch:
        np.testing.assert_allclose(resets_applied(run.learner)[:, :, 0], plain.Q, rtol=1e-9)
        np.testing.assert_allclose(run.learner.reference, plain.V_ref, rtol=1e-9)
    if "reference" in factors:
        assert plain.frozen
        assert plain.active or local_budgets


@pytest.mark.filterwarnings("ignore::nscmdp.problem.DoesNotFit")
@pytest.mark.parametrize("bonus", ["hoeffding", "freedman"])
def test_a_fixed_multiplier_is_the_same_learner_paid_the_mixture(small, bonus):
    """(r + lambda g) / (1 + lambda) in place of r, in an epoch as long as the run."""
    multiplier = 1.5

    def mixed(a):
        return (a.reward_of + multiplier * a.utility_of) / (1 + multiplier), a.utility_of

    other = paid_otherwise(small, mixed)
    choices = {"setting": "scaled", "seed": SEED, "factors": {"frame": 1000.0}, "solve": False}
    paid = {"multiplier": multiplier, "bonus": bonus}
    ours = simulate.run(small, "restart_q_ucb", variants=paid, **choices)
    theirs = simulate.run(other, "restart_q_ucb", variants={"bonus": bonus}, **choices)
    np.testing.assert_allclose(ours.learner.table, theirs.learner.table, rtol=1e-9)
    np.testing.assert_allclose(ours.utility_value, theirs.utility_value, rtol=1e-9)


def test_a_fixed_multiplier_counts_the_drift_of_what_it_is_paid(small):
    """Delta = (B_r + lambda B_g) / (1 + lambda) + B_p, for the epochs and for b_Delta."""
    f, (B_r, B_g, B_p) = facts(small), variation_by_definition(small)
    Delta = 0.25 * B_r + 0.75 * B_g + B_p
    D = math.ceil((f.S * f.A) ** (-1 / 3) * (Delta / f.H) ** (2 / 3) * (f.K * f.H) ** (1 / 3))
    variants = {"multiplier": 3.0, "local_budgets": True}
    run = simulate.run(small, "restart_q_ucb", "literal", SEED, None, variants=variants)
    assert run.learner.epoch == math.ceil(f.K / D)
    B_r, B_g, B_p = variation_by_definition(small, 1, run.learner.epoch)
    drift = 0.25 * B_r + 0.75 * B_g + f.H * B_p
    assert run.learner.drift[0] == pytest.approx(2 * drift, rel=1e-9)
