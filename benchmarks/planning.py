"""The exact optimum of one episode beside HiGHS on the linear program of occupancy measures."""

from functools import partial

from benchmarks.cases import MAPS
from benchmarks.timing import Comparison, compared, seconds
from nscmdp import environments, optimum

SAME = 1e-6  # HiGHS stops within its own tolerances


def beside_highs(map: str, repeats: int) -> Comparison:
    cmdp = environments.make("grid_world", 1, **MAPS[map]).at(1)
    value, other = optimum.constrained(cmdp).value, optimum.linear_program(cmdp).value
    if abs(value - other) > SAME * (1 + abs(other)):
        raise AssertionError(f"optimum {map}: our value is {value!r}, that of HiGHS is {other!r}")
    ours, theirs = partial(optimum.constrained, cmdp), partial(optimum.linear_program, cmdp)
    return compared(f"optimum {map}", "HiGHS", [(seconds(ours), seconds(theirs)) for _ in range(repeats)])
