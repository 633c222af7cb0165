"""Counterexamples to Theorems 1 and 2: one state, one step and two arms (S = H = 1, A = 2).

K = n^10 episodes and a budget B = n^(3m) make powers of n of all that Algorithm 1 has, except eps:

    L = n^(6-2m),    n^(4+2m) frames,    b~ = n^(m-4),    chi = n^2,    eta = n^(2+m)

The second arm's reward goes to and fro by B/K in every episode. B covers that, and a frame's local
budget is at most L B/K = b~, so that both conditions on b~ are met, with equality.

**Fast drift (m = 3 or 2): a violation of K/4.** g = (1, 0) and rho = 3/4, so delta = 1/4. A frame
begins with Q = C = 1 for both arms, a tie whatever Z is. After t visits an arm has
Q, C >= b_t + 2 b~, as weights sum to 1 and b_i >= b_t; while this exceeds 1, its Q + (Z/eta) C
exceeds the other arm's 1 + Z/eta, for every Z >= 0. With L = 1 (m = 3) a frame is its tie; with
L = chi (m = 2) b_t >= sqrt(iota/32) > 1 throughout. So an arm drawn uniformly is played for the
whole frame: W = 1/2 in the mean of every episode and V(K) = K (3/4 - 1/2) = K/4, for every n. (Any
other rule for ties that ignores the past plays the useful arm in a share p of the frames, in the
mean, under one labelling of the arms and 1-p under the other: 3/4 - p or p - 1/4 per episode, at
least 1/4 under one of them.)

A condition with B^x in it is K^(1/5) = n^2 >= 16 sqrt(2 iota^3) n^(3mx)/delta. Some n meets it
exactly where 3mx < 2: for x = 0, as the theorem has it, and with m = 2 for every x < 1/3. None
does for x = 1/3, as sections 5.1 and 5.2 and appendix E have it.

**Slow drift (m = -1): a violation of order K^0.9 with B = K^-0.3.** g = (1, 0), r = (0, 1),
rho = delta = 1/2. The queue has to climb to about eta = n before the useful arm is worth playing,
and what is violated by then, L eta = n^9, exceeds K eps = 8 sqrt(2 iota^3) n^7, all that the
tightening makes up for. With w = Z/eta and bbar_t = sum_i alpha_t^i b_i, which is between b_t and
2 b_t (C1), after t visits in a frame the arms have

    F_1 = w + (1+w) (bbar_t + 2 b~),   F_2 = rbar + (1+w) (bbar_t + 2 b~),   1 - B/K <= rbar <= 1,

and 1 + w before the first. Wherever Z <= eta/2,

    (1) arm 1 is played again only where F_1 >= F_2, so
        bbar_t >= (1 - B/K - w)/(1+w) >= 1/3 - 2B/(3K), or, arm 2 being untried,
        bbar_t >= 1/(1+w) - 2 b~ >= 2/3 - 2 b~, which is more: in all at most
        1 + iota (chi+1)/(16 x^2) - chi times, x = 1/6 - B/(3K);
    (2) so that Z rises by u >= 1/2 - (these visits)/L - 2 b~ - 2 sqrt(iota (chi+1) (chi+L))/L in
        the frame, the last term for bbar_t of both arms. If u > 0, Z > eta/2 after 1 + eta/(2u)
        frames.
    (3) C <= 1 + b_1 + 2 b~ always, so no frame lowers Z by more, and from then on
        Z >= eta/2 - (1 + b_1 + 2 b~). With this above 0, the positive part in the update of Z
        never acts, and the sum of C over all episodes is K (rho + eps) - L Z.
    (4) C >= g of the arm that was played. So, on every path,
        V(K) >= L (eta/2 - 1 - b_1 - 2 b~) - K eps.

The condition on K holds with B^(1/3) = 1/n in it as well: B >= 1 has to be assumed. Iota and roots
are fractions from above, as each step is the worse for a larger one.

**Ties, against Theorem 2: a regret of K^(4/9)/2.** g = (1, 1), rho = 1/2, rewards (1, 0), the
better arm's falling by B in all. Algorithm 2 begins a new instance of Algorithm 1 with Q = C = H in
each of K^(4/9) epochs: K^(4/9) ties, each of which costs (1 - B)/2 in the mean, and as the
constraint is slack no regret is negative. An order of B^(1/3) K^(8/9) is less for B below
K^(-4/3), by more than any constant and logarithms.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nscmdp import algorithms
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP
from nscmdp.problem import Problem
from wei2023.proofs import instrumented
from wei2023.proofs.instrumented import Constants, Sizes, arms, literal

RHO, HALF = Fraction(3, 4), Fraction(1, 2)


class Statement(NamedTuple):
    """Theorem 1 for K^(1/5) >= 16 sqrt(S A H^6 iota^3) B^inside/delta and B >= least_B."""

    inside: Fraction
    least_B: float


PRINTED = Statement(Fraction(0), 0.0)
CONSISTENT = Statement(Fraction(1, 3), 0.0)  # with the B^(1/3) of the text around the theorem
CORRECTED = Statement(Fraction(1, 3), 1.0)


def root(x: Fraction) -> Fraction:
    """From above, to nine digits after the point."""
    return Fraction(math.isqrt(math.floor(x * 10**18)) + 1, 10**9)


class Drift:
    """What both drifts have in common; ``small_iota`` replaces iota for an n that can be run."""

    def __init__(self, n: int, m: int = -1, small_iota: Fraction | None = None) -> None:
        self.n, self.m, self.delta = n, m, Fraction(1, 4) if m > 0 else HALF
        self.K, self.B, self.btilde = n**10, Fraction(n) ** (3 * m), Fraction(n) ** (m - 4)
        self.frame, self.frames = n ** (6 - 2 * m), n ** (4 + 2 * m)
        self.chi, self.eta, self.step = n**2, n ** (2 + m), self.B / self.K
        # iota and eps from above: the logarithms are right to far more than 1/128.
        above = Fraction(math.ceil(128 * (math.log(2) + 10 * math.log(n))) + 1)
        self.iota = above if small_iota is None else small_iota
        self.eps = 8 * root(2 * self.iota**3) * Fraction(n) ** (m - 2)

    def constants(self) -> Constants:
        eps, btilde = float(self.eps), float(self.btilde)
        return Constants(self.chi, self.eta, eps, btilde, self.frame, float(self.iota))

    def assumptions(self) -> bool:
        """The rewards stay in [0, 1], B covers them, b~ every frame, and (frames) b~ <= B."""
        covered = (self.K - 1) * self.step <= self.B and self.frame * self.step <= self.btilde
        return self.step <= 1 and covered and self.frames * self.btilde <= self.B

    def admitted(self, statement: Statement) -> bool:
        """Is K as large as the statement asks, n^4 >= 2 (16/delta)^2 iota^3 B^(2 inside), and B?"""
        squared = Fraction(self.n) ** (4 - 6 * self.m * statement.inside)
        large = squared >= 2 * (16 / self.delta) ** 2 * self.iota**3
        return large and math.exp(1 / self.delta) <= self.K and statement.least_B <= self.B


class FastDrift(Drift):
    def violation(self) -> Fraction | None:
        """Per episode; none where a frame may leave the arm that its tie was broken to."""
        visits = self.frame - 1  # before the frame's last choice
        lowest = (self.iota - 2) * (self.chi + 1) / (16 * (self.chi + visits))  # b_t^2, from below
        return RHO - HALF if visits == 0 or lowest > 1 else None

    def env(self) -> DriftingCMDP:
        step = float(self.step)
        rewards = (0.5, 0.5 + step) if step <= 0.5 else (0.0, step)
        models = [arms([0, reward], [1, 0], float(RHO)) for reward in rewards]
        knots = np.arange(1, self.K + 1)
        return DriftingCMDP(models, knots, (knots - 1) % 2, name="fast")  # type: ignore[arg-type]

    def simulated(self, runs: int, rng: np.random.Generator) -> Array:
        """(runs,): the violation per episode, from the exact W of each episode's policy."""
        found = np.zeros(runs)
        for state in instrumented.episodes(self.env(), self.constants(), runs, rng):
            if state.k <= self.K:
                found += float(RHO) - state.policy()[:, 0, 0, 0]
        return found / self.K


def first_admitted(m: int, statement: Statement, most: int = 10**60) -> FastDrift | None:
    """The smallest n from which the statement admits the case for good; none up to ``most``."""
    low, high = 1, most
    if not FastDrift(high, m).admitted(statement):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if FastDrift(middle, m).admitted(statement) else (middle, high)
    return FastDrift(high, m)


class SlowDrift(Drift):
    def rise(self) -> Fraction:
        """(2): u, by the visits of (1) to arm 1 in a frame with Z <= eta/2"""
        least = Fraction(1, 6) - self.step / 3
        visits = max(Fraction(1), 1 + self.iota * (self.chi + 1) / (16 * least**2) - self.chi)
        bonuses = 2 * root(self.iota * (self.chi + 1) * (self.chi + self.frame))
        return HALF - 2 * self.btilde - (visits + bonuses) / self.frame

    def queue(self) -> Fraction | None:
        """(3): the least Z from its passing eta/2 on; none where it need not pass, or that is 0"""
        least = Fraction(self.eta, 2) - 1 - root(self.iota) / 4 - 2 * self.btilde
        up = self.rise()
        passes = up > 0 and 1 + self.eta / (2 * up) <= self.frames
        return least if passes and least > 0 else None

    def violation(self) -> Fraction | None:
        """(4): V(K) from below, over K^0.9 = n^9; none where the argument does not apply."""
        queue = self.queue()
        return None if queue is None else (self.frame * queue - self.K * self.eps) / self.n**9

    def simulated(self, rng: np.random.Generator) -> Fraction:
        """V(K)/K^0.9 in one run that breaks ties by a coin."""
        times, constants = np.arange(1, self.frame + 1, dtype=float), self.constants()
        rates = instrumented.learning_rate(times, constants.chi).tolist()
        more = (instrumented.bonus(times, 1, constants) + 2 * constants.btilde).tolist()
        low, Z, useful = 1 - float(self.step), 0.0, 0
        for _ in range(self.frames):
            Q, C, N, cbar, w = [1.0, 1.0], [1.0, 1.0], [0, 0], 0.0, Z / self.eta
            for k in range(self.frame):
                one, two = Q[0] + w * C[0], Q[1] + w * C[1]
                a = int(two > one) if one != two else int(rng.integers(2))
                t = N[a]
                N[a], rate, plus = t + 1, rates[t], more[t]
                Q[a] += rate * ((0.0 if a == 0 else low if k % 2 else 1.0) + plus - Q[a])
                C[a] += rate * (1 - a + plus - C[a])
                cbar, useful = cbar + C[a], useful + 1 - a
            Z = max(Z + 0.5 + constants.eps - cbar / self.frame, 0.0)
        return (Fraction(self.K, 2) - useful) / self.n**9


class Ties:
    """K = n^9 episodes in n^4 epochs of W = n^5, and B = K^power."""

    def __init__(self, n: int, power: int) -> None:
        self.K, self.epochs, self.epoch, self.B = n**9, n**4, n**5, float(n**9) ** power

    def env(self, episodes: int) -> DriftingCMDP:
        """The better arm's reward falls from 1 to 1 - B."""
        models = [arms([top, 0], [1, 1], 0.5) for top in (1.0, 1.0 - self.B)]
        return DriftingCMDP(models, [1, episodes], name="ties")

    def candidates(self) -> list[float]:
        """B_j of Algorithm 2"""
        problem = Problem.of(self.env(self.K))
        return algorithms.constants("double_restart_triple_q", problem, "literal").budgets

    def regret(self, runs: int, rng: np.random.Generator) -> float:
        """The mean in all epochs, where each has the candidate that loses least."""
        env, lost = self.env(self.epoch), dict.fromkeys(self.candidates(), 0.0)
        for candidate in lost:
            constants = literal(Sizes(1, 2, 1, self.epoch, candidate))
            for state in instrumented.episodes(env, constants, runs, rng):
                if state.k <= self.epoch:
                    rewards = env.at(state.k).r[0, 0]
                    missed = rewards.max() - state.policy()[:, 0, 0] @ rewards
                    lost[candidate] += float(missed.mean())
        return self.epochs * min(lost.values())
