"""Orders and what is said of them: memory (C19), Table 1 (C21), the remarks on Ding and Lavaei's bounds (C25).

C19.  Algorithm 1 keeps O(H S A) numbers; Algorithm 3 with phi(x,a) = e_(x,a) keeps the counts n_h(x,a,x'), which are
      O(H S^2 A), as model-based algorithms do. A polynomial has degree p where its differences of order p+1 vanish and
      those of order p do not, and bytes are whole numbers: degrees are exact.

C21.  Table 1's orders are those of the theorems, and what the text says of them follows from the rows:

          Theorem 1   H^4 S^(1/2) A^(1/2) B^(1/3) K^(4/5)
          Theorem 2   the same with K K^(-zeta/5) for K K^(-1/5), zeta = 5/9
          Theorem 4   Theorem 3's K^(3/4) H^(9/4) d^(5/4) B^(1/4) with K K^(-zeta/4) for K K^(-1/4), zeta = 1/2

C25.  "Improves on Ding and Lavaei by H^(1/4), and in B and d": on their bound for linear kernels, which would have d in
      it and is not printed. The only row of theirs in Table 1 is tabular,

          S^(2/3) A^(1/3) H^(5/3) K^(3/4) B^(1/3)      against      K^(3/4) H^(9/4) d^(5/4) B^(1/4).

C25a. What the rows of Table 1 say: Algorithm 3 is better by B^(1/12), worse by H^(7/12), and in a tabular problem
      (d = S A) better in all from B = H^7 S^7 A^11 on.

Orders are read from ``theory.TABLE`` as exact monomials. Logarithms, and constants that O~ hides, are left out.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

from nscmdp import algorithms, environments
from nscmdp.analysis import theory
from nscmdp.analysis.claims.findings import FAILS, FALSE, HOLDS, MIXED, OUT_OF_REACH, Finding, Given, check
from nscmdp.problem import DoesNotFit, Problem

FACTOR = re.compile(r"([A-Za-z]+)(?:\^(?:\{(\d+)/(\d+)\}|(\d+)))?")
DING_LAVAEI, THIRD = "propd_ppo", "lsvi_primal_dual"
MENU = {"S": 3.0, "A": 4.0, "H": 4.0, "B": 4 * 44 / 15, "d": 12.0}  # sizes of the growth study, legs = 4


@dataclass(frozen=True)
class Monomial:
    """coefficient x product of symbols to exact powers."""

    powers: Mapping[str, Fraction]
    coefficient: float = 1.0

    def __mul__(self, other: "Monomial") -> "Monomial":
        names = {**self.powers, **other.powers}
        powers = {name: self.power(name) + other.power(name) for name in names}
        return Monomial({name: p for name, p in powers.items() if p}, self.coefficient * other.coefficient)

    def __pow__(self, exponent: Fraction | int) -> "Monomial":
        powers = {name: p * exponent for name, p in self.powers.items()}
        return Monomial(powers, self.coefficient ** float(exponent))

    def __truediv__(self, other: "Monomial") -> "Monomial":
        return self * other**-1

    def power(self, name: str) -> Fraction:
        return self.powers.get(name, Fraction(0))

    def substitute(self, name: str, value: "Monomial") -> "Monomial":
        """With ``value`` for the symbol ``name``."""
        rest = Monomial({other: p for other, p in self.powers.items() if other != name}, self.coefficient)
        return rest * value ** self.power(name)

    def log10(self, logs: Mapping[str, float]) -> float:
        """Its decimal logarithm, from those of its symbols: K may be too large for a number."""
        return math.log10(self.coefficient) + sum(float(p) * logs[name] for name, p in self.powers.items())

    def __str__(self) -> str:
        return " ".join(f"{name}^({p})" if p != 1 else name for name, p in sorted(self.powers.items())) or "1"


def symbols(names: str) -> tuple[Monomial, ...]:
    return tuple(Monomial({name: Fraction(1)}) for name in names.split())


def parse(order: str) -> Monomial:
    """An order of ``theory.TABLE``: "H^4 S^{1/2} A^{1/2} K^{4/5} B^{1/3}", perhaps with a remark in brackets."""
    powers: dict[str, Fraction] = {}
    for factor in order.partition("(")[0].split():
        found = FACTOR.fullmatch(factor)
        if not found:
            raise ValueError(f"order {order!r}: {factor!r} is not a power such as K^{{4/5}}")
        name, above, below, whole = found.groups()
        powers[name] = Fraction(int(above), int(below)) if above else Fraction(int(whole or 1))
    return Monomial(powers)


def printed(table: Sequence[theory.Row], algorithm: str) -> Monomial:
    """The regret order that a row claims."""
    return parse(next(row.regret_order for row in table if row.algorithm == algorithm))


def exactly(value: Fraction | float) -> dict[str, Any]:
    """The value and the ends of its interval."""
    return dict.fromkeys(("value", "low", "high"), float(value))


# ---------------------------------------------------------------------------------------------------- C19, memory

SIDES = {"S": (8, 16, 24, 32), "A": (2, 4, 6, 8), "H": (2, 4, 6, 8)}  # equally spaced: differences tell the degree
CLAIMED = {  # degrees in S, A and H of what each must keep
    "nonstationary_triple_q": {"S": 1, "A": 1, "H": 1},
    "lsvi_primal_dual": {"S": 2, "A": 1, "H": 1},
    "propd_ppo": {"S": 2, "A": 1, "H": 1},
    "sliding_window_opt_cmdp": {"S": 2, "A": 1, "H": 1},
}


def degree(values: Sequence[int]) -> int:
    """Of the polynomial through equally spaced points, n of which tell degrees up to n-2 from higher ones."""
    order = -1
    while any(values):
        order += 1
        values = [later - before for before, later in pairwise(values)]
    return order


def measured_bytes(algorithm: str, S: int, A: int, H: int, branching: int) -> int:
    """Of all arrays that a learner keeps before its first episode."""
    env = environments.make("random_tabular", 256, states=S, actions=A, horizon=H, branching=branching, slater=H / 4)
    setting = algorithms.settings(algorithm)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoesNotFit)
        return algorithms.state_bytes(algorithms.make(algorithm, Problem.of(env), setting))


@check("C19")
def memory(given: Given, measure: Callable[[str, int, int, int, int], int] = measured_bytes) -> Finding:
    """Degrees of the memory in S, A and H; successors of a row: all S of them, as the paper counts them."""
    rows, degrees = [], {}
    for algorithm in CLAIMED:
        for side, sizes in SIDES.items():
            found = []
            for size in sizes:
                shape = {"S": 8, "A": 3, "H": 4, side: size}
                found.append(measure(algorithm, shape["S"], shape["A"], shape["H"], shape["S"]))
                rows.append({"algorithm": algorithm, "along": side, **shape, "bytes": found[-1]})
            degrees[algorithm, side] = degree(found)
    wrong = [key for key, found in degrees.items() if found != CLAIMED[key[0]][key[1]]]
    sparse = degree([measure(THIRD, S, 3, 4, 3) for S in SIDES["S"]])
    S = SIDES["S"][-1]
    times = measure(THIRD, S, 3, 4, S) / measure(theory.FIRST, S, 3, 4, S)
    said = ", ".join(f"{name} {degrees[name, 'S']}" for name in CLAIMED)
    mine = degrees[theory.FIRST, "S"]
    return Finding(
        verdict=HOLDS if not wrong else MIXED if len(wrong) < len(degrees) else FAILS,
        why=f"degree in S of the bytes kept: {said}; at S = {S}, Algorithm 3 as tabular keeps {times:.0f} times what "
        f"Algorithm 1 does; its degree is {sparse} where only the successors that occur are kept",
        bound=float(degrees[THIRD, "S"]),
        slack=float(degrees[THIRD, "S"] - mine),
        slack_in="powers of S",
        samples=len(rows),
        rows=rows,
        **exactly(mine),
    )


# ------------------------------------------------------------------------------------------------------ C21, Table 1


class Statement(NamedTuple):
    says: str
    where: str
    claimed: Fraction
    found: Fraction

    @property
    def holds(self) -> bool:
        return self.claimed == self.found


def with_epochs(order: Monomial, power: Fraction, zeta: Fraction) -> Monomial:
    """The order of K episodes cut into epochs of K^zeta: K K^(-zeta power) for K K^(-power)."""
    return order * Monomial({"K": power - zeta * power})


def statements(table: Sequence[theory.Row]) -> Iterator[Statement]:
    """What Table 1, its caption and the text around it say, power by power."""
    H, S, A, B, K, d = symbols("H S A B K d")
    fourth, half = Fraction(1, 4), Fraction(1, 2)
    first = H**4 * (S * A) ** half * B ** Fraction(1, 3) * K ** Fraction(4, 5)
    third = K ** Fraction(3, 4) * H ** Fraction(9, 4) * d ** Fraction(5, 4) * B**fourth
    theorems = {
        "nonstationary_triple_q": ("Theorem 1", first),
        "double_restart_triple_q": ("Theorem 2", with_epochs(first, Fraction(1, 5), Fraction(5, 9))),
        THIRD: ("Theorem 3", third),
        "double_restart_lsvi_primal_dual": ("Theorem 4", with_epochs(third, fourth, half)),
    }
    for algorithm, (where, order) in theorems.items():
        row = printed(table, algorithm)
        for name in dict.fromkeys([*order.powers, *row.powers]):
            says = f"the row's power of {name} is the theorem's"
            yield Statement(says, f"Table 1, {where}", order.power(name), row.power(name))
    mine = printed(table, "nonstationary_triple_q")
    stationary, unconstrained = printed(table, "triple_q"), printed(table, "restart_q_ucb")
    yield Statement("in K as Triple-Q without drift", "Introduction", stationary.power("K"), mine.power("K"))
    yield Statement(
        "in B as RestartQ-UCB without constraint", "Introduction", unconstrained.power("B"), mine.power("B")
    )
    dagger = printed(table, "dual_restart_lsvi_primal_dual").power("K")
    yield Statement("Algorithm 4's regret can be of order K^(3/4)", "Table 1, dagger", Fraction(3, 4), dagger)
    for algorithm in theorems:
        violation = next(row.violation_order for row in table if row.algorithm == algorithm)
        yield Statement(
            f"{algorithm} ends without violation", "Table 1, asterisk", Fraction(0), Fraction(int(violation != "0"))
        )


def below_trivial(order: Monomial, sizes: Mapping[str, float]) -> float:
    """log10 of the K from which an order, its constant taken as 1, is below the H K that any policy keeps to."""
    rest = order / Monomial({"H": Fraction(1), "K": Fraction(1)})
    others = Monomial({name: p for name, p in rest.powers.items() if name != "K"})
    return -others.log10({name: math.log10(size) for name, size in sizes.items()}) / float(rest.power("K"))


def least_states(table: Sequence[theory.Row]) -> Monomial:
    """The S from which Algorithm 1's order is below Ding and Lavaei's, as a monomial of the other sizes."""
    ratio = printed(table, "nonstationary_triple_q") / printed(table, DING_LAVAEI)
    rest = Monomial({name: p for name, p in ratio.powers.items() if name != "S"})
    return rest ** (-1 / ratio.power("S"))


@check("C21")
def table_1(given: Given, table: Sequence[theory.Row] = theory.TABLE) -> Finding:
    """Every statement on the table, and where its orders cross."""
    judged = [*statements(table)]
    wrong = [s for s in judged if not s.holds]
    rows: list[dict[str, Any]] = [
        {"kind": "statement", "says": s.says, "where": s.where, "claimed": str(s.claimed), "found": str(s.found)}
        for s in judged
    ]
    logs = {name: math.log10(size) for name, size in MENU.items()}
    for row in table[:5]:
        order = parse(row.regret_order)
        for log_K in range(2, 61, 2):
            at = order.log10({**logs, "K": float(log_K)})
            rows.append({"kind": "order", "algorithm": row.algorithm, "log10_K": log_K, "log10_order": at})
    ratio = printed(table, "nonstationary_triple_q") / printed(table, DING_LAVAEI)
    crossing = least_states(table)
    starts = [below_trivial(printed(table, name), MENU) for name in ("nonstationary_triple_q", DING_LAVAEI)]
    dagger = next(row for row in table if row.algorithm == "dual_restart_lsvi_primal_dual")
    wins = "at no K" if ratio.power("K") >= 0 else "at large K"
    return Finding(
        verdict=HOLDS if not wrong else FALSE,
        why=f"{len(judged) - len(wrong)} of {len(judged)} statements follow from the rows"
        + (f", not that {wrong[0].says} ({wrong[0].found} for {wrong[0].claimed})" if wrong else "")
        + f"; Algorithm 1's order over Ding and Lavaei's is {ratio}: {wins} the smaller one unless S >= {crossing}; "
        f"in the growth study's sizes, constants taken as 1, they fall below H K from 1e{starts[0]:.0f} and "
        f"1e{starts[1]:.0f} on; the dagger's K^(3/4) comes with a violation of order {dagger.violation_order}, not 0",
        **exactly(ratio.power("K")),
        bound=0.0,
        slack=float(len(judged) - len(wrong)) / len(judged) - 1.0,
        slack_in="share of the statements",
        samples=len(judged),
        rows=rows,
    )


# ------------------------------------------------------------------------------ C25, the remarks on Ding and Lavaei


def improvements(table: Sequence[theory.Row]) -> dict[str, Fraction]:
    """By what power of each size Algorithm 3's row is the smaller one; with d = S A where the other has S and A."""
    ratio = printed(table, DING_LAVAEI) / printed(table, THIRD)
    S, A = symbols("S A")
    tabular = ratio.substitute("d", S * A)
    found = {name: ratio.power(name) for name in ("H", "B", "K")}
    return {**found, "d": ratio.power("d"), "S": tabular.power("S"), "A": tabular.power("A")}


def improvement_rows(found: Mapping[str, Fraction]) -> list[dict[str, Any]]:
    says = {"H": "by H^(1/4)", "B": "improved", "d": "improved"}
    return [{"size": name, "said": says.get(name, "-"), "improvement": str(p)} for name, p in found.items()]


@check("C25")
def over_ding_and_lavaei(given: Given, table: Sequence[theory.Row] = theory.TABLE) -> Finding:
    """The remarks, power by power: H by 1/4, B and d by anything above 0; unjudged where their row has no d."""
    found, theirs = improvements(table), printed(table, DING_LAVAEI)
    parts = {"H": found["H"] == Fraction(1, 4), "B": found["B"] > 0, "d": found["d"] > 0}
    wrong = [name for name, holds in parts.items() if not holds]
    tabular = not theirs.power("d")
    needed = printed(table, THIRD).power("H") + Fraction(1, 4)
    said = f"H^({found['H']}) and B^({found['B']})"
    why = (
        f"the bound compared with, for linear kernels, is not printed in the paper; H^(1/4) would need H^({needed}) in "
        f"it; Table 1's row, which is tabular, shows {said} instead"
    )
    return Finding(
        verdict=OUT_OF_REACH if tabular else FALSE if wrong else HOLDS,
        why=why if tabular else f"by their row, {theirs}, Algorithm 3 gains {said} and d^({found['d']})",
        **exactly(found["H"]),
        bound=0.25,
        slack=float(found["H"] - Fraction(1, 4)),
        slack_in="powers of H",
        samples=len(parts),
        rows=improvement_rows(found),
    )


@check("C25a")
def what_the_row_says(given: Given, table: Sequence[theory.Row] = theory.TABLE) -> Finding:
    """Better in B alone; in a tabular problem, the B from which Algorithm 3's order is the smaller one."""
    found = improvements(table)
    crossing = Monomial({name: -found[name] / found["B"] for name in ("H", "S", "A")})
    claimed = {"H": Fraction(7), "S": Fraction(7), "A": Fraction(11)}
    holds = found["B"] == Fraction(1, 12) and found["H"] == Fraction(-7, 12) and crossing.powers == claimed
    needed = crossing.log10({name: math.log10(size) for name, size in MENU.items()})
    return Finding(
        verdict=HOLDS if holds else FALSE,
        why=f"Algorithm 3's row is smaller by B^({found['B']}) and larger by H^({-found['H']}); with d = S A it is "
        f"smaller in all from B = {crossing} on: 1e{needed:.0f} in the growth study's sizes, where B = {MENU['B']:.3g}",
        **exactly(found["B"]),
        bound=0.0,
        slack=float(found["B"]),
        slack_in="powers of B",
        samples=len(found),
        rows=improvement_rows(found),
    )
