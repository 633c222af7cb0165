"""Bandit over bandit: an outer Exp3 chooses, block by block, the constants that an inner learner goes on with.

    block i of W episodes:   draw an arm A_i by Exp3, restart the inner learner with the constants of A_i,
                             R_i, G_i = reward and utility collected in the block,   Exp3 gains x_i for A_i

    paper      x = ( G/K^lambda + R 1{G >= W rho} ) / ( W H (1 + K^-lambda) )                              eq. bandit-re
    dual       x = ( R + Y G ) / ( W H (1 + xi) ),   then Y <- clip_[0,xi]( Y + eta (rho - G/W) )          appendix
    repaired   x = ( R + W H ) 1{G >= W (rho + eps')} / ( 2 W H )                   docs/repaired_algorithm_2.md

The appendix's outer dual Y is that of before the block (Exp3 needs gains that do not depend on the draw), and the
importance weight 1/p that it leaves out is Exp3's. A last, shorter block is measured by its own length in place of W.

The inner learner is any that has ``restart``; what of it survives a restart is for that operation to say.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.algorithms._exp3 import Exp3, choose, exp3, reinforce
from nscmdp.algorithms._inner import last_inside, next_inside, plays_inner
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    begin_episode,
    end_of_episode,
    last_lesson,
    next_action,
    operation,
    restart,
    scalars,
)
from nscmdp.problem import Problem


class GainRule(NamedTuple):
    """The gain of a block, as the bandit sees it."""

    weight: float  # paper: K^-lambda; dual: xi; repaired: 0
    dual: bool
    step: float = 0.0  # dual: eta of Y
    feasible: float = 0.0  # what a feasible block gains besides R, over W H; repaired: 1


@plays_inner
class BanditOverBandit(NamedTuple):
    inner: Any
    bandit: Exp3
    rule: GainRule
    now: Array  # scalars: episodes so far, R and G of the block, the outer dual Y
    chosen: NDArray[np.int64]  # (blocks,): the arm of each block
    probabilities: Array  # (blocks, arms): Exp3's, in each block
    gains: Array  # (blocks,)
    block: int  # W
    episodes: int  # K
    horizon: int
    rho: float  # repaired: rho + eps'

    @property
    def traces(self) -> dict[str, Array]:
        """Exp3's probabilities, the arm played and its gain, one row per block."""
        return {
            "probabilities": self.probabilities,
            "chosen": self.chosen[:, None].astype(float),
            "gain": self.gains[:, None],
        }


def bandit_over_bandit(
    problem: Problem, inner: Any, arms: int, block: int, gamma: float, rule: GainRule
) -> BanditOverBandit:
    blocks = -(-problem.K // block)
    return BanditOverBandit(
        inner,
        exp3(arms, gamma),
        rule,
        scalars(episode=0, R=0.0, G=0.0, Y=0.0),
        np.zeros(blocks, np.int64),
        np.zeros((blocks, arms)),
        np.zeros(blocks),
        block,
        problem.K,
        problem.H,
        problem.rho,
    )


def epoch(problem: Problem, length: float) -> int:
    """W, a whole number of episodes."""
    return int(min(max(np.round(length), 1), problem.K))


def last_arm(W: int) -> int:
    """J = ceil(ln W)"""
    return max(1, int(np.ceil(np.log(W))))


def ladder(W: int) -> Array:
    """W^(j/J), j = 0..J"""
    J = last_arm(W)
    return W ** (np.arange(J + 1) / J)


@jit
def begin_block(learner, u):
    """Choose an arm and restart the inner learner with it; returns a number as uniform as u."""
    arm, rest = choose(learner.bandit, u)
    block = learner.now[0].episode // learner.block
    learner.chosen[block] = arm
    for j in range(len(learner.bandit.probabilities)):
        learner.probabilities[block, j] = learner.bandit.probabilities[j]
    learner.now[0].R = 0.0
    learner.now[0].G = 0.0
    restart(learner.inner, arm)
    return rest


@jit
def end_block(learner):
    now, rule = learner.now[0], learner.rule
    block = (now.episode - 1) // learner.block
    length = now.episode - block * learner.block
    if rule.dual:
        gain = now.R + now.Y * now.G
        now.Y = min(max(now.Y + rule.step * (learner.rho - now.G / length), 0.0), rule.weight)
    else:
        missed = length * learner.rho > now.G
        kept = now.R + rule.feasible * (length * learner.horizon)
        gain = rule.weight * now.G + (0.0 if missed else kept)
    most = 1.0 + rule.weight + rule.feasible
    learner.gains[block] = gain / (length * learner.horizon * most)
    reinforce(learner.bandit, learner.chosen[block], learner.gains[block])


@operation(begin_episode, BanditOverBandit)
def _(learner, u):
    rest = u
    if learner.now[0].episode % learner.block == 0:
        rest = begin_block(learner, u)
    begin_episode(learner.inner, rest)


@operation(next_action, BanditOverBandit)
def _(learner, h, x, a, r, g, y, u, probabilities):
    learner.now[0].R += r
    learner.now[0].G += g
    return next_inside(learner.inner, h, x, a, r, g, y, u, probabilities)


@operation(last_lesson, BanditOverBandit)
def _(learner, h, x, a, r, g, y):
    learner.now[0].R += r
    learner.now[0].G += g
    last_inside(learner.inner, h, x, a, r, g, y)


@operation(end_of_episode, BanditOverBandit)
def _(learner):
    end_of_episode(learner.inner)
    now = learner.now[0]
    now.episode += 1
    if now.episode % learner.block == 0 or now.episode == learner.episodes:
        end_block(learner)
