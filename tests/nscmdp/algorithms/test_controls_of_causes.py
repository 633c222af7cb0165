"""Controls that tell causes apart: Algorithm 1 crossed with Triple-Q, and its queue over the exact model."""

import math

import numpy as np
import pytest
from test_triple_q import SEED, Listing, algorithm_1, close, iota_of

from helpers import facts, random_path, resets_applied
from nscmdp import algorithms, environments, optimum, simulate
from nscmdp.problem import Problem

CROSSED = {
    "frame": "triple_q",
    "eta": "triple_q",
    "epsilon": "triple_q",
    "no_btilde": True,
    "reset": "bump",
}


@pytest.fixture(scope="module")
def small():
    return random_path(
        np.random.default_rng(12), [1, 70, 71, 212], H=4, tightness=0.7, spread=0.15, name="small"
    )


class Crossed(Listing):
    """Algorithm 1's listing with choices of Triple-Q's."""

    def __init__(self, env, setting, factors, variants):
        f = facts(env)
        tame = facts(env)
        tame.B = 1.0
        constants, stationary = (
            algorithm_1(f, setting, factors),
            algorithm_1(tame, setting, factors),
        )
        for choice, constant in (("frame", "L"), ("eta", "eta"), ("epsilon", "eps")):
            if variants.get(choice) == "triple_q":
                setattr(constants, constant, getattr(stationary, constant))
        if variants.get("no_btilde") and setting != "authors":
            scale = 1.0 if setting == "literal" else factors.get("btilde", 0.0)
            offset, with_btilde = 2 * f.H * scale * f.B ** (1 / 3) * f.K**-0.4, constants.bonus
            constants.bonus = lambda t: with_btilde(t) - offset
        if "reset" in variants:
            constants.frame_end = variants["reset"]
        if setting == "authors":
            constants.bump, constants.keep_c = 0.03, True
            constants.put_back = lambda q, c, h: q > 8.5 * f.H / 25 or c > f.H
        else:
            least = constants.initial_q
            literal = 2 * f.H**3 * math.sqrt(iota_of(f)) / constants.eta
            constants.bump = (
                literal if setting == "literal" else factors.get("bump", 0.01) * f.H / constants.eta
            )
            constants.put_back = lambda q, c, h: q >= least[h] or c >= least[h]
        super().__init__(env, constants, "nonstationary_triple_q")
        self.reset_queue = variants.get("queue") == "reset"

    def end_frame(self):
        if self.reset_queue:
            self.Z = 0.0
        super().end_frame()


VARIANTS = [
    {"reset": "bump"},
    {"frame": "triple_q"},
    {"eta": "triple_q"},
    {"epsilon": "triple_q"},
    {"queue": "reset"},
    {"no_btilde": True},
    {"queue": "reset", "reset": "counts", "eta": "triple_q"},
    CROSSED,
]
SETTINGS = [
    ("literal", {}),
    ("authors", {}),
    ("scaled", {"btilde": 0.4, "bump": 0.2, "epsilon": 1.0, "frame": 2.0}),
]


@pytest.mark.parametrize("variants", VARIANTS, ids=lambda v: " ".join(v))
@pytest.mark.parametrize(("setting", "factors"), SETTINGS)
def test_algorithm_1_crossed_with_triple_q_does_what_the_listing_says(
    small, setting, factors, variants
):
    plain = Crossed(small, setting, factors, variants)
    slow = simulate.run(small, plain, seed=SEED, windows=small.episodes, solve=False)
    choices = {"factors": factors, "variants": variants, "windows": small.episodes}
    run = simulate.run(small, "nonstationary_triple_q", setting, SEED, solve=False, **choices)
    table = resets_applied(run.learner)
    assert run.learner.now[0].frame == plain.c.L < small.episodes
    close(table[:, :, 0], plain.Q)
    close(table[:, :, 1], plain.C)
    np.testing.assert_array_equal(table[:, :, 2], plain.N)
    for part in ("value", "utility_value", "dual"):
        close(getattr(run, part), getattr(slow, part))


@pytest.mark.parametrize("setting", ["literal", "authors", "scaled"])
@pytest.mark.parametrize("cbar", ["after", "before"])
def test_with_all_of_triple_qs_choices_algorithm_1_is_triple_q(small, setting, cbar):
    problem = Problem.of(small)
    choices = {**CROSSED, "cbar": cbar, "backup": "taken" if setting == "authors" else "greedy"}
    ours = algorithms.make("nonstationary_triple_q", problem, setting, variants=choices)
    theirs = algorithms.make("triple_q", problem, setting, variants={"cbar": cbar})
    for name, found, expected in zip(ours._fields, ours, theirs, strict=True):
        np.testing.assert_array_equal(found, expected, err_msg=name)


def test_a_queue_that_is_reset_never_exceeds_what_one_frame_adds(small):
    choices = {"factors": {"epsilon": 20.0, "frame": 0.5}, "windows": small.episodes}
    carried, reset = (
        simulate.run(
            small,
            "nonstationary_triple_q",
            "scaled",
            SEED,
            None,
            variants={"queue": queue},
            **choices,
        )
        for queue in ("carried", "reset")
    )
    assert (reset.dual >= 0).all()
    assert (reset.dual * reset.learner.now[0].eta <= reset.learner.now[0].target).all()
    assert carried.dual[-1] > 2 * reset.dual[-1] > 0


class ExactQueue:
    """Algorithm 1's queue; each episode the best policy for r + (Z/eta) g in the episode's own model."""

    name = "exact_model_primal_dual"

    def __init__(self, env, setting, factors, variants):
        f, tame = facts(env), facts(env)
        tame.B = 1.0
        own, stationary = algorithm_1(f, setting, factors), algorithm_1(tame, setting, factors)
        self.L = stationary.L if variants.get("frame") == "triple_q" else own.L
        self.eta = stationary.eta if variants.get("eta") == "triple_q" else own.eta
        self.eps, self.reset = own.eps, variants.get("queue") == "reset"
        self.env, self.episode, self.Z, self.Cbar = env, 0, 0.0, 0.0

    def begin_episode(self, u):
        self.episode += 1
        model = self.env.at(self.episode)
        self.pi, V, W = np.zeros((model.H, model.S, model.A)), np.zeros(model.S), np.zeros(model.S)
        for h in reversed(range(model.H)):
            v, w = model.r[h] + model.P[h] @ V, model.g[h] + model.P[h] @ W
            a = (v + self.Z / self.eta * w).argmax(axis=1)
            self.pi[h, np.arange(model.S), a] = 1.0
            V, W = v[np.arange(model.S), a], w[np.arange(model.S), a]
        self.W = W

    def policy(self, h, x):
        return self.pi[h, x]

    def learn(self, h, x, a, r, g, y):
        if h == 0:
            self.Cbar += self.W[x]

    def end_of_episode(self):
        if self.episode % self.L == 0:
            self.Z = max(
                0.0, (0.0 if self.reset else self.Z) + self.env.rho + self.eps - self.Cbar / self.L
            )
            self.Cbar = 0.0

    def dual(self):
        return self.Z / self.eta


@pytest.mark.parametrize(
    "variants", [{}, {"frame": "triple_q"}, {"eta": "triple_q"}, {"queue": "reset"}]
)
@pytest.mark.parametrize(
    ("setting", "factors"),
    [("literal", {}), ("authors", {}), ("scaled", {"epsilon": 0.3, "eta": 0.2, "frame": 0.4})],
)
def test_the_queue_over_the_exact_model_does_what_its_description_says(
    small, setting, factors, variants
):
    plain = ExactQueue(small, setting, factors, variants)
    slow = simulate.run(small, plain, seed=SEED, windows=small.episodes, solve=False)
    choices = {"factors": factors, "variants": variants, "windows": small.episodes}
    run = simulate.run(small, "exact_model_primal_dual", setting, SEED, solve=False, **choices)
    for part in ("value", "utility_value", "dual"):
        np.testing.assert_allclose(getattr(run, part), getattr(slow, part), rtol=1e-9)
    assert len(set(slow.dual)) > 2


def test_without_drift_the_queue_over_the_exact_model_finds_the_multiplier():
    """Frames of one episode, no tightening: on average it earns the optimum and keeps the constraint."""
    env = environments.make("menu", episodes=3000, legs=1)
    still = environments.path([env.anchors[0]], [1], episodes=3000, name="still")
    factors = {"epsilon": 0.0, "frame": 3000**-0.6, "eta": 100.0}
    run = simulate.run(still, "exact_model_primal_dual", "scaled", 1, factors=factors)
    best = optimum.constrained(still.anchors[0])
    late = slice(2000, 3000)
    assert run.value[late].mean() == pytest.approx(best.value, abs=0.02)
    assert run.utility_value[late].mean() == pytest.approx(still.rho, abs=0.02)
    assert run.dual[-1] == pytest.approx(best.multiplier, rel=0.1)
