"""A small menu whose best dish changes: the environment of the growth study.

Three states x, four steps, a uniform start. Every (h,x) offers the same four dishes, in an order of its own:

    dish        reward            utility         over one leg, from its first end to the other
    falling     .9 m -> .4 m      .2 -> .3        m = 1, .85, .7 in the three states
    rising      .4 m -> .9 m      .2 -> .3
    useful      .2 m              .95 -> .85
    junk        .1 m              .2

and (h,x,a) leads to a successor of its own with probability .7 -> .6, else to any of the three states, uniformly. The
orders and successors come from ``seed``: every seed is another instance of the same difficulty. Half an episode must be
useful (rho = 2 of H = 4), so that the constraint binds in every episode, with room to spare (the best utility is always
more than rho + 1). In the middle of a leg falling and rising pay the same, and a learner must change over.

By the definitions one leg has B_r = 4 (.5) = 2, B_g = 4 (.1) = .4 and B_p = 4 (2/15) = .533..., B = 2.933... in all,
whatever the seed and K. ``legs`` walks it to and fro. With ``switch_at`` the model changes from one end to the other
abruptly, at each of these shares of the run, and rests in between.

``binds`` says when the constraint binds: "always", as above; "late", where falling and rising begin with a utility of
.8 and end with .2, so that the best dishes are useful enough in the first half of a leg; "never", where rho = .5 is
less than the utility of any policy.
"""

from typing import Literal

import numpy as np

from nscmdp.cmdp import CMDP
from nscmdp.drift import DriftingCMDP, switches, to_and_fro

H = 4
SCALE = np.array([1.0, 0.85, 0.7])  # m, by state
# at the two ends of a leg; of falling, rising, useful, junk
REWARD = np.array([[0.9, 0.4, 0.2, 0.1], [0.4, 0.9, 0.2, 0.1]])
UTILITY = np.array([[0.2, 0.2, 0.95, 0.2], [0.3, 0.3, 0.85, 0.2]])
FALLING = np.array([[0.8, 0.8, 0.95, 0.2], [0.2, 0.2, 0.85, 0.2]])
BINDS = {"always": (UTILITY, 2.0), "late": (FALLING, 2.0), "never": (UTILITY, 0.5)}  # with rho
OWN_SUCCESSOR = (0.7, 0.6)


def menu(
    episodes: int,
    *,
    legs: int = 1,
    switch_at: tuple[float, ...] = (),
    binds: Literal["always", "late", "never"] = "always",
    seed: int = 0,
) -> DriftingCMDP:
    if switch_at and legs != 1:
        raise ValueError(f"legs = {legs} with switch_at = {switch_at}: expected one of them")
    if binds not in BINDS:
        raise ValueError(f"binds = {binds!r}: expected 'always', 'late' or 'never'")
    utility, rho = BINDS[binds]
    S, A = len(SCALE), REWARD.shape[1]
    rng = np.random.default_rng([seed, 41])
    # (h,x,a): which dish action a is
    dish = rng.permuted(np.broadcast_to(np.arange(A), (H, S, A)), axis=2)
    own = np.eye(S)[rng.integers(S, size=(H, S, A))]

    def anchor(end: int) -> CMDP:
        return CMDP(
            P=OWN_SUCCESSOR[end] * own + (1 - OWN_SUCCESSOR[end]) / S,
            r=REWARD[end][dish] * SCALE[:, None],
            g=utility[end][dish],
            rho=rho,
            mu0=np.full(S, 1 / S),
        )

    knots, route = [1], [0]
    if episodes > 1 and switch_at:
        knots, route = switches(switch_at, episodes)
    elif episodes > 1:
        knots, route = to_and_fro([0.0, 1.0], legs, episodes)
    ends = [anchor(0), anchor(1)]
    return DriftingCMDP(ends, knots, route, episodes=episodes, name="menu", seed=seed)
