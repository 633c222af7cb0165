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

A frame's end touches no table: an entry stores its visits plus what ``memory[BASE]`` was, BASE then grows past all of
them, and the next visit to (h,x) finds them below it and applies the frame-end rule as often as it was due.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp import optimum
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
)
from nscmdp.problem import Problem

Q, C, N = 0, 1, 2  # rows of the table of one (h,x)
Z, CBAR, EXPLORE, EPISODE, FRAME, ETA, TARGET, OFFSET, BASE, WEIGHT, DECAYED = range(11)  # slots of the memory

FULL = 0  # every entry back to its initial value (Algorithm 1)
BUMP = 1  # Q + bump; where Q >= cap_q Q_0 or C >= cap_c C_0, back to the initial values Q_0, C_0 (Triple-Q)
COUNTS = 2  # only the counts
LOWER = 0.4

RULES = {"full": FULL, "bump": BUMP, "counts": COUNTS}


class Arm(NamedTuple):
    """The constants that depend on the budget B."""

    frame: int  # L
    eta: float
    eps: float
    btilde: float = 0.0


class TripleQ(NamedTuple):
    table: Array  # (H, S, 3, A): Q, C and BASE + the visits N, which one visit reads together
    initial: Array  # (H, 2): what Q and C start from
    rate: Array  # (L+2,): alpha_t
    bonus_q: Array  # (L+2,): b_t for Q
    bonus_c: Array
    memory: Array  # Z, the sum of C_1 over the frame, the share of exploration, episodes so far, an arm, BASE, Z/eta
    values: Array  # (H, S, 2): V and W as of the last visit, where they are kept; else (1, 1, 2)
    arms: Array  # (n, 4): L, eta, rho + eps and 2 H b~ to choose from; one alone but for a bandit over bandits
    stride: float  # BASE grows by this: more than the visits of any frame
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

    @property
    def frame(self) -> int:
        """L"""
        return int(self.memory[FRAME])

    @property
    def eta(self) -> float:
        return float(self.memory[ETA])

    @property
    def target(self) -> float:
        """rho + eps"""
        return float(self.memory[TARGET])

    @property
    def offset(self) -> float:
        """2 H b~"""
        return float(self.memory[OFFSET])


def triple_q(
    problem: Problem,
    *,
    chi: float,
    arms: list["Arm"],
    bonus_q: Array,
    bonus_c: Array,
    initial_q: Array,
    initial_c: Array,
    rule: str,
    bump: float = 0.0,
    cap_q: float = 1.0,
    cap_c: float = 1.0,
    keep_c: bool = False,
    before: bool = False,
    forget: bool = False,
    carry: bool = False,
    taken: bool = False,
    kept: bool = False,
    explore: tuple[float, float, int, float] = (0.0, 1.0, 1, 0.0),
) -> TripleQ:
    """The learner before its first episode; ``explore`` is (share at first, decay, every so many episodes, floor)."""
    if min(arm.eta for arm in arms) <= 0:
        raise ValueError(f"eta = {min(arm.eta for arm in arms)}, expected a positive number")
    if kept and (taken or rule != "full" or len(arms) > 1):
        raise ValueError("values that outlive a frame's end: expected one arm, reset 'full' and the greedy backup")
    if len(arms) > 1 and rule != "full":
        raise ValueError(f"rule = {rule!r} with {len(arms)} arms: a restart forgets everything, expected 'full'")
    longest = max(arm.frame for arm in arms)
    table = np.zeros((problem.H, problem.S, 3, problem.A))
    initial = np.ascontiguousarray(np.stack([initial_q, initial_c], axis=1))
    table[:, :, :N] = initial[:, None, :, None]
    start, decay, every, floor = explore
    choices = np.array([(arm.frame, arm.eta, problem.rho + arm.eps, 2 * problem.H * arm.btilde) for arm in arms])
    return TripleQ(
        table,
        initial,
        (chi + 1) / (chi + visits(longest)),
        bonus_q,
        bonus_c,
        np.concatenate([[0.0, 0.0, 1 - (1 - floor) * (1 - start), 0.0], choices[0], [0.0, 0.0, start]]),
        np.broadcast_to(initial[:, None], (problem.H, problem.S, 2)).copy() if kept else np.zeros((1, 1, 2)),
        choices,
        longest + 2.0,
        RULES[rule],
        bump,
        cap_q,
        cap_c,
        keep_c,
        forget,
        carry,
        before,
        taken,
        kept,
        decay,
        every,
        floor,
    )


def visits(frame: int) -> NDArray[np.float64]:
    """t = 1..L+1 at index t, and a harmless 1 at index 0: an entry is visited at most once per episode."""
    return np.maximum(np.arange(frame + 2.0), 1.0)


def iota(problem: Problem) -> float:
    """128 log(sqrt(2SAH) K)"""
    return 128 * np.log(np.sqrt(2 * problem.S * problem.A * problem.H) * problem.K)


def hoeffding(problem: Problem, chi: float, frame: int) -> Array:
    """b_t = (1/4) sqrt(H^2 iota (chi+1)/(chi+t))"""
    return np.sqrt(problem.H**2 * iota(problem) * (chi + 1) / (chi + visits(frame))) / 4


class Notebook(NamedTuple):
    """Constants of the authors' notebook for Triple-Q on this paper's scale of rewards.

    There the destination pays 100, here 1: everything in units of reward is divided by 100, and eta, which divides
    the utility's weight, is multiplied by it. Other locations pay up to 22.7 there and 0.1 here, so no one factor maps
    all rewards; the destination's is taken. Values that the notebook fixes for H = 25 (Q starts at 800, is put
    back above 850) are kept as shares of H. Its utility is this paper's, so the bonus on C stays as it is.
    """

    initial_q: float  # 800 / 100 at H = 25
    cap_q: float  # 850 / 800
    bump: float  # 3 / 100
    bonus: float  # 0.2 / 100 for Q, 0.01 x 0.2 for C: times sqrt(ln K / t)
    eta: float  # 100 x 1e-4 K^0.2 sqrt(S A H^4)
    eps: float
    explore: tuple[float, float, int, float]

    @classmethod
    def of(cls, problem: Problem) -> "Notebook":
        eta = 1e-2 * problem.K**0.2 * np.sqrt(problem.S * problem.A * problem.H**4)
        return cls(8 * problem.H / 25, 850 / 800, 0.03, 0.002, eta, 0.5, (1.0, 0.95, 20, 0.03))

    def bonus_at(self, problem: Problem, frame: int) -> Array:
        return self.bonus * np.sqrt(np.log(problem.K) / visits(frame))


def remaining(horizon: int) -> Array:
    """H - h + 1 for h = 1..H: the most that the steps from h on can pay."""
    return np.arange(horizon, 0, -1.0)


def optimistic(problem: Problem, initial: float, start: str) -> Array:
    """What Q_h starts from: ``initial`` times a bound of V_h along the path, at most H - h + 1 or that bound.

    ``start`` "below": a share LOWER of it, at which a wrong action that was tried first can lock in.
    """
    if initial < 1 and start == "optimistic":
        raise ValueError(f"initial = {initial:g} starts Q below V: expected at least 1, or the variant start: below")
    bounds = optimum.value_bounds(problem.env)
    highest = np.minimum(np.maximum(remaining(problem.H), bounds), initial * bounds)
    return highest * (LOWER if start == "below" else 1.0)


def frame_range(problem: Problem, frames: float, unit: float) -> tuple[float, float]:
    """Factors of ``unit`` that make frames from K^0.6 / 10 episodes to so many that ``frames`` of them end in a run."""
    longest = problem.K / frames
    return min(0.1 * problem.K**0.6, longest / 2) / unit, longest / unit


@jit
def apply_pending_resets(table, h, learner):
    """Apply the frame-end rule to the table (3,A) of one (h,x), once a frame that ended since its last visit."""
    q0, c0 = learner.initial[h, 0], learner.initial[h, 1]
    missed = int(learner.memory[BASE] / learner.stride) - int(table[N, 0] / learner.stride)
    for a in range(table.shape[1]):
        table[N, a] = learner.memory[BASE]
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
    table = learner.table.copy()
    for h, x in np.ndindex(*table.shape[:2]):
        if table[h, x, N, 0] < learner.memory[BASE]:
            apply_pending_resets(table[h, x], h, learner)
    table[:, :, N] -= learner.memory[BASE]
    return table


@operation(act_and_estimate, TripleQ)
def _(learner, h, x, u):
    if learner.table[h, x, N, 0] < learner.memory[BASE]:
        apply_pending_resets(learner.table[h, x], h, learner)
    weight = learner.memory[WEIGHT]
    actions = learner.table.shape[3]
    best, ties, action, v, w = -np.inf, 0, 0, 0.0, 0.0
    for a in range(actions):
        q, c = learner.table[h, x, Q, a], learner.table[h, x, C, a]
        f = q + weight * c
        if f > best:
            best, ties, action, v, w = f, 1, a, q, c
        elif f == best:
            ties, v, w = ties + 1, v + q, w + c
    explore = learner.memory[EXPLORE]
    if ties > 1:
        v, w = v / ties, w / ties
        nth = int((u - explore) / (1.0 - explore) * ties) if u >= explore else 0
        for a in range(actions):
            if learner.table[h, x, Q, a] + weight * learner.table[h, x, C, a] == best:
                if nth == 0:
                    action = a
                nth -= 1
    if u < explore:
        action = int(u / explore * actions)
    if learner.taken:
        v, w = learner.table[h, x, Q, action], learner.table[h, x, C, action]
    elif learner.kept:
        v, w = learner.values[h, x, 0], learner.values[h, x, 1]
    return action, v, w


@jit
def note_values(learner, h, x):
    """V_h(x) and W_h(x) of the greedy action after an update, their mean over ties."""
    weight, best, ties, v, w = learner.memory[WEIGHT], -np.inf, 0, 0.0, 0.0
    for a in range(learner.table.shape[3]):
        q, c = learner.table[h, x, Q, a], learner.table[h, x, C, a]
        f = q + weight * c
        if f > best:
            best, ties, v, w = f, 1, q, c
        elif f == best:
            ties, v, w = ties + 1, v + q, w + c
    learner.values[h, x, 0], learner.values[h, x, 1] = v / ties, w / ties


@operation(learn_from_estimate, TripleQ)
def _(learner, h, x, action, r, g, y, v, w):
    a = np.uint32(action)  # unsigned: a signed index is tested for counting from the end
    learner.table[h, x, N, a] += 1.0
    t = np.uint32(int(learner.table[h, x, N, a] - learner.memory[BASE]))
    alpha = learner.rate[t]
    if h == 0 and learner.before:
        learner.memory[CBAR] += learner.table[h, x, C, a]
    more_q, more_c = learner.bonus_q[t] + learner.memory[OFFSET], learner.bonus_c[t] + learner.memory[OFFSET]
    learner.table[h, x, Q, a] = (1.0 - alpha) * learner.table[h, x, Q, a] + alpha * (r + v + more_q)
    learner.table[h, x, C, a] = (1.0 - alpha) * learner.table[h, x, C, a] + alpha * (g + w + more_c)
    if h == 0 and not learner.before:
        learner.memory[CBAR] += learner.table[h, x, C, a]
    if learner.kept:
        note_values(learner, h, x)


@operation(end_of_episode, TripleQ)
def _(learner):
    memory = learner.memory
    memory[EPISODE] += 1.0
    k = int(memory[EPISODE])
    if (k - 1) % learner.decay_every == 0:
        memory[DECAYED] *= learner.decay
        memory[EXPLORE] = 1.0 - (1.0 - learner.floor) * (1.0 - memory[DECAYED])
    if k % int(memory[FRAME]) == 0:
        # Z <- (Z + rho + eps - Cbar/L)^+
        z = 0.0 if learner.forget else memory[Z]
        memory[Z] = max(0.0, z + memory[TARGET] - memory[CBAR] / memory[FRAME])
        memory[CBAR] = 0.0
        memory[WEIGHT] = memory[Z] / memory[ETA]
        memory[BASE] += learner.stride


@operation(certain_action, TripleQ)
def _(learner, h, x, probabilities):
    if learner.table[h, x, N, 0] < learner.memory[BASE]:
        apply_pending_resets(learner.table[h, x], h, learner)
    weight = learner.memory[WEIGHT]
    actions = learner.table.shape[3]
    best, ties, action = -np.inf, 0, 0
    for a in range(actions):
        f = learner.table[h, x, Q, a] + weight * learner.table[h, x, C, a]
        if f > best:
            best, ties, action = f, 1, a
        elif f == best:
            ties += 1
    explore = learner.memory[EXPLORE]
    if ties == 1 and explore == 0.0:
        return action
    for a in range(actions):
        f = learner.table[h, x, Q, a] + weight * learner.table[h, x, C, a]
        probabilities[a] = explore / actions + ((1.0 - explore) / ties if f == best else 0.0)
    return -1


@operation(dual, TripleQ)
def _(learner):
    return learner.memory[WEIGHT]


@operation(restart, TripleQ)
def _(learner, arm):
    for i in range(4):
        learner.memory[FRAME + i] = learner.arms[arm, i]
    if not learner.carry:
        learner.memory[Z] = 0.0
    learner.memory[CBAR] = 0.0
    learner.memory[WEIGHT] = learner.memory[Z] / learner.memory[ETA]
    learner.memory[EPISODE] = 0.0
    learner.memory[BASE] += learner.stride
