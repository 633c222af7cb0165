"""Tracking Triple-Q beside a plain reading of its equations, and beside Algorithm 1 where its edits are undone."""

import numpy as np
import pytest

from helpers import facts, optimistic_start, random_path, resets_applied
from nscmdp import algorithms, environments, simulate
from nscmdp.cmdp import CMDP
from nscmdp.problem import Problem

NAME, SEED = "tracking_triple_q", 5
PRINTED = {"reset": "full", "rate": "printed", "queue": "estimated"}
FACTORS = {"bonus": 0.05, "btilde": 0.3, "epsilon": 6.0, "eta": 2.0, "frame": 1.5, "memory": 0.3}


@pytest.fixture(scope="module")
def small():
    return random_path(
        np.random.default_rng(12), [1, 70, 71, 212], H=4, tightness=0.7, spread=0.15, name="small"
    )


@pytest.fixture(scope="module")
def grid():
    return environments.make("grid_world", episodes=70, map="6x6", horizon=6, limit=1, success=0.7)


class Equations:
    """Tables and visits, read afresh at every step."""

    name = NAME

    def __init__(self, env, factors, variants, B=None):
        self.f, self.env = facts(env), env
        K, B, H = self.f.K, B or self.f.B, self.f.H
        c = {
            "bonus": 0.0013,
            "btilde": 0.0,
            "epsilon": 4.0,
            "eta": 0.5,
            "frame": 4.0,
            "initial": 4.0,
        }
        c |= {"memory": 0.1, "bump": 0.01, **factors}
        self.v = {"reset": "none", "rate": "floored", "queue": "realised", **variants}
        self.L = min(max(1, int(c["frame"] * K**0.6 / B ** (2 / 3))), K)
        self.longest = max(1, c["memory"] * self.L) if self.v["rate"] == "floored" else np.inf
        self.chi, self.eta = K**0.2, c["eta"] * K**0.2 * B ** (1 / 3)
        self.target = env.rho + c["epsilon"] * B ** (1 / 3) / K**0.2
        self.bump = c["bump"] * H / self.eta
        self.bonus, self.offset = c["bonus"] * H, 2 * H * c["btilde"] * B ** (1 / 3) * K**-0.4
        self.initial = np.array([optimistic_start(env, c["initial"]), [H - h for h in range(H)]])
        self.Z, self.episode, self.G, self.Cbar = 0.0, 0, [], []
        self.forget()

    def forget(self):
        shape = self.env.H, self.env.S, self.env.A
        self.Q, self.C = (
            np.broadcast_to(start[:, None, None], shape).copy() for start in self.initial
        )
        self.N = np.zeros(shape, int)

    def tied(self, h, x):
        F = self.Q[h, x] + self.Z / self.eta * self.C[h, x]
        return np.flatnonzero(F.max() == F)

    def policy(self, h, x):
        return np.isin(np.arange(self.env.A), self.tied(h, x)) / len(self.tied(h, x))

    def act_and_estimate(self, h, x, u):
        tied = self.tied(h, x)
        return int(tied[int(u * len(tied))]), self.Q[h, x, tied].mean(), self.C[h, x, tied].mean()

    def learn_from_estimate(self, h, x, a, r, g, y, v, w):
        self.N[h, x, a] += 1
        t = min(self.N[h, x, a], self.longest)
        alpha = (self.chi + 1) / (self.chi + t)
        b = self.bonus * np.sqrt(alpha) + self.offset
        self.Q[h, x, a] += alpha * (r + v + b - self.Q[h, x, a])
        self.C[h, x, a] += alpha * (g + w + b - self.C[h, x, a])
        if h == 0:
            self.G.append(0.0)
            self.Cbar.append(self.C[h, x, a])
        self.G[-1] += g

    def end_of_episode(self):
        self.episode += 1
        if self.v["queue"] == "realised":
            self.Z = max(0.0, self.Z + (self.target - self.G[-1]) / self.L)
        if self.episode % self.L == 0:
            of = {"realised_at_frames": self.G, "estimated": self.Cbar}.get(self.v["queue"])
            if of is not None:
                self.Z = max(0.0, self.Z + self.target - np.mean(of[-self.L :]))
            if self.v["reset"] == "full":
                self.forget()
            if self.v["reset"] == "bump":
                start = self.initial[0][:, None, None]
                self.Q = np.where(start > self.Q, np.minimum(self.Q + self.bump, start), self.Q)

    def dual(self):
        return self.Z / self.eta


CASES = [
    ({}, {}),
    (FACTORS, {}),
    (FACTORS, {"reset": "full"}),
    ({**FACTORS, "bump": 0.05}, {"reset": "bump"}),
    (FACTORS, {"rate": "printed"}),
    (FACTORS, {"queue": "estimated"}),
    (FACTORS, {"queue": "realised_at_frames", "reset": "full"}),
    (FACTORS, PRINTED),
]


@pytest.mark.usefixtures("a_window_for_each_episode")
@pytest.mark.parametrize("world", ["small", "grid"])
@pytest.mark.parametrize(("factors", "variants"), CASES)
def test_the_learner_does_what_the_equations_say(request, world, factors, variants):
    env = request.getfixturevalue(world)
    plain = Equations(env, factors, variants)
    slow = simulate.run(env, plain, seed=SEED, solve=False)
    run = simulate.run(env, NAME, "scaled", SEED, factors=factors, variants=variants, solve=False)
    table = resets_applied(run.learner)
    for row, expected in enumerate((plain.Q, plain.C, plain.N)):
        np.testing.assert_allclose(table[:, :, row], expected, rtol=1e-9)
    for part in ("dual", "reward", "utility", "value", "utility_value"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-9, atol=1e-12)
    if world == "small" and factors:
        assert plain.N.max() > plain.longest or plain.v["rate"] == "printed", (
            "the rate must reach its floor"
        )
        assert env.episodes // plain.L >= 2, "frames must end"
        assert slow.dual.max() > 0


@pytest.mark.parametrize(
    "factors", [{}, {key: value for key, value in FACTORS.items() if key != "memory"}]
)
def test_without_its_edits_it_is_algorithm_1_to_the_last_bit(monkeypatch, small, factors):
    theirs = simulate.run(
        small, "nonstationary_triple_q", "scaled", SEED, factors=factors, windows=50
    )
    named = simulate.stream
    monkeypatch.setattr(
        simulate,
        "stream",
        lambda what, *key: named(
            what, *("nonstationary_triple_q" if k == NAME else k for k in key)
        ),
    )
    ours = simulate.run(small, NAME, "scaled", SEED, factors=factors, variants=PRINTED, windows=50)
    for part in ("reward", "utility", "dual", "value", "utility_value"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))
    np.testing.assert_array_equal(resets_applied(ours.learner), resets_applied(theirs.learner))
    edited = simulate.run(small, NAME, "scaled", SEED, factors=factors, windows=50)
    assert not np.array_equal(edited.value, theirs.value)


def test_the_rate_and_the_bonus_stop_falling_after_the_memory():
    problem = Problem.of(environments.make("menu", 4096))
    learner = algorithms.make(NAME, problem, "scaled", {"frame": 2.0, "memory": 0.25})
    chi, last = 4096**0.2, 0.25 * learner.frame
    t = np.arange(1, len(learner.rate))
    np.testing.assert_allclose(
        learner.rate[1:], np.maximum((chi + 1) / (chi + t), (chi + 1) / (chi + last)), rtol=1e-14
    )
    assert len(learner.rate) > last
    np.testing.assert_allclose(
        learner.bonus, 0.0013 * problem.H * np.sqrt(learner.rate), rtol=1e-14
    )


def test_the_queue_is_the_utility_owed(small):
    """Where it never reaches 0, Z is the sum of (rho + eps - G_k)/L: what is owed is never forgotten."""
    run = simulate.run(small, NAME, "scaled", SEED, None, factors={"epsilon": 30.0})
    owed = small.episodes * run.learner.target - (run.utility * run.window_episodes).sum()
    assert pytest.approx(owed / run.learner.frame, rel=1e-12) == run.learner.now[0].Z


def given_up(K):
    """Two arms, one of which is worse by 0.2 in the first half of a run and better by 0.2 in the second; B = 0.4."""

    def model(second):
        return CMDP(
            P=np.ones((1, 1, 2, 1)), r=[[[0.5, second]]], g=np.ones((1, 1, 2)), rho=0.5, mu0=[1.0]
        )

    return environments.path(
        [model(0.3), model(0.3), model(0.7), model(0.7)], [1, K // 2, K // 2 + 1, K]
    )


@pytest.mark.parametrize("K", [1024, 8192])
def test_an_arm_that_was_given_up_is_not_tried_again_unless_it_is_bumped(K):
    """So the regret of the learner without any reset is linear, at a budget that does not grow."""
    env = given_up(K)
    regret = {
        reset: simulate.run(
            env, NAME, "scaled", SEED, factors={"bump": 0.3}, variants={"reset": reset}
        ).regret[-1]
        / K
        for reset in ("none", "bump", "full")
    }
    assert regret["none"] == pytest.approx(0.1, abs=0.01)
    assert max(regret["bump"], regret["full"]) < 0.06


@pytest.mark.parametrize("chi", [1.0, 9.6])
@pytest.mark.parametrize("longest", [1.0, 7.5, 40.0])
def test_the_lemma_on_learning_rates_holds_with_the_floor(chi, longest):
    """Lemma 3 with min(t, memory L) for t, and at most in place of equal in (d)."""
    n = 400
    t = np.minimum(np.arange(1, n + 1), longest)
    alpha = (chi + 1) / (chi + t)
    for last in (1, 5, 30, 150):
        weights = alpha[:last] * np.append(np.cumprod(1 - alpha[1:last][::-1])[::-1], 1.0)
        assert weights.sum() == pytest.approx(1.0)
        root, end = (weights / np.sqrt(chi + t[:last])).sum(), chi + t[last - 1]
        assert 1 / np.sqrt(end) - 1e-12 <= root <= 2 / np.sqrt(end)
        assert (weights**2).sum() <= (chi + 1) / end + 1e-12
        later = alpha[last - 1] * np.append(1.0, np.cumprod(1 - alpha[last:]))
        assert later.sum() <= 1 + 1 / chi + 1e-12
