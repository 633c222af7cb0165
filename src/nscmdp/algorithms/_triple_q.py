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

Tables and their greedy action are in ``_tables.py``, what a frame's end does to them in ``_frame_ends.py``.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from nscmdp import learner as operations
from nscmdp.algorithms._frame_ends import RULES, C, FrameEnd, N, Q, apply_frame_ends
from nscmdp.algorithms._tables import act_on_two, greedy_of_two, policy_on_two, tables, visits
from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import operation, scalars
from nscmdp.problem import Problem


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
    explore: tuple[float, float, int] = (0.0, 1.0, 1)  # ... a share at first, its decay, how often


class TripleQ(NamedTuple):
    table: Array  # (H, S, 3, A): Q, C and zero + the visits N, which one visit reads together
    initial: Array  # (H, 2): what Q and C start from
    rate: Array  # (L+2,): alpha_t
    bonus_q: Array  # (L+2,): b_t for Q
    bonus_c: Array
    now: Array  # scalars: Z, Cbar, weight = Z/eta, L, eta, rho + eps and 2 H b~ in use, exploration, episodes, zero
    values: Array  # (H, S, 2): V and W as of the last visit, where they are kept; else (1, 1, 2)
    arms: Array  # (n, 4): L, eta, rho + eps and 2 H b~ to choose from; one alone but for a bandit over bandits
    end: FrameEnd  # what a frame's end does to the tables
    forget: bool  # a frame's end forgets Z before it adds rho + eps - Cbar/L
    carry: bool  # Z survives a restart
    before: bool  # Cbar adds C_1 as it was before the update
    taken: bool  # V and W are those of the action taken
    kept: bool  # V and W outlive a frame's end
    decay: (
        float  # the share of actions that explores shrinks by this after the first episode and ...
    )
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
    own, t = tables(problem, first.initial_q, first.initial_c), visits(longest)
    b = first.bonus(t)
    floor, (start, decay, every) = first.floor, first.explore
    choices = np.array(
        [(arm.frame, arm.eta, problem.rho + arm.eps, 2 * problem.H * arm.btilde) for arm in arms]
    )
    return TripleQ(
        **own,
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
        values=own["initial"][:, None].repeat(problem.S, axis=1) if kept else np.zeros((1, 1, 2)),
        arms=choices,
        end=FrameEnd(
            RULES[rule], longest + 2.0, first.bump, first.cap_q, first.cap_c, first.keep_c
        ),
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


def iota_of(problem: Problem) -> float:
    """128 log(sqrt(2SAH) K)"""
    return 128 * np.log(np.sqrt(2 * problem.S * problem.A * problem.H) * problem.K)


@operation(operations.act_and_estimate, TripleQ)
def _(learner, h, x, u):
    now = learner.now[0]
    if learner.table[h, x, N, 0] < now.zero:
        apply_frame_ends(learner, h, x)
    # argmax_a Q + (Z/eta) C
    action, v, w = act_on_two(learner.table, h, x, now.weight, now.explore, u)
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


@operation(operations.learn_from_estimate, TripleQ)
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


@operation(operations.end_of_episode, TripleQ)
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
        now.zero += learner.end.stride


@operation(operations.certain_action, TripleQ)
def _(learner, h, x, probabilities):
    now = learner.now[0]
    if learner.table[h, x, N, 0] < now.zero:
        apply_frame_ends(learner, h, x)
    return policy_on_two(learner.table, h, x, now.weight, now.explore, probabilities)


@operation(operations.dual, TripleQ)
def _(learner):
    return learner.now[0].weight


@operation(operations.restart, TripleQ)
def _(learner, arm):
    now, chosen = learner.now[0], learner.arms[arm]
    now.frame, now.eta, now.target, now.offset = int(chosen[0]), chosen[1], chosen[2], chosen[3]
    if not learner.carry:
        now.Z = 0.0
    now.Cbar = 0.0
    now.weight = now.Z / now.eta
    now.episode = 0
    now.zero += learner.end.stride
