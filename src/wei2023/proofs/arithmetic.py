"""Orders and what is said of them: costs (C19), Table 1 (C21), remarks on orders (C25, C26, C27).

C19.  In an episode Algorithm 1 touches O(H A) numbers, and at a restart the O(H S A) that it keeps.
      Algorithm 3 with phi(x,a) = e_(x,a) keeps the counts n_h(x,a,x'), which are O(H S^2 A), and
      goes through them in an episode. A polynomial has degree p where its differences of order p+1
      vanish and those of order p do not, and counts are whole numbers: degrees are exact.

C21.  A row of Table 1 has the regret and the violation V of its theorem. Theorems 2 and 4 have K
      K^(-zeta p) for the K K^(-p) of Theorems 1 and 3, zeta = 5/9 and 1/2. In Theorems 3 and 4 V is
      of the regret's order; V = 0 takes a tightening of eps = (order of V)/K, which falls below
      delta/2 as K grows and by Lemma 9 costs K H eps/delta, H/delta times the order of V.

C25 compares with a bound for linear kernels that is not printed; Ding and Lavaei's only row in
Table 1 is tabular. Orders are exact monomials, without logarithms and constants.
"""

import math
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from nscmdp import algorithms, environments
from nscmdp.problem import DoesNotFit, Problem
from wei2023.proofs import findings
from wei2023.proofs.findings import Finding, Given, Notice, check, exactly, verdict
from wei2023.verdicts import theory

FACTOR = re.compile(r"([A-Za-z]+)(?:\^(?:\{(\d+)/(\d+)\}|(\d+)))?")
DING_LAVAEI = "propd_ppo"
ANY_POWER = Notice("any other power")


@dataclass(frozen=True)
class Monomial:
    """coefficient x product of symbols to exact powers."""

    powers: Mapping[str, Fraction]
    coefficient: float = 1.0

    def __mul__(self, other: "Monomial") -> "Monomial":
        names = {**self.powers, **other.powers}
        powers = {name: self.power(name) + other.power(name) for name in names}
        coefficient = self.coefficient * other.coefficient
        return Monomial({name: p for name, p in powers.items() if p}, coefficient)

    def __rmul__(self, number: float) -> "Monomial":
        return Monomial(self.powers, number * self.coefficient)

    def __pow__(self, exponent: Fraction | int) -> "Monomial":
        powers = {name: p * exponent for name, p in self.powers.items()}
        return Monomial(powers, self.coefficient ** float(exponent))

    def __truediv__(self, other: "Monomial") -> "Monomial":
        return self * other**-1

    def power(self, name: str) -> Fraction:
        return self.powers.get(name, Fraction(0))

    def substitute(self, name: str, value: "Monomial") -> "Monomial":
        """With ``value`` for the symbol ``name``."""
        rest = {other: p for other, p in self.powers.items() if other != name}
        return Monomial(rest, self.coefficient) * value ** self.power(name)

    def log10(self, logs: Mapping[str, float]) -> float:
        """Its decimal logarithm, from those of its symbols: K may be too large for a number."""
        terms = (float(p) * logs[name] for name, p in self.powers.items())
        return math.log10(self.coefficient) + sum(terms)

    def __str__(self) -> str:
        raised = {n: f"^{p}" if p.denominator == 1 else f"^({p})" for n, p in self.powers.items()}
        return " ".join(n + raised[n] * (self.powers[n] != 1) for n in sorted(raised)) or "1"


def symbols(names: str) -> tuple[Monomial, ...]:
    return tuple(Monomial({name: Fraction(1)}) for name in names.split())


def parse(order: str) -> Monomial:
    """An order such as "H^4 S^{1/2} K^{4/5}", perhaps with a remark in brackets."""
    powers: dict[str, Fraction] = {}
    for factor in order.partition("(")[0].split():
        found = FACTOR.fullmatch(factor)
        if not found:
            raise ValueError(f"order {order!r}: {factor!r} is not a power such as K^{{4/5}}")
        name, above, below, whole = found.groups()
        powers[name] = Fraction(int(above), int(below)) if above else Fraction(int(whole or 1))
    return Monomial(powers)


def printed(algorithm: str) -> Monomial:
    """The regret order that a row claims."""
    return parse(next(row.regret_order for row in theory.TABLE if row.algorithm == algorithm))


SIDES = {"S": (8, 16, 24, 32), "A": (2, 4, 6, 8), "H": (2, 4, 6, 8)}  # equally spaced
LIGHT, HEAVY = parse("S A H"), parse("S^2 A H")
MODELS = (theory.THIRD, DING_LAVAEI, "sliding_window_opt_cmdp")  # what keeps counts


def degree(values: Sequence[int]) -> int:
    """Of the polynomial through n equally spaced points, which tell degrees up to n-2 apart."""
    order = -1
    while any(values):
        order += 1
        values = [later - before for before, later in pairwise(values)]
    return order


def degrees(cost: Callable[..., int]) -> Monomial:
    """The degree of cost(S, A, H) in each of them."""
    shape, found = {"S": 8, "A": 3, "H": 4}, {}
    for side, sizes in SIDES.items():
        found[side] = Fraction(degree([cost(**(shape | {side: size})) for size in sizes]))
    return Monomial({side: power for side, power in found.items() if power})


def kept(algorithm: str, S: int, A: int, H: int) -> int:
    """Bytes of our learner's arrays before its first episode, every state a possible successor."""
    sizes = {"states": S, "actions": A, "horizon": H, "branching": S}
    problem = Problem.of(environments.make("random_tabular", 256, **sizes, slater=H / 4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DoesNotFit)
        learner = algorithms.make(algorithm, problem, algorithms.settings(algorithm)[0])
    return algorithms.state_bytes(learner)


def touched(S: int, A: int, H: int) -> dict[str, int]:
    """Table entries read or written, by the lines of the listings."""
    score = 2 * A  # Q + (Z/eta) C or, under the soft-max, Q + Y C of every action
    visit = score + 2 + 2 * (2 + 1) + score + 2 * 2  # a; N; Q, C with V or W ahead; a'; V, W
    row = 1 + 2 * (2 * S + 1)  # N; for Q and C: n(x,a,y) and V or W of every y, the entry
    states = S * (A * row + score + 2 * (A + 1))  # every w, Q and C, the soft-max, V and W
    first = {"an episode of Algorithm 1": H * visit, "its restart": H * S * (3 * A + 2)}
    return {**first, "an episode of Algorithm 3": H * (states + 2 * 2)}  # N and n where it went


@check("C19")
def costs(given: Given) -> Finding:
    work = {name: degrees(lambda n=name, **shape: touched(**shape)[n]) for name in touched(1, 1, 1)}
    memory = {name: degrees(partial(kept, name)) for name in (theory.FIRST, *MODELS)}
    episode, again, third = work.values()
    first, *models = memory.values()
    light = first == LIGHT and all(one.power(n) <= 1 for one in (episode, again) for n in SIDES)
    fits = light and all(found == HEAVY for found in (third, *models))
    numbers = {f"entries touched in {name}": str(order) for name, order in work.items()}
    numbers |= {f"bytes of {name}": str(order) for name, order in memory.items()}
    return Finding(verdict(refuted=not fits), numbers, ANY_POWER, **exactly(first.power("S")))


EPOCHS = {  # of a theorem: the one whose algorithm runs in every epoch, and zeta
    theory.SECOND: (theory.FIRST, Fraction(5, 9)),
    theory.FOURTH: (theory.THIRD, Fraction(1, 2)),
}
CONDITION = {theory.THIRD: "1/4", theory.FOURTH: "8"}  # power of K where V = 0, in the text


def with_epochs(order: Monomial, zeta: Fraction) -> Monomial:
    """Of K episodes cut into epochs of K^zeta: K K^(-zeta p) for K K^(-p)."""
    loss = 1 - order.power("K")
    return order * Monomial({"K": loss - zeta * loss})


def least_states() -> Monomial:
    """The S from which Algorithm 1's order is below Ding and Lavaei's."""
    ratio = printed(theory.FIRST) / printed(DING_LAVAEI)
    return (ratio / Monomial({"S": ratio.power("S")})) ** (-1 / ratio.power("S"))


@check("C21")
def table_1(given: Given) -> Finding:
    theorems, (H,) = theory.THEOREMS, symbols("H")
    regrets = {name: parse(theorem.regret) for name, theorem in theorems.items()}
    agree = all(printed(name) == order for name, order in regrets.items())
    agree &= all(regrets[n] == with_epochs(regrets[m], zeta) for n, (m, zeta) in EPOCHS.items())
    rows = {row.algorithm: row.violation_order for row in theory.TABLE if row.algorithm in theorems}
    differ = {n: regrets[n] for n, theorem in theorems.items() if theorem.violation != rows[n]}
    vanish = all(rows[n] == "0" and order.power("K") < 1 for n, order in differ.items())
    numbers = {"Algorithm 1's order is below row 1 from S =": str(least_states())}
    for n, v in differ.items():
        of_zero = f"{theorems[n].source} with V = 0"
        said = f"{CONDITION[n]} (in the text), {1 - v.power('K')} (derived)"
        numbers[f"{of_zero}: regret"] = str(H * v)
        numbers[f"{of_zero}: power of K in its condition"] = said
    numbers["row 1, of linear kernels by the caption"] = str(printed(DING_LAVAEI))
    repair = findings.ASSUMPTION if vanish and agree else None
    found = verdict(refuted=bool(differ) or not agree, repair=repair)
    return Finding(found, numbers, ANY_POWER, **exactly(len(differ)))


@check("C25")
def over_ding_and_lavaei(given: Given) -> Finding:
    """By what power of a size Algorithm 3's row is smaller; d = S A in a tabular problem."""
    theirs, (S, A) = printed(DING_LAVAEI), symbols("S A")
    gain = theirs / printed(theory.THIRD)
    tabular, needed = gain.substitute("d", S * A), Fraction(1, 4) - gain.power("H")
    holds = not needed and min(gain.power("B"), gain.power("d")) > 0
    answer = verdict(refuted=not holds) if theirs.power("d") else findings.NO_SOURCE
    crossing = Monomial({n: -tabular.power(n) / gain.power("B") for n in "HSA" if gain.power("B")})
    numbers = {f"gain in {n}, by the table, d = S A": str(tabular.power(n)) for n in "HSAB"}
    asked = str(theirs.power("H") + needed)
    numbers["power of H in their bound that the remark asks for"] = asked
    numbers["Algorithm 3's row is the smaller, d = S A, from B ="] = str(crossing)
    return Finding(answer, numbers, **exactly(gain.power("H")))


def in_K(orders: Iterable[str]) -> list[Fraction]:
    return [parse(order).power("K") for order in orders]


@check("C26")
def best_for_stationary(given: Given) -> Finding:
    """A stationary CMDP has any budget, so the table's rows are results on it, too."""
    mine, cited = printed(theory.FIRST), theory.CITED
    own = [row.regret_order for row in theory.TABLE[:5] if row.model_free]
    best = min(in_K(known.regret for known in cited if known.violation == "0"))
    free = min(in_K([*own, *(known.regret for known in cited if known.model_free)]))
    in_B = printed("restart_q_ucb").power("B") == mine.power("B")
    numbers = {f"{known.source}: regret": str(parse(known.regret)) for known in cited}
    numbers["least power of K of a model-free row of Table 1"] = str(min(in_K(own)))
    repair = findings.MISPRINT if in_B and free == mine.power("K") else None
    found = verdict(refuted=best < mine.power("K") or not in_B, repair=repair)
    notices = Notice("the power of K less by", float(mine.power("K") - best))
    return Finding(found, numbers, notices, **exactly(mine.power("K")), bound=best)


@check("C27")
def as_unconstrained(given: Given) -> Finding:
    mine, triple_q = (printed(name) for name in (theory.FIRST, "triple_q"))
    others, lower = in_K(theory.UNCONSTRAINED.values()), parse(theory.LOWER_BOUND)
    in_B, power = lower.power("B") == mine.power("B"), mine.power("K")
    repair = findings.MISPRINT if in_B and triple_q.power("K") == power else None
    found = verdict(refuted=power not in others or not in_B, repair=repair)
    numbers = {"lower bound of Mao et al., T = K H": str(lower)}
    return Finding(found, numbers, ANY_POWER, **exactly(power))
