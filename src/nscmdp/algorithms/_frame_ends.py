"""What the end of a frame does to optimistic tables, at a cost that does not depend on their size.

A frame's end touches no table. Beside Q and C an entry stores its visits plus what the clock ``zero`` was when they
began; at a frame's end ``zero`` grows by ``stride``, past all of them; and the next visit to (h,x) finds them below it
and applies the rule as often as a frame ended meanwhile.
"""

from typing import NamedTuple

from nscmdp.kernels.jit import jit
from nscmdp.problem import Problem

Q, C, N = 0, 1, 2  # rows of the table of one (h,x)

FULL = 0  # every entry back to its initial value (Algorithm 1)
BUMP = 1  # Q + bump; where Q >= cap_q Q_0 or C >= cap_c C_0, back to the initial values Q_0, C_0 (Triple-Q)
COUNTS = 2  # only the counts
LIFT = 3  # Q + bump, up to its initial value; counts stay (Tracking Triple-Q)

RULES = {"full": FULL, "bump": BUMP, "counts": COUNTS}


class FrameEnd(NamedTuple):
    rule: int
    stride: float  # more than the visits of an entry between two ends that reset its counts
    bump: float
    cap_q: float = 1.0
    cap_c: float = 1.0
    keep_c: bool = False  # BUMP leaves C as it is


@jit
def apply_frame_ends(learner, h, x):
    """Apply the rule to (h,x) once for every frame that ended since its last visit."""
    table, end, zero = learner.table[h, x], learner.end, learner.now[0].zero
    q0, c0 = learner.initial[h, 0], learner.initial[h, 1]
    missed = int(zero / end.stride) - int(table[N, 0] / end.stride)
    for a in range(table.shape[1] if missed > 0 else 0):
        if end.rule == LIFT:
            table[N, a] += missed * end.stride
            table[Q, a] = max(table[Q, a], min(table[Q, a] + missed * end.bump, q0))
            continue
        table[N, a] = zero
        if end.rule == FULL:
            table[Q, a], table[C, a] = q0, c0
        elif end.rule == BUMP:
            for _ in range(missed):
                table[Q, a] += end.bump
                if table[Q, a] >= end.cap_q * q0 or table[C, a] >= end.cap_c * c0:
                    table[Q, a] = q0
                    if not end.keep_c:
                        table[C, a] = c0


def frame_range(problem: Problem, frames: float, unit: float) -> tuple[float, float]:
    """Factors of ``unit`` that make frames from K^0.6 / 10 episodes to so many that ``frames`` of them end in a run."""
    longest = problem.K / frames
    return min(0.1 * problem.K**0.6, longest / 2) / unit, longest / unit
