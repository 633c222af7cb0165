"""Algorithm 2 beside a plain reading of its listing, with that of Algorithm 1 inside it."""

import math

import numba
import numpy as np
import pytest
from test_triple_q import Constants, Listing

from helpers import best, facts, optimistic_start, random_path, resets_applied
from nscmdp import algorithms, environments, simulate
from nscmdp.algorithms import double_restart_triple_q
from nscmdp.algorithms._triple_q import triple_q
from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP
from nscmdp.kernels.induction import drift_of
from nscmdp.kernels.sampling import sampler_of
from nscmdp.learner import restart
from nscmdp.problem import Problem
from nscmdp.randomness import stream

NAME, SEED = "double_restart_triple_q", 5


def drifting(tightness):
    shape = {"H": 4, "spread": 0.15, "name": "small"}
    return random_path(np.random.default_rng(12), [1, 70, 71, 212], tightness=tightness, **shape)


@pytest.fixture(scope="module")
def small():
    return drifting(0.7)


class Outer:
    """Algorithm 2: weights s, a candidate budget for each arm, a new instance of Algorithm 1 in each epoch."""

    name = NAME

    def __init__(self, env, setting, factors, variants):
        f = facts(env)
        c = {"bonus": 0.0013, "btilde": 0.0, "epsilon": 4.0, "eta": 0.5, "frame": 4.0}
        c |= {"initial": 4.0, "budgets": 1.0, "epoch": 1.0, "rate": 1.0, **factors}
        self.env, self.f, self.c, self.setting, self.variants = env, f, c, setting, variants
        literal = setting == "literal"
        repaired = variants.get("gain") == "repaired"
        self.W = round((1 if literal else c["epoch"]) * f.K ** (5 / 7 if repaired else 5 / 9))
        self.delta = min(best(anchor, 0.0, 1.0)[1] for anchor in env.anchors) - env.rho
        self.margin = self.delta / 2 / f.K ** (1 / 7) if repaired else 0.0
        self.iota = 128 * math.log(math.sqrt(2 * f.S * f.A * f.H) * self.W)
        if variants.get("arms") == "frames":
            self.arms = [self.constants(1.0, max(1, self.W // part)) for part in (1, 4, 16, 64)]
        else:
            J = math.ceil(math.log(self.W))
            Delta = (40 * math.sqrt(f.S * f.A * f.H**6 * self.iota**3) / self.delta) ** 2
            scale = Delta**-1.5 if literal else c["budgets"]
            least = scale * f.K ** (1 / 3)
            self.arms = [self.constants(least * self.W ** (j / J) / self.W) for j in range(J + 1)]
        N, n = len(self.arms), f.K / self.W
        printed = math.sqrt(n * math.log(n) / ((math.e - 1) * f.K * f.H))
        usual = math.sqrt(N * math.log(N) / ((math.e - 1) * n))
        self.gamma = min(1, printed if literal else c["rate"] * usual)
        self.s, self.Y, self.xi = np.ones(N), 0.0, 2 * f.H / self.delta
        self.carry = {"reset": False, "carried": True}.get(variants.get("queue"), not literal)
        self.instance, self.episode = None, 0
        self.chosen, self.probabilities, self.gains = [], [], []

    def constants(self, B, L=None):
        f, c, W = self.f, self.c, self.W
        H, chi = f.H, W**0.2
        horizon_of_btilde = f.K if self.variants.get("btilde") == "K" else W
        btilde = B ** (1 / 3) * horizon_of_btilde**-0.4
        proof = self.variants.get("epsilon") == "proof"
        if self.setting == "literal":
            frame, eta = 1.0, 1.0
            eps = (20 if proof else 8) * math.sqrt(f.S * f.A * H**6 * self.iota**3)
            scale = 0.25 * math.sqrt(H**2 * self.iota)
            initial_q, initial_c = [H] * H, [H] * H
        else:
            frame, eta, btilde = c["frame"], c["eta"], c["btilde"] * btilde
            eps = (20 / 8 if proof else 1) * c["epsilon"]
            scale = c["bonus"] * H
            start = self.variants.get("start", "optimistic")
            initial_q = optimistic_start(self.env, c["initial"], start)
            initial_c = [H - h + 1 for h in range(1, H + 1)]
        return Constants(
            L=L or min(max(1, math.floor(frame * W**0.6 / B ** (2 / 3))), W),
            chi=chi,
            eta=eta * W**0.2 * B ** (1 / 3),
            eps=eps * B ** (1 / 3) / W**0.2 + 2 * self.margin,
            bonus=lambda t: scale * math.sqrt((chi + 1) / (chi + t)) + 2 * H * btilde,
            initial_q=initial_q,
            initial_c=initial_c,
        )

    def begin_episode(self, u):
        if self.episode % self.W == 0:
            N = len(self.arms)
            p = (1 - self.gamma) * self.s / self.s.sum() + self.gamma / N
            arm = min(int(np.searchsorted(np.cumsum(p), u, side="right")), N - 1)
            Z = self.instance.Z if self.instance and self.carry else 0.0
            self.instance = Listing(self.env, self.arms[arm], NAME)
            self.instance.Z = Z
            self.instance.refresh_all()
            self.chosen.append(arm)
            self.probabilities.append(p)
            self.R = self.G = 0.0

    def policy(self, h, x):
        return self.instance.policy(h, x)

    def act_and_estimate(self, h, x, u):
        return self.instance.act_and_estimate(h, x, u)

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        self.R, self.G = self.R + r, self.G + g
        self.instance.learn_from_estimate(h, x, a, r, g, y, v, w)

    def dual(self):
        return self.instance.dual()

    def end_of_episode(self):
        self.instance.end_of_episode()
        self.episode += 1
        k, W = self.episode, self.W
        if k % W == 0 or k == self.env.episodes:
            length = W if k % W == 0 else k % W
            gain = self.gain(length)
            arm = self.chosen[-1]
            estimate = gain / self.probabilities[-1][arm]
            self.s[arm] *= math.exp(self.gamma * estimate / len(self.arms))
            self.gains.append(gain)

    def gain(self, length):
        H, rho, weight = self.env.H, self.env.rho, self.f.K ** (-1 / 9)
        if self.variants.get("gain") == "dual":
            gain = (self.R + self.Y * self.G) / (length * H * (1 + self.xi))
            eta = self.xi * math.sqrt(self.W / (self.f.K * H**2))
            self.Y = min(max(self.Y + eta * (rho - self.G / length), 0.0), self.xi)
            return gain
        if self.variants.get("gain") == "repaired":
            feasible = length * (rho + self.margin) <= self.G
            return (self.R + length * H) / (2 * length * H) if feasible else 0.0
        kept = self.R if length * rho <= self.G else 0.0
        return (kept + self.G * weight) / (length * H * (1 + weight))


OTHER_BANDIT = {"budgets": 3.0, "rate": 3.0, "epsilon": 1.0, "btilde": 0.2, "frame": 1.0}
OTHER_LEARNER = {"bonus": 0.05, "eta": 2.0, "initial": 1.3, "frame": 1.5}
CASES = [
    ("literal", {}, {}),
    ("literal", {}, {"epsilon": "proof", "btilde": "K", "queue": "carried"}),
    ("literal", {}, {"arms": "frames"}),
    ("literal", {}, {"gain": "dual", "arms": "frames", "queue": "carried", "epsilon": "proof"}),
    ("scaled", {"epoch": 1.3}, {}),
    ("scaled", OTHER_BANDIT, {"btilde": "K"}),
    ("scaled", OTHER_LEARNER, {"queue": "reset", "epsilon": "proof"}),
    ("scaled", {"epoch": 2.0, "epsilon": 0.5, "rate": 0.5}, {"arms": "frames", "gain": "dual"}),
    ("literal", {}, {"gain": "repaired", "queue": "carried"}),
    ("scaled", {"epsilon": 3.0, "rate": 2.0}, {"gain": "repaired"}),
]


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("setting", "factors", "variants"), CASES)
def test_the_learner_does_what_the_listing_says(small, setting, factors, variants):
    mixed = setting == "scaled" and variants.get("gain") == "repaired"
    if mixed:  # some epochs are feasible, and some are not
        small = drifting(0.1)
    plain = Outer(small, setting, factors, variants)
    assert small.episodes % plain.W, "the last epoch must be shorter"
    slow = simulate.run(small, plain, seed=SEED, windows=small.episodes, solve=False)
    choices = {"factors": factors, "variants": variants, "windows": small.episodes}
    run = simulate.run(small, NAME, setting, SEED, solve=False, **choices)
    np.testing.assert_array_equal(run.learner.chosen, plain.chosen)
    assert len(set(plain.chosen)) > 1
    close(run.learner.probabilities, plain.probabilities)
    close(run.learner.gains, plain.gains)
    assert not mixed or 0 < np.mean(run.learner.gains > 0) < 1
    close(np.exp(run.learner.bandit.log_weights), plain.s)
    assert run.learner.inner.now[0].frame == plain.instance.c.L
    tables = np.moveaxis(resets_applied(run.learner.inner), 2, 0)
    for found, expected in zip(tables, (getattr(plain.instance, t) for t in "QCN"), strict=True):
        close(found, expected)
    for part in ("dual", "value", "utility_value"):
        close(getattr(run, part), getattr(slow, part))


@numba.njit
def begin_anew(learner):
    restart(learner, 0)


@pytest.mark.parametrize("queue", ["reset", "carried"])
def test_one_arm_alone_is_algorithm_1_run_epoch_by_epoch_bit_for_bit(small, monkeypatch, queue):
    module = double_restart_triple_q
    all_arms = module.arms_of
    monkeypatch.setattr(module, "arms_of", lambda *given: all_arms(*given)[3:4])
    factors, variants = {"frame": 0.7, "epsilon": 0.5}, {"queue": queue}
    W, K, H = round(small.episodes ** (5 / 9)), small.episodes, small.H
    choices = {"factors": factors, "variants": variants, "windows": K}
    run = simulate.run(small, NAME, "scaled", SEED, solve=False, **choices)
    assert run.learner.block == W
    assert run.learner.inner.now[0].frame < W
    problem = Problem.of(small)
    arms = algorithms.constants(NAME, problem, "scaled", factors, variants).arms
    assert len(arms) == 1
    inside = problem._replace(K=W), arms
    alone = triple_q(*inside, rule="full", carry=True)
    world = simulate.World(drift_of(small), sampler_of(small))
    room = simulate.Room.of(small)
    environment_draws = stream("environment", small.name, small.seed, SEED).random((K, 1 + 2 * H))
    learner_draws = stream("learner", NAME, SEED).random((K, 1 + H))
    values, (reward, utility, duals) = np.empty((K, 2)), np.zeros((3, K))
    for first in range(0, K, W):
        last = min(first + W, K)
        if queue == "carried":
            begin_anew(alone)
        else:
            alone = triple_q(*inside, rule="full")
        draws = simulate.Draws(environment_draws[first:last], learner_draws[first:last])
        asked = np.arange(first + 1, last + 1)
        record = simulate.Record(reward, utility, duals, asked, values[first:last])
        simulate.play(world, alone, draws, record, room, first + 1, K)
        block = first // W
        R, G, length = reward[first:last].sum(), utility[first:last].sum(), last - first
        weight = K ** (-1 / 9)
        gain = (weight * G + (R if length * small.rho <= G else 0.0)) / (length * H * (1 + weight))
        assert run.learner.gains[block] == pytest.approx(gain, rel=1e-12)
    np.testing.assert_array_equal(run.value, values[:, 0])
    np.testing.assert_array_equal(run.utility_value, values[:, 1])
    np.testing.assert_array_equal(resets_applied(run.learner.inner), resets_applied(alone))
    np.testing.assert_array_equal(run.dual, duals)
    assert len(set(run.value)) > 20


@pytest.mark.parametrize("rho", [0.7, 0.9])
def test_probabilities_of_three_epochs_by_hand(rho):
    """Every action pays a reward of .6 and a utility of .8: every epoch has one gain, with the reward or without."""
    H, K = 2, 60
    r, g, P = np.full((H, 2, 2), 0.6), np.full((H, 2, 2), 0.8), np.full((H, 2, 2, 2), 0.5)
    env = DriftingCMDP([CMDP(P=P, r=r, g=g, rho=rho * H, mu0=[0.5, 0.5])], [1], episodes=K)
    run = simulate.run(env, NAME, "scaled", 1, None, factors={"rate": 0.7})
    assert run.learner.block == 10  # 60^(5/9) = 9.7
    x = (0.8 * K ** (-1 / 9) + (0.6 if rho < 0.8 else 0.0)) / (1 + K ** (-1 / 9))
    np.testing.assert_allclose(run.learner.gains, x, rtol=1e-12)
    N = 4  # J = ceil(ln 10) = 3
    gamma = 0.7 * math.sqrt(N * math.log(N) / ((math.e - 1) * 6))
    first, second, third = run.learner.probabilities[:3]
    np.testing.assert_allclose(first, [0.25] * 4, rtol=1e-12)
    s, p = [1.0] * 4, first
    for k, following in enumerate((second, third)):
        arm = run.learner.chosen[k]
        s[arm] *= math.exp(gamma * x / p[arm] / 4)
        p = [(1 - gamma) * w / sum(s) + gamma / 4 for w in s]
        np.testing.assert_allclose(following, p, rtol=1e-12)


def test_the_printed_constants_leave_no_frame_to_end(small):
    """The candidate budgets are so small that all arms are one frame as long as the epoch, and so alike."""
    constants = algorithms.constants(NAME, Problem.of(small), "literal")
    assert all(arm.frame == constants.W for arm in constants.arms)
    assert max(constants.budgets) < 1e-15


def test_candidates_span_from_the_first_to_the_last_budget():
    problem = Problem.of(environments.make("grid_world", 100_000))
    found = algorithms.constants(NAME, problem, "scaled").budgets
    assert len(found) == math.ceil(math.log(599)) + 1  # W = 599
    assert found[0] == pytest.approx(0.0775, abs=5e-4)
    assert found[-1] == pytest.approx(46.4, abs=0.05)


def test_without_a_slater_gap_the_printed_constants_are_refused():
    model = CMDP(P=np.ones((1, 1, 2, 1)), r=[[[1.0, 0.0]]], g=[[[0.0, 0.5]]], rho=0.5, mu0=[1.0])
    with pytest.raises(ValueError, match="a positive Slater gap is needed"):
        simulate.run(DriftingCMDP([model], [1], episodes=50), NAME, "literal", solve=False)
