"""The counterexample of fast drift to Theorem 1 as printed: one state, one step and two arms (S = H = 1, A = 2).

**Fast drift: a violation of K/4.** g = (1, 0) and rho = 3/4, so delta = 1/4. Take K = n^10 and B = n^(3m), m = 3 or 2:

    L = K^.6/B^(2/3) = n^(6-2m),    K/L = n^(4+2m) frames,    b~ = B L/K = n^(m-4),    chi = n^2,    eta = n^(2+m)

The second arm's reward goes to and fro by B/K in every episode, which the budget B covers; a frame's local budget is at
most L B/K = b~, so both conditions on b~ are met, with equality. A frame begins with Q = C = 1 for both arms, a tie
whatever Z is. After t visits an arm has Q, C >= b_t + 2 b~, as weights sum to 1 and b_i >= b_t; while this exceeds 1,
its Q + (Z/eta) C exceeds the other arm's 1 + Z/eta, for every Z >= 0. With L = 1 (m = 3) a frame is its tie; with
L = chi (m = 2) b_t >= sqrt(iota/32) > 1 throughout. So an arm drawn uniformly is played for the whole frame: W = 1/2 in
the mean of every episode and V(K) = K (3/4 - 1/2) = K/4, for every n. (Any other rule for ties that ignores the past
plays the useful arm in a share p of the frames, in the mean, under one labelling of the arms and 1-p under the other:
3/4 - p or p - 1/4 per episode, at least 1/4 under one of them; by index, with the useless arm first, 3/4.)

The theorem's condition without B is met from some n on. With B^(1/3) = n^m in it, as the text around the theorem has it
(sections 5.1 and 5.2, appendix E), the condition would be K^(1/5) = n^2 >= 16 sqrt(2 iota^3) n^m/delta, which no n
meets: what is refuted is that B is left out. For B below 1 see ``slow_drift.py``.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nscmdp import budget
from nscmdp.analysis.claims.instrumented import PRINTED as LISTING
from nscmdp.analysis.claims.instrumented import Constants, Listing, Sizes, episodes, literal
from nscmdp.cmdp import CMDP, Array
from nscmdp.drift import DriftingCMDP

RHO, GAP = Fraction(3, 4), Fraction(1, 4)  # of the fast drift: rho and delta
UTILITY = (1.0, 0.0)


class Statement(NamedTuple):
    """Theorem 1's condition on K is that K^(1/5) >= 16 sqrt(S A H^6 iota^3) B^inside/delta, and B >= least."""

    inside: Fraction
    least: float


PRINTED = Statement(Fraction(0), 0.0)
CORRECTED = Statement(Fraction(1, 3), 1.0)


class FastDrift(NamedTuple):
    n: int
    m: int = 3

    @property
    def K(self) -> int:
        return self.n**10

    @property
    def B(self) -> int:
        return self.n ** (3 * self.m)

    @property
    def frame(self) -> int:
        """L"""
        return self.n ** (6 - 2 * self.m)

    @property
    def btilde(self) -> Fraction:
        return Fraction(self.n) ** (self.m - 4)

    @property
    def step(self) -> Fraction:
        """What the reward moves in an episode."""
        return Fraction(self.B, self.K)

    @property
    def iota(self) -> float:
        """128 log(sqrt(2 S A H) K), and K = n^10"""
        return 128 * (math.log(2) + 10 * math.log(self.n))

    def admitted(self, statement: Statement) -> bool:
        """Is K as large as the statement asks, and B?"""
        needed = math.log(16 / GAP) + 0.5 * math.log(2 * self.iota**3) + float(statement.inside) * math.log(self.B)
        return 2 * math.log(self.n) >= needed and 10 * math.log(self.n) >= 1 / GAP and statement.least <= self.B

    def assumptions(self) -> bool:
        """The rewards stay in [0, 1], B covers them, b~ covers every frame, and (number of frames) b~ <= B."""
        frames = Fraction(self.K, self.frame)
        covered = (self.K - 1) * self.step <= self.B and self.frame * self.step <= self.btilde
        return self.step <= 1 and covered and frames * self.btilde <= self.B

    def stuck(self, listing: Listing = LISTING) -> bool:
        """Does a frame keep the arm that its tie was broken to? The last choice follows L - 1 visits."""
        visits = (self.frame if listing.restarts else self.K) - 1
        ratio = (self.n**2 + 1) / (self.n**2 + visits)
        least = listing.bonus * math.sqrt(self.iota * ratio) / 4 + 2 * listing.btilde * float(self.btilde)
        return visits == 0 or least > 1

    def violation(self, listing: Listing = LISTING) -> Fraction | None:
        """Per episode, in closed form; none where the argument does not apply."""
        return RHO - Fraction(1, 2) if self.stuck(listing) else None

    def env(self) -> DriftingCMDP:
        rewards = (0.5, 0.5 + float(self.step)) if self.step <= Fraction(1, 2) else (0.0, float(self.step))
        models = [two_arms((0.0, reward), UTILITY, float(RHO)) for reward in rewards]
        knots = np.arange(1, self.K + 1)
        return DriftingCMDP(models, knots, (knots - 1) % 2, name="fast_drift")  # type: ignore[arg-type]

    def constants(self) -> Constants:
        """The printed ones, whole numbers as such."""
        printed = literal(Sizes(1, 2, 1, self.K, float(self.B)))
        return printed._replace(frame=self.frame, btilde=float(self.btilde))


def two_arms(rewards: tuple[float, float], utilities: tuple[float, float], rho: float) -> CMDP:
    return CMDP(P=np.ones((1, 1, 2, 1)), r=[[rewards]], g=[[utilities]], rho=rho, mu0=[1.0])


def first_admitted(m: int, statement: Statement, most: int = 10**9) -> FastDrift | None:
    """The smallest n from which the statement admits the case for good; none up to ``most``."""
    low, high = 1, most
    if not FastDrift(high, m).admitted(statement):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if FastDrift(middle, m).admitted(statement) else (middle, high)
    return FastDrift(high, m)


def stuck_from(log_K: float) -> float:
    """The power of K that B must have for frames of the two arms to keep their first arm.

    That is L <= 1 + t where b_t = 1, or chi + t = iota (chi+1)/16. Any even drift will do, and any K.
    """
    iota, chi = 128 * (math.log(2) + log_K), math.exp(log_K / 5)
    longest = 1 + iota * (chi + 1) / 16 - chi
    return (0.6 * log_K - math.log(longest)) * 1.5 / log_K


def simulated_violation(case: FastDrift, runs: int, rng: np.random.Generator, listing: Listing = LISTING) -> Array:
    """(runs,): the violation per episode of Algorithm 1 as listed, from the exact W of each episode's policy."""
    found = np.zeros(runs)
    for state in episodes(case.env(), case.constants(), runs, rng, listing):
        if state.k <= case.K:
            found += float(RHO) - state.policy()[:, 0, 0] @ np.array(UTILITY)
    return found / case.K


def condition_up_to(log_K: float) -> float:
    """The power of K that B may have for the condition with B^(1/3) to hold in the same problem."""
    iota = 128 * (math.log(2) + log_K)
    return 3 * (0.2 * log_K - math.log(16 / GAP) - 0.5 * math.log(2 * iota**3)) / log_K


def least_worst(probabilities: Sequence[Fraction]) -> Fraction:
    """Violation per episode where ties go to the first arm with such a probability, under the worse labelling."""
    return min(max(RHO - p, RHO - (1 - p)) for p in probabilities)


def stays_covered(case: FastDrift) -> bool:
    """What the package measures on the path: its budget and those of its frames are covered."""
    env = case.env()
    whole, parts = budget.variation(env).total, budget.frame_variations(env, case.frame).sum(axis=1)
    return bool(whole <= case.B and parts.max() <= float(case.btilde) * (1 + 1e-12))
