"""The learner that Algorithm 1 and Triple-Q have in common: two optimistic tables and a virtual queue.

    a_h = argmax_a Q_h(x_h,a) + (Z/eta) C_h(x_h,a)                                        ties drawn uniformly
    t = N_h(x_h,a_h) + 1,   alpha_t = (chi+1)/(chi+t)
    Q_h(x_h,a_h) <- (1-alpha_t) Q_h + alpha_t (r + V_{h+1}(x_{h+1}) + b_t + 2 H b~)
    C_h(x_h,a_h) <- (1-alpha_t) C_h + alpha_t (g + W_{h+1}(x_{h+1}) + b_t + 2 H b~)
    V_h(x) = Q_h(x,a'),  W_h(x) = C_h(x,a'),   a' = argmax_a Q_h(x,a) + (Z/eta) C_h(x,a)  their mean over ties
    every L episodes:  Z <- (Z + rho + eps - Cbar/L)^+,  counts to 0, and the tables by the frame-end rule

Q_h(x,.) changes only on visits to (h,x), Z only at frame ends, where Algorithm 1 resets everything: V_h(x) read when x
is visited is the V_h(x) that its listing stored at the visit before. So no table of V and W is needed where a frame's
end resets them too; under the other frame-end rules V and W are those of the tables and the Z of the day. Two switches:

    kept     V and W outlive a frame's end, as in the listing to the letter, which resets Q and C alone
    taken    V and W are Q and C of the action taken, explored ones included, as in the authors' notebook

A frame's end touches no table: an entry stores its visits plus what ``zero`` was, ``zero`` then grows past all of
them, and the next visit to (h,x) finds them below it and applies the frame-end rule as often as it was due.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import optimum
from nscmdp.algorithms._greedy import greedy_of_two, tied_of_two
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import (
    act_and_estimate,
    certain_action,
    dual,
    end_of_episode,
    learn_from_estimate,
    operation,
    restart,
    scalars,
)
from nscmdp.problem import Problem

Q, C, N = 0, 1, 2  # rows of the table of one (h,x)

FULL = 0  # every entry back to its initial value (Algorithm 1)
BUMP = 1  # Q + bump; where Q >= cap_q Q_0 or C >= cap_c C_0, back to the initial values Q_0, C_0 (Triple-Q)
COUNTS = 2  # only the counts
LOWER = 0.4

RULES = {"full": FULL, "bump": BUMP, "counts": COUNTS}


class Constants(NamedTuple):
    frame: int  # L
    chi: float
    eta: float
    eps: float
    bonus: Callable[[Array], Array]  # b_t
    initial_q: Array  # (H,): what Q_h starts from
    initial_c: Array
    bump: float  # Q + bump at a frame's end, where the rule is BUMP; back to the initial values ...
    cap_q: float = 1.0  # ... from cap_q times the initial Q on
    cap_c: float = 1.0
    keep_c: bool = False  # where Q is put back, C stays
    btilde: float = 0.0
    taken: bool = False  # V and W are those of the action taken
    floor: float = 0.0  # this share of the actions always explores, and of the others ...
    explore: tuple[float, float, int] = (
        0.0,
        1.0,
        1,
    )  # ... a share at first, its decay, every so often


class TripleQ(NamedTuple):
    table: Array  # (H, S, 3, A): Q, C and zero + the visits N, which one visit reads together
    initial: Array  # (H, 2): what Q and C start from
    rate: Array  # (L+2,): alpha_t
    bonus_q: Array  # (L+2,): b_t for Q
    bonus_c: Array
    now: Array  # scalars: Z, Cbar, weight = Z/eta, L, eta, rho + eps and 2 H b~ in use, exploration, episodes, zero
    values: Array  # (H, S, 2): V and W as of the last visit, where they are kept; else (1, 1, 2)
    arms: Array  # (n, 4): L, eta, rho + eps and 2 H b~ to choose from; one alone but for a bandit over bandits
    stride: float  # zero grows by this: more than the visits of any frame
    rule: int  # the frame-end rule
    bump: float
    cap_q: float
    cap_c: float
    keep_c: bool  # the bump rule leaves C as it is
    forget: bool  # a frame's end forgets Z before it adds rho + eps - Cbar/L
    carry: bool  # Z survives a restart
    before: bool  # Cbar adds C_1 as it was before the update
    taken: bool  # V and W are those of the action taken
    kept: bool  # V and W outlive a frame's end
    decay: float  # a share of the actions explores: multiplied by this after the first episode and then ...
    decay_every: int  # ... every so many, ...
    floor: float  # ... and of the others this share, always


def triple_q(
    problem: Problem,
    arms: list[Constants],
    *,
    rule: str,
    before: bool = False,
    forget: bool = False,
    carry: bool = False,
    taken: bool = False,
    kept: bool = False,
) -> TripleQ:
    """The learner before its first episode; a restart changes L, eta, eps and b~ to those of another of the arms."""
    for arm in arms:
        check_eta(arm.eta)
    if kept and (taken or rule != "full" or len(arms) > 1):
        raise ValueError(
            "values that outlive a frame's end: expected one arm, reset 'full' and the greedy backup"
        )
    if len(arms) > 1 and rule != "full":
        raise ValueError(
            f"rule = {rule!r} with {len(arms)} arms: a restart forgets everything, expected 'full'"
        )
    first, longest = arms[0], max(arm.frame for arm in arms)
    initial = np.ascontiguousarray(np.stack([first.initial_q, first.initial_c], axis=1))
    table = np.zeros((problem.H, problem.S, 3, problem.A))
    table[:, :, :N] = initial[:, None, :, None]
    t = visits(longest)
    b = first.bonus(t)
    floor, (start, decay, every) = first.floor, first.explore
    choices = np.array(
        [(arm.frame, arm.eta, problem.rho + arm.eps, 2 * problem.H * arm.btilde) for arm in arms]
    )
    return TripleQ(
        table=table,
        initial=initial,
        rate=(first.chi + 1) / (first.chi + t),
        bonus_q=b,
        bonus_c=b,
        now=scalars(
            Z=0.0,
            Cbar=0.0,
            weight=0.0,
            frame=first.frame,
            eta=choices[0, 1],
            target=choices[0, 2],
            offset=choices[0, 3],
            explore=1 - (1 - floor) * (1 - start),
            decayed=start,
            episode=0,
            zero=0.0,
        ),
        values=np.broadcast_to(initial[:, None], (problem.H, problem.S, 2)).copy()
        if kept
        else np.zeros((1, 1, 2)),
        arms=choices,
        stride=longest + 2.0,
        rule=RULES[rule],
        bump=first.bump,
        cap_q=first.cap_q,
        cap_c=first.cap_c,
        keep_c=first.keep_c,
        forget=forget,
        carry=carry,
        before=before,
        taken=taken,
        kept=kept,
        decay=decay,
        decay_every=every,
        floor=floor,
    )


def check_eta(eta: float) -> None:
    if eta <= 0:
        raise ValueError(f"eta = {eta}, expected a positive number")


def visits(frame: int) -> NDArray[np.float64]:
    """t = 1..L+1 at index t, and a harmless 1 at index 0: an entry is visited at most once per episode."""
    return np.maximum(np.arange(frame + 2.0), 1.0)


def iota_of(problem: Problem) -> float:
    """128 log(sqrt(2SAH) K)"""
    return 128 * np.log(np.sqrt(2 * problem.S * problem.A * problem.H) * problem.K)


def remaining(horizon: int) -> Array:
    """H - h + 1 for h = 1..H: the most that the steps from h on can pay."""
    return np.arange(horizon, 0, -1.0)


def optimistic(problem: Problem, initial: float, start: str) -> Array:
    """What Q_h starts from: ``initial`` times a bound of V_h along the path, at most H - h + 1 or that bound.

    ``start`` "below": a share LOWER of it, at which a wrong action that was tried first can lock in.
    """
    if initial < 1 and start == "optimistic":
        raise ValueError(
            f"initial = {initial:g} starts Q below V: expected at least 1, or the variant start: below"
        )
    bounds = value_bounds(problem.env)
    highest = np.minimum(np.maximum(remaining(problem.H), bounds), initial * bounds)
    return highest * (LOWER if start == "below" else 1.0)


value_bounds = lru_cache(maxsize=1)(optimum.value_bounds)  # the arms of a bandit ask for the same


def frame_range(problem: Problem, frames: float, unit: float) -> tuple[float, float]:
    """Factors of ``unit`` that make frames from K^0.6 / 10 episodes to so many that ``frames`` of them end in a run."""
    longest = problem.K / frames
    return min(0.1 * problem.K**0.6, longest / 2) / unit, longest / unit


@jit
def apply_pending_resets(table, h, learner):
    """Apply the frame-end rule to the table (3,A) of one (h,x), once a frame that ended since its last visit."""
    q0, c0, zero = learner.initial[h, 0], learner.initial[h, 1], learner.now[0].zero
    missed = int(zero / learner.stride) - int(table[N, 0] / learner.stride)
    for a in range(table.shape[1]):
        table[N, a] = zero
        if learner.rule == FULL:
            table[Q, a], table[C, a] = q0, c0
        elif learner.rule == BUMP:
            for _ in range(missed):
                table[Q, a] += learner.bump
                if table[Q, a] >= learner.cap_q * q0 or table[C, a] >= learner.cap_c * c0:
                    table[Q, a] = q0
                    if not learner.keep_c:
                        table[C, a] = c0


def resets_applied(learner: TripleQ) -> Array:
    """The table with every frame's end applied and plain visits."""
    table, zero = learner.table.copy(), learner.now[0].zero
    for h, x in np.ndindex(*table.shape[:2]):
        if table[h, x, N, 0] < zero:
            apply_pending_resets(table[h, x], h, learner)
    table[:, :, N] -= zero
    return table


@operation(act_and_estimate, TripleQ)
def _(learner, h, x, u):
    now = learner.now[0]
    if learner.table[h, x, N, 0] < now.zero:
        apply_pending_resets(learner.table[h, x], h, learner)
    weight, explore = now.weight, now.explore
    # argmax_a Q + (Z/eta) C
    best, ties, action, v, w = greedy_of_two(learner.table, h, x, weight)
    if ties > 1:
        v, w = v / ties, w / ties
        nth = int((u - explore) / (1.0 - explore) * ties) if u >= explore else 0
        action = tied_of_two(learner.table, h, x, weight, best, nth)
    if u < explore:
        action = int(u / explore * learner.table.shape[3])
    if learner.taken:
        v, w = learner.table[h, x, Q, action], learner.table[h, x, C, action]
    elif learner.kept:
        v, w = learner.values[h, x, 0], learner.values[h, x, 1]
    return action, v, w


@jit
def note_values(learner, h, x):
    """V_h(x) and W_h(x) of the greedy action after an update, their mean over ties."""
    _, ties, _, v, w = greedy_of_two(learner.table, h, x, learner.now[0].weight)
    learner.values[h, x, 0], learner.values[h, x, 1] = v / ties, w / ties


@operation(learn_from_estimate, TripleQ)
def _(learner, h, x, action, r, g, y, v, w):
    now = learner.now[0]
    a = np.uint32(action)  # unsigned: a signed index is tested for counting from the end
    learner.table[h, x, N, a] += 1.0
    t = np.uint32(int(learner.table[h, x, N, a] - now.zero))
    alpha = learner.rate[t]
    if h == 0 and learner.before:
        now.Cbar += learner.table[h, x, C, a]
    more_q, more_c = learner.bonus_q[t] + now.offset, learner.bonus_c[t] + now.offset
    # Q <- (1-alpha_t) Q + alpha_t (r + V + b_t + 2 H b~), and C likewise
    learner.table[h, x, Q, a] = (1.0 - alpha) * learner.table[h, x, Q, a] + alpha * (r + v + more_q)
    learner.table[h, x, C, a] = (1.0 - alpha) * learner.table[h, x, C, a] + alpha * (g + w + more_c)
    if h == 0 and not learner.before:
        now.Cbar += learner.table[h, x, C, a]
    if learner.kept:
        note_values(learner, h, x)


@operation(end_of_episode, TripleQ)
def _(learner):
    now = learner.now[0]
    now.episode += 1
    if (now.episode - 1) % learner.decay_every == 0:
        now.decayed *= learner.decay
        now.explore = 1.0 - (1.0 - learner.floor) * (1.0 - now.decayed)
    if now.episode % now.frame == 0:
        # Z <- (Z + rho + eps - Cbar/L)^+
        now.Z = max(0.0, (0.0 if learner.forget else now.Z) + now.target - now.Cbar / now.frame)
        now.Cbar = 0.0
        now.weight = now.Z / now.eta
        now.zero += learner.stride


@operation(certain_action, TripleQ)
def _(learner, h, x, probabilities):
    now = learner.now[0]
    if learner.table[h, x, N, 0] < now.zero:
        apply_pending_resets(learner.table[h, x], h, learner)
    weight, explore, actions = now.weight, now.explore, learner.table.shape[3]
    best, ties, action, _, _ = greedy_of_two(learner.table, h, x, weight)
    if ties == 1 and explore == 0.0:
        return action
    for a in range(actions):
        f = learner.table[h, x, Q, a] + weight * learner.table[h, x, C, a]
        probabilities[a] = explore / actions + ((1.0 - explore) / ties if f == best else 0.0)
    return -1


@operation(dual, TripleQ)
def _(learner):
    return learner.now[0].weight


@operation(restart, TripleQ)
def _(learner, arm):
    now, chosen = learner.now[0], learner.arms[arm]
    now.frame, now.eta, now.target, now.offset = int(chosen[0]), chosen[1], chosen[2], chosen[3]
    if not learner.carry:
        now.Z = 0.0
    now.Cbar = 0.0
    now.weight = now.Z / now.eta
    now.episode = 0
    now.zero += learner.stride
