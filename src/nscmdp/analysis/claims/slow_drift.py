"""Two counterexamples for B below 1, each with one state, one step and two arms (S = H = 1, A = 2).

**To Theorem 1: a violation of K^0.9/3 over many frames.** g = (1, 0), r = (0, 1), rho = delta = 1/2; the second arm's
reward goes to and fro between 1 and 1 - B/K. Take K = n^10 and B = n^-3:

    eta = n,    chi = n^2,    L = n^8,    n^2 frames,    b~ = B L/K = n^-5,    eps = 8 sqrt(2 iota^3)/n^3

B and b~ cover the drift as they must. The queue has to climb to about eta before the useful arm is worth playing, and
L eta, what is violated by then, is n^9, where all that the tightening makes up for is K eps, of order n^7. Step by
step, with w = Z/eta and bbar_t = sum_i alpha_t^i b_i, which is between b_t and 2 b_t (C1): after t visits in a frame
the arms have

    F_1 = w + (1+w) (bbar_t + 2 b~),      F_2 = rbar + (1+w) (bbar_t + 2 b~),    1 - B/K <= rbar <= 1,

and 1 + w before the first. Wherever Z <= eta/2,

    (1) arm 1 is played again only where F_1 >= F_2, so bbar_t >= (1 - B/K - w)/(1+w) >= 1/3 - 2B/(3K), or, arm 2 being
        untried, bbar_t >= 1/(1+w) - 2 b~ >= 2/3 - 2 b~, which is more: in all at most 1 + iota (chi+1)/(16 x^2) - chi
        times, x = 1/6 - B/(3K);
    (2) so that Z rises by u >= 1/2 - (these visits)/L - 2 b~ - 2 sqrt(iota (chi+1) (chi+L))/L in the frame, the last
        term for bbar_t of both arms. With u > 0, Z > eta/2 after at most 1 + eta/(2u) frames.
    (3) C <= 1 + b_1 + 2 b~ always, so no frame lowers Z by more, and from then on Z >= eta/2 - (1 + b_1 + 2 b~). With
        this above 0, the positive part in the update of Z never acts, and the sum of C over all episodes is
        K (rho + eps) - L Z.
    (4) C >= g of the arm that was played. So, on every path,  V(K) >= L (eta/2 - 1 - b_1 - 2 b~) - K eps.

All numbers are whole fractions, iota and roots from above: each step is the worse for a larger one. The condition on K
holds with B^(1/3) = 1/n in it as well. (For other B the same reads K^0.8 (B^(-1/3)/2 - 8 sqrt(2 iota^3) B^(1/3)), less
what is smaller: above 0 for B below a power of 1/log K.)

**To Theorem 2: a regret of K^(4/9)/2.** g = (1, 1), rho = 1/2, rewards (1, 0) or (0, 1), the better arm's falling by B
in all. Algorithm 2 begins a new instance of Algorithm 1 with Q = C = H in each of K^(4/9) epochs: K^(4/9) ties, each of
which costs (1 - B)/2 in the mean, and as the constraint is slack no regret is negative. An order of B^(1/3) K^(8/9) is
less for B below K^(-4/3), by more than the factors that it hides.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from nscmdp.analysis.claims.counterexamples import Statement, two_arms
from nscmdp.analysis.claims.instrumented import PRINTED as LISTING
from nscmdp.analysis.claims.instrumented import Listing, Sizes, episodes, literal
from nscmdp.cmdp import Array
from nscmdp.drift import DriftingCMDP

HALF = Fraction(1, 2)  # rho and delta of both
DIGITS = 10**9  # of roots


def root(x: Fraction) -> Fraction:
    """From above, to nine digits after the point."""
    return Fraction(math.isqrt(math.floor(x * DIGITS**2)) + 1, DIGITS)


class SlowDrift(NamedTuple):
    """To Theorem 1. ``iota`` is the printed one (``of``), or a smaller one for an n that can be run."""

    n: int
    iota: Fraction

    @classmethod
    def of(cls, n: int) -> "SlowDrift":
        """With iota = 128 log(sqrt(2 S A H) K), from above: the logarithms are right to far more than 1/128."""
        return cls(n, Fraction(math.ceil(128 * (math.log(2) + 10 * math.log(n))) + 1))

    @property
    def K(self) -> int:
        return self.n**10

    @property
    def B(self) -> Fraction:
        return Fraction(1, self.n**3)

    @property
    def frame(self) -> int:
        """L"""
        return self.n**8

    @property
    def frames(self) -> int:
        return self.n**2

    @property
    def chi(self) -> int:
        return self.n**2

    @property
    def eta(self) -> int:
        return self.n

    @property
    def btilde(self) -> Fraction:
        return Fraction(1, self.n**5)

    @property
    def step(self) -> Fraction:
        """What the reward moves in an episode."""
        return self.B / self.K

    @property
    def eps(self) -> Fraction:
        """From above"""
        return 8 * root(2 * self.iota**3) / self.n**3

    def assumptions(self) -> bool:
        """The rewards stay in [0, 1], B covers them, b~ covers every frame, and (number of frames) b~ <= B."""
        covered = (self.K - 1) * self.step <= self.B and self.frame * self.step <= self.btilde
        return self.step <= 1 and covered and self.frames * self.btilde <= self.B

    def admitted(self, statement: Statement) -> bool:
        """Is K as large as the statement asks, n^2 >= 32 sqrt(2 iota^3) B^inside and n^10 >= 8 > e^2, and B?"""
        squared = Fraction(self.n) ** (4 + 6 * statement.inside)  # B^(2 inside) on the other side
        return squared >= 2048 * self.iota**3 and self.K >= 8 and statement.least <= self.B

    def visits(self) -> Fraction:
        """(1): of arm 1 in a frame with Z <= eta/2"""
        least = Fraction(1, 6) - self.step / 3
        return max(Fraction(1), 1 + self.iota * (self.chi + 1) / (16 * least**2) - self.chi)

    def rise(self) -> Fraction:
        """(2): u"""
        bonuses = 2 * root(self.iota * (self.chi + 1) * (self.chi + self.frame))
        return HALF - 2 * self.btilde - (self.visits() + bonuses) / self.frame

    def queue(self) -> Fraction | None:
        """(3): what Z is at least from its passing eta/2 to the end; none where it need not pass, or where that is 0"""
        least = Fraction(self.eta, 2) - 1 - root(self.iota) / 4 - 2 * self.btilde
        up = self.rise()
        passes = up > 0 and 1 + self.eta / (2 * up) <= self.frames
        return least if passes and least > 0 else None

    def violation(self) -> Fraction | None:
        """(4): V(K) from below; none where the argument does not apply."""
        queue = self.queue()
        return None if queue is None else self.frame * queue - self.K * self.eps

    def simulated(self, rng: np.random.Generator, listing: Listing = LISTING) -> Fraction:
        """V(K) of Algorithm 1 as listed, in one run that breaks ties by a coin."""
        times = np.arange(1, self.K + 1 if not listing.restarts else self.frame + 1, dtype=float)
        b = listing.bonus * np.sqrt(float(self.iota) * (self.chi + 1) / (self.chi + times)) / 4
        more = (b + 2 * listing.btilde * float(self.btilde)).tolist()
        rates, low = listing.rate(times, float(self.chi)).tolist(), 1 - float(self.step)
        Z, eps, useful, N = 0.0, float(self.eps), 0, [0, 0]
        Q, C = [1.0, 1.0], [1.0, 1.0]
        for _ in range(self.frames):
            cbar, w = 0.0, Z / self.eta
            for k in range(self.frame):
                one, two = Q[0] + w * C[0], Q[1] + w * C[1]
                a = int(two > one) if one != two else int(rng.integers(2))
                t = N[a]
                N[a], rate, plus = t + 1, rates[t], more[t]
                Q[a] += rate * ((0.0 if a == 0 else low if k % 2 else 1.0) + plus - Q[a])
                C[a] += rate * (1 - a + plus - C[a])
                cbar, useful = cbar + C[a], useful + 1 - a
            if listing.queue:
                Z = max(Z + 0.5 + eps - cbar / self.frame, 0.0)
            if listing.restarts:
                Q, C, N = [1.0, 1.0], [1.0, 1.0], [0, 0]
        return Fraction(self.K, 2) - useful


class Ties(NamedTuple):
    """To Theorem 2: K = n^9 episodes in n^4 epochs of W = n^5."""

    n: int
    B: float

    @property
    def K(self) -> int:
        return self.n**9

    @property
    def epochs(self) -> int:
        return self.n**4

    @property
    def epoch(self) -> int:
        """W"""
        return self.n**5

    def env(self, episodes: int, better: int = 0) -> DriftingCMDP:
        """The better arm's reward falls from 1 to 1 - B."""
        ends = [(top, 0.0) if better == 0 else (0.0, top) for top in (1.0, 1.0 - self.B)]
        models = [two_arms(rewards, (1.0, 1.0), 0.5) for rewards in ends]
        return DriftingCMDP(models, [1, episodes], name="slow_drift")

    def candidates(self) -> list[float]:
        """K^(1/3) W^(j/J) / (Delta^(3/2) W), Delta = (40 sqrt(S A H^6 iota^3)/delta)^2, J = ceil(log W)"""
        iota, J = 128 * math.log(2 * self.K), math.ceil(math.log(self.epoch))
        delta = (40 * math.sqrt(2 * iota**3) / float(HALF)) ** 2
        return [self.K ** (1 / 3) * self.epoch ** (j / J) / (delta**1.5 * self.epoch) for j in range(J + 1)]

    def regret(self, runs: int, rng: np.random.Generator, listing: Listing = LISTING) -> Array:
        """(runs,): in all epochs, where each has the candidate that loses least."""
        env, found = self.env(self.epoch), []
        for candidate in self.candidates():
            lost = np.zeros(runs)
            for state in episodes(env, literal(Sizes(1, 2, 1, self.epoch, candidate)), runs, rng, listing):
                if state.k <= self.epoch:
                    rewards = env.at(state.k).r[0, 0]
                    lost += rewards.max() - state.policy()[:, 0, 0] @ rewards
            found.append(lost)
        return self.epochs * min(found, key=lambda lost: float(lost.mean()))


def least_regret(log10_K: float) -> float:
    """log10 of K^(4/9)/2"""
    return 4 / 9 * log10_K + math.log10(0.5)


def slow_enough(log10_factor: float, log10_least: float, margin: float = 1.0) -> float:
    """log10 of the B at which factor x B^(1/3) is ``margin`` orders of magnitude below the least regret."""
    return 3 * (log10_least - margin - log10_factor)
