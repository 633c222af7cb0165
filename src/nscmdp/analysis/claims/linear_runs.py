"""Algorithm 3 in plain numpy, many runs at once, with all that the lemmas of linear CMDPs speak of in sight.

A run has a linear CMDP of its own: phi(x,a) in the simplex of R^d, two models M and M' (mu_h, theta_h) and a path of
weights t_k, so that episode k has the parameters (1-t_k) M + t_k M'; every episode starts in state 0. Weights take few
values (levels), and what is exact is computed once per level: kernels, rewards, and the constrained optimum, by
bisection of its multiplier.

Variation of a step of the path, in the two norms that "||mu_k - mu_{k-1}||" is read in:

    frobenius   ( sum_{i,x} (mu_i(x) - mu'_i(x))^2 )^(1/2)           as the main text defines B_p
    total       ( sum_i ( sum_x |mu_i(x) - mu'_i(x)| )^2 )^(1/2)     so that |sum_x (mu-mu')(x) V(x)| <= H ||mu-mu'||
"""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nscmdp.cmdp import Array
from nscmdp.randomness import stream

CONFIDENCE = 0.05  # p
SIZES = (  # S, A, d, H, K and frames
    (4, 2, 2, 2, 1200, 1),
    (5, 3, 3, 3, 500, 1),
    (4, 3, 2, 1, 800, 4),
)
BONUSES = (1.0, 0.1, 0.01)  # what beta is multiplied by: as printed, and smaller
R, G = 0, 1  # reward and utility, where an axis has both


class Listing(NamedTuple):
    """Algorithm 3 as listed; every other value is a fault."""

    bonus: float = 1.0  # what beta is multiplied by
    dual: bool = True  # Y moves
    restart: bool = True
    softmax: bool = True  # else uniform


class Problems(NamedTuple):
    """n linear CMDPs of the same sizes."""

    phi: Array  # (n, S, A, d)
    mu: Array  # (n, levels, H, d, S)
    theta: Array  # (n, levels, 2, H, d)
    level: NDArray[np.int64]  # (n, K): the level of every episode
    rho: Array  # (n,)

    @property
    def sizes(self) -> tuple[int, int, int, int, int]:
        """S, A, d, H, K"""
        _, S, A, d = self.phi.shape
        return S, A, d, self.mu.shape[2], self.level.shape[1]

    @property
    def kernel(self) -> Array:
        """(n, levels, H, S, A, S)"""
        return np.einsum("nxai,nlhiy->nlhxay", self.phi, self.mu)

    @property
    def paid(self) -> Array:
        """(n, levels, 2, H, S, A): r and g"""
        return np.einsum("nxai,nljhi->nljhxa", self.phi, self.theta)

    def variation(self, norm: str) -> Array:
        """(n, K, 3): the variation of theta_r, theta_g and mu on the way into each episode, summed over h."""
        n, K = self.level.shape
        rows = np.arange(n)[:, None]
        here, before = self.level[:, 1:], self.level[:, :-1]
        theta = self.theta[rows, here] - self.theta[rows, before]
        mu = self.mu[rows, here] - self.mu[rows, before]
        if norm == "frobenius":
            moved = np.sqrt((mu**2).sum(axis=(-1, -2)))
        else:
            moved = np.linalg.norm(np.abs(mu).sum(axis=-1), axis=-1)
        found = np.zeros((n, K, 3))
        found[:, 1:, :2] = np.linalg.norm(theta, axis=-1).sum(axis=-1)
        found[:, 1:, 2] = moved.sum(axis=-1)
        return found


class Optima(NamedTuple):
    """Of every level: (n, levels)."""

    value: Array
    utility: Array
    multiplier: Array
    slater: Array  # (n,): the least over levels of the best utility less rho


class Constants(NamedTuple):
    frame: int  # D
    alpha: Array  # (n,)
    beta: float
    eta: Array  # (n,)
    xi: Array  # (n,)
    ridge: float = 1.0


class Trace(NamedTuple):
    """What n runs of K episodes leave behind."""

    dual: Array  # (n, K): Y_k
    after: Array  # (n,): Y_{K+1}
    estimate: Array  # (n, K, 2): V_r,1^k(x_1) and V_g,1^k(x_1)
    value: Array  # (n, K, 2): V_r,1^{pi_k}(x_1) and V_g,1^{pi_k}(x_1), exact
    weight: Array  # (n, K): the largest |w_j,h^k| over j and h
    residual: Array  # (n, K, 2): the largest |<phi,w> - r_k - P_k V^k| - beta |phi|, over h, x, a
    bonus_used: Array  # (n, K): the largest |<phi,w> - r_k - P_k V^k| / (beta |phi|)
    optimism: Array  # (n, K, H): the largest over x of max_pi V_h^{pi,Y_k} - V_h^k
    explored: Array  # (n, K): sum over h of |phi(x_h,a_h)| in the norm of Lambda^-1


def draw(rng: np.random.Generator, n: int, K: int, S: int = 4, A: int = 2, d: int = 2, H: int = 2,
         levels: int = 9, spread: float = 1.0) -> Problems:  # fmt: skip
    """Random problems: of every three one rests, one drifts to and fro, one switches between the ends of its way."""
    phi = rng.dirichlet(np.full(d, 0.4), size=(n, S, A))
    mu = rng.dirichlet(np.full(S, 0.4), size=(n, 2, H, d))
    theta = rng.random((n, 2, 2, H, d))
    kind = np.arange(n) % 3
    mu[kind == 0, 1], theta[kind == 0, 1] = mu[kind == 0, 0], theta[kind == 0, 0]
    t = np.linspace(0, 1, levels)
    t = t[:, None, None, None]
    mu, theta = ((1 - t) * ends[:, :1] + t * ends[:, 1:] for ends in (mu, theta))
    k = np.arange(K)
    legs = rng.integers(1, 4, size=n)[:, None]
    way = np.abs((legs * k / K + 1) % 2 - 1)
    way = np.where(kind[:, None] == 2, way > 0.5, np.where(kind[:, None] == 1, way, 0.0))
    level = np.rint(way * (levels - 1)).astype(np.int64)
    bare = Problems(phi, mu, theta, level, np.zeros(n))
    best = greedy(bare, np.zeros((n, levels)), np.ones((n, levels)))[1].min(axis=1)
    return bare._replace(rho=best * rng.uniform(0.6, 0.95, size=n))


def greedy(problems: Problems, on_reward: Array, on_utility: Array) -> tuple[Array, Array]:
    """V and W (n, levels) from state 0 of the best policy for ``on_reward`` r + ``on_utility`` g (n, levels)."""
    S, _, _, H, _ = problems.sizes
    P, paid = problems.kernel, problems.paid
    v = np.zeros((*on_reward.shape, 2, S))
    for h in range(H - 1, -1, -1):
        q = paid[:, :, :, h] + np.einsum("nlxay,nljy->nljxa", P[:, :, h], v)
        both = on_reward[..., None, None] * q[:, :, R] + on_utility[..., None, None] * q[:, :, G]
        v = np.take_along_axis(q, both.argmax(axis=-1)[:, :, None, :, None], axis=-1)[..., 0]
    return v[:, :, R, 0], v[:, :, G, 0]


def optima(problems: Problems) -> Optima:
    """min over lambda in [0, H/delta] of max_pi V + lambda (W - rho), by bisection on the sign of W - rho."""
    H, rho = problems.sizes[3], problems.rho[:, None]
    one = np.ones((len(problems.rho), problems.mu.shape[1]))
    slater = (greedy(problems, 0 * one, one)[1] - rho).min(axis=1)
    free, loose = greedy(problems, one, 0 * one)
    low, high = 0 * one, one * (H / slater[:, None])
    for _ in range(45):
        middle = (low + high) / 2
        short = greedy(problems, one, middle)[1] < rho
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    v, w = greedy(problems, one, high)
    binds = loose < rho
    return Optima(
        np.where(binds, v + high * (w - rho), free),
        np.where(binds, rho, loose),
        np.where(binds, high, 0.0),
        slater,
    )


def printed(problems: Problems, slater: Array, frame: int | None = None) -> Constants:
    """The constants of the listing for Slater gaps (n,), but for D, any that is asked for (default: one frame)."""
    _, A, d, H, K = problems.sizes
    xi = 2 * H / slater
    return Constants(
        frame=K if frame is None else frame,
        alpha=np.log(A) * K / (2 * (1 + xi + H)),
        beta=d * H * np.sqrt(np.log(2 * np.log(A) * d * K * H / CONFIDENCE)),
        eta=xi / np.sqrt(K * H**2),
        xi=xi,
    )


def run(problems: Problems, constants: Constants, rng: np.random.Generator, listing: Listing) -> Trace:
    S, A, d, H, K = problems.sizes
    n, rows = len(problems.rho), np.arange(len(problems.rho))
    P, paid, phi = problems.kernel, problems.paid, problems.phi
    cumulative = P.cumsum(axis=-1)
    beta, alpha = constants.beta * listing.bonus, constants.alpha * listing.softmax
    trace = Trace(
        dual=np.zeros((n, K)),
        after=np.zeros(n),
        estimate=np.zeros((n, K, 2)),
        value=np.zeros((n, K, 2)),
        weight=np.zeros((n, K)),
        residual=np.full((n, K, 2), -np.inf),
        bonus_used=np.zeros((n, K)),
        optimism=np.zeros((n, K, H)),
        explored=np.zeros((n, K)),
    )
    gram, sums, moves = _forgotten(n, H, d, S, constants.ridge)
    Y = np.zeros(n)
    policy, norms = np.empty((H, n, S, A)), np.empty((H, n, S, A))
    for k in range(K):
        if listing.restart and k % constants.frame == 0:
            gram, sums, moves = _forgotten(n, H, d, S, constants.ridge)
        inverse = np.linalg.inv(gram)
        r_g, kernel = paid[rows, problems.level[:, k]], P[rows, problems.level[:, k]]
        V, exact, best = np.zeros((n, 2, S)), np.zeros((n, 2, S)), np.zeros((n, S))
        for h in range(H - 1, -1, -1):
            w = np.einsum("nil,njl->nji", inverse[:, h], sums[:, h] + np.einsum("niy,njy->nji", moves[:, h], V))
            norms[h] = np.sqrt(np.einsum("nxai,nil,nxal->nxa", phi, inverse[:, h], phi))
            bare = np.einsum("nxai,nji->njxa", phi, w)
            target = r_g[:, :, h] + np.einsum("nxay,njy->njxa", kernel[:, h], V)
            off, bonus = np.abs(bare - target), constants.beta * norms[h][:, None]
            trace.residual[:, k] = np.maximum(trace.residual[:, k], (off - bonus).max(axis=(2, 3)))
            trace.bonus_used[:, k] = np.maximum(trace.bonus_used[:, k], (off / bonus).max(axis=(1, 2, 3)))
            trace.weight[:, k] = np.maximum(trace.weight[:, k], np.linalg.norm(w, axis=2).max(axis=1))
            Q = np.minimum(bare + beta * norms[h][:, None], H)
            F = Q[:, R] + Y[:, None, None] * Q[:, G]
            chances = np.exp(alpha[:, None, None] * (F - F.max(axis=2, keepdims=True)))
            policy[h] = chances / chances.sum(axis=2, keepdims=True)
            V = (policy[h][:, None] * Q).sum(axis=3)
            truth = r_g[:, :, h] + np.einsum("nxay,njy->njxa", kernel[:, h], exact)
            exact = (policy[h][:, None] * truth).sum(axis=3)
            both = r_g[:, R, h] + Y[:, None, None] * r_g[:, G, h] + np.einsum("nxay,ny->nxa", kernel[:, h], best)
            best = both.max(axis=2)
            trace.optimism[:, k, h] = (best - V[:, R] - Y[:, None] * V[:, G]).max(axis=1)
        trace.dual[:, k], trace.estimate[:, k], trace.value[:, k] = Y, V[:, :, 0], exact[:, :, 0]
        x, u = np.zeros(n, np.int64), rng.random((2, H, n))
        for h in range(H):
            a = (policy[h, rows, x].cumsum(axis=1)[:, :-1] <= u[0, h][:, None]).sum(axis=1)
            y = (cumulative[rows, problems.level[:, k], h, x, a][:, :-1] <= u[1, h][:, None]).sum(axis=1)
            feature = phi[rows, x, a]
            trace.explored[:, k] += norms[h, rows, x, a]
            gram[:, h] += feature[:, :, None] * feature[:, None, :]
            sums[:, h] += r_g[rows, :, h, x, a][:, :, None] * feature[:, None, :]
            if h + 1 < H:
                moves[rows, h, :, y] += feature
            x = y
        if listing.dual:
            Y = np.clip(Y + constants.eta * (problems.rho - V[:, G, 0]), 0.0, constants.xi)
    return trace._replace(after=Y)


def _forgotten(n: int, H: int, d: int, S: int, ridge: float) -> tuple[Array, Array, Array]:
    """Lambda (n,H,d,d), sum phi (r,g) (n,H,2,d), sum phi e_x'^T (n,H,d,S) of a frame that begins."""
    return ridge * np.broadcast_to(np.eye(d), (n, H, d, d)).copy(), np.zeros((n, H, 2, d)), np.zeros((n, H, d, S))


LISTED = Listing()


class Batch(NamedTuple):
    problems: Problems
    optima: Optima
    constants: Constants
    trace: Trace
    bonus: float

    @property
    def drive(self) -> Array:
        """(n, K): x_k = rho - V_g,1^k(x_1)"""
        return self.problems.rho[:, None] - self.trace.estimate[:, :, G]

    def at_optimum(self, of_levels: Array) -> Array:
        """(n, K), from (n, levels)"""
        return np.take_along_axis(of_levels, self.problems.level, axis=1)

    def row(self) -> dict[str, Any]:
        S, A, d, H, K = self.problems.sizes
        return {"S": S, "A": A, "d": d, "H": H, "K": K, "D": self.constants.frame, "bonus": self.bonus}


@cache
def batches(problems: int, listing: Listing = LISTED) -> tuple[Batch, ...]:
    """Runs of Algorithm 3 on random problems of several sizes, with the printed bonus and smaller ones."""
    found = []
    for S, A, d, H, K, count in SIZES:
        drawn = draw(stream("claims", "C15", S, A, d, H), max(4, problems // 2), K, S, A, d, H)
        best = optima(drawn)
        for bonus in BONUSES:
            constants = printed(drawn, best.slater, K // count)
            constants = constants._replace(beta=bonus * constants.beta)
            trace = run(drawn, constants, stream("claims", "C15", "run", S, d, H, bonus), listing)
            found.append(Batch(drawn, best, constants, trace, bonus))
    return tuple(found)
