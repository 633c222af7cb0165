"""Has the model moved? A generalised likelihood ratio test of every entry (h,x,a), at the end of blocks of its visits.

What an entry pays and where it leads is tested as means of variables in [0,1]:

    r and g, each clipped to [0,1], and for i = 1..4 a bit w_i(y) of the successor y     V = 6 variables X

While the model stands still, the values of X at the visits of one entry are independent and alike, whatever the policy.
At the entry's visit n = b m, with blocks of m = 16, 64, 256, ... 65536 visits (7 sizes) and b >= 2, the last block,
of mean q, is compared with all that came before, n - m visits of mean p; s is the mean of both together:

    G = (n-m) kl(p, s) + m kl(q, s),     kl(p, q) = p log(p/q) + (1-p) log((1-p)/(1-q)),     alarm if G >= x(b)

G is at most (n-m) kl(p, mu) + m kl(q, mu) with the true mean mu, and by Chernoff's bound, which holds for variables
in [0,1] as for coins, each of the two exceeds z with probability at most 2 e^-z: each is below log 2 plus a standard
exponential variable, so G is below log 4 plus the sum of two independent ones, and

    P(G >= log 4 + z) <= (1+z) e^-z.

With z = l + log(1 + l + 2 log(1+l)), l >= 1, the right side is at most e^-l. So the level of a test is e^-l, and

    e^-l = delta / (V E 7 b (b-1)),     E entries,     x(b) = log 4 + z

makes the sum over variables, entries, sizes and b = 2, 3, ... at most delta: while the model stands still, an alarm
between two restarts, in a run of any length, has probability at most delta. Nothing about the drift enters.

A change of a mean that a block of m visits is enough to see is seen by the end of the second such block after it, if
the entry had m visits before: blocks are four times as long as the next smaller ones, so this is within some 8 times
the visits that a test with a split at every visit needs. A step costs the update of V sums and, on average, V/12 tests,
whatever S and K are; memory is 8 V + 1 numbers per entry.

What it cannot see: changes where the policy does not go; r and g beyond [0,1]; changes of P that leave the four
probabilities of w_i(y) = 1 as they are. The bits are drawn once: mass that moves from one successor to another is
seen by each bit with probability 1/2, by none of them with probability 1/16.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.kernels.jit import jit
from nscmdp.learner import scalars

BITS = 4
VARIABLES = 2 + BITS
FIRST, RATIO, SIZES = 16, 4, 7  # blocks of FIRST RATIO^j visits


class Detection(NamedTuple):
    visits: NDArray[np.int64]  # (entries,)
    sums: Array  # (entries, V): over all visits
    before: (
        Array  # (entries, SIZES, V): the sums as they were when the last block of each size ended
    )
    bits: NDArray[np.uint8]  # (S, BITS): w_i(y)
    log_tests: float  # log(V E 7 / delta)
    now: Array  # scalars: alarm since the last restart


def detection(entries: int, states: int, level: float) -> Detection:
    if not 0 < level < 1:
        raise ValueError(f"level = {level:g}: expected a probability between 0 and 1")
    return Detection(
        visits=np.zeros(entries, np.int64),
        sums=np.zeros((entries, VARIABLES)),
        before=np.zeros((entries, SIZES, VARIABLES)),
        bits=np.random.default_rng(states).integers(0, 2, (states, BITS), np.uint8),
        log_tests=float(np.log(VARIABLES * entries * SIZES / level)),
        now=scalars(alarm=False),
    )


@jit
def kl(p, q):
    """Of two coins; q is 0 or 1 only where p is."""
    divergence = 0.0
    if p > 0.0:
        divergence += p * np.log(p / q)
    if p < 1.0:
        divergence += (1.0 - p) * np.log((1.0 - p) / (1.0 - q))
    return divergence


@jit
def likelihood_ratio(n, total, m, late):
    """G of n values with sum ``total``, the last m of which have the sum ``late``."""
    s = min(max(total / n, 0.0), 1.0)
    p, q = min(max((total - late) / (n - m), 0.0), 1.0), min(max(late / m, 0.0), 1.0)
    return (n - m) * kl(p, s) + m * kl(q, s) if 0.0 < s < 1.0 else 0.0


@jit
def threshold(log_tests, b):
    """x(b)"""
    level = log_tests + np.log(b * (b - 1.0))
    return np.log(4.0) + level + np.log(1.0 + level + 2.0 * np.log(1.0 + level))


@jit
def end_block(test, entry, size, m):
    """Compare the block of m visits that ends with all visits before it."""
    n = test.visits[entry]
    for i in range(test.sums.shape[1]):
        total = test.sums[entry, i]
        if n > m:
            late = total - test.before[entry, size, i]
            if likelihood_ratio(n, total, m, late) >= threshold(test.log_tests, n / m):
                test.now[0].alarm = True
        test.before[entry, size, i] = total


@jit
def observe(test, entry, r, g, y):
    """One visit of an entry."""
    test.visits[entry] += 1
    test.sums[entry, 0] += min(max(r, 0.0), 1.0)
    test.sums[entry, 1] += min(max(g, 0.0), 1.0)
    for i in range(test.bits.shape[1]):
        test.sums[entry, 2 + i] += test.bits[y, i]
    n, m = test.visits[entry], FIRST
    for size in range(SIZES):
        if n % m != 0:
            break
        end_block(test, entry, size, m)
        m *= RATIO


@jit
def begin_anew(test):
    test.visits[:] = 0
    test.sums[:] = 0.0
    test.before[:] = 0.0
    test.now[0].alarm = False
