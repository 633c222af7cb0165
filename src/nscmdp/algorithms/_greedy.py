"""The greedy action and its ties, over one row of a table (H, S, rows, A) or over row 0 + weight times row 1.

Inlined in loops that run at every step: they read the table where it is.
"""

import numpy as np

from nscmdp.kernels.jit import inlined


@inlined
def greedy(table, h, x):
    """max_a Q_h(x,a), how many actions attain it, and the first of them."""
    best, ties, action = -np.inf, 0, 0
    for a in range(table.shape[3]):
        q = table[h, x, 0, a]
        if q > best:
            best, ties, action = q, 1, a
        elif q == best:
            ties += 1
    return best, ties, action


@inlined
def tied(table, h, x, best, ties, nth):
    """The nth of the actions that attain the best, from 0."""
    action = nth
    if ties < table.shape[3]:
        for a in range(table.shape[3]):
            if table[h, x, 0, a] == best:
                if nth == 0:
                    action = a
                nth -= 1
    return action


@inlined
def greedy_of_two(table, h, x, weight):
    """max_a Q_h(x,a) + weight C_h(x,a), how many attain it, the first, and the sums of Q and of C over all of them."""
    best, ties, action, v, w = -np.inf, 0, 0, 0.0, 0.0
    for a in range(table.shape[3]):
        q, c = table[h, x, 0, a], table[h, x, 1, a]
        f = q + weight * c
        if f > best:
            best, ties, action, v, w = f, 1, a, q, c
        elif f == best:
            ties, v, w = ties + 1, v + q, w + c
    return best, ties, action, v, w


@inlined
def tied_of_two(table, h, x, weight, best, nth):
    action = 0
    for a in range(table.shape[3]):
        if table[h, x, 0, a] + weight * table[h, x, 1, a] == best:
            if nth == 0:
                action = a
            nth -= 1
    return action
