"""The model of one episode: an episodic constrained MDP.

A CMDP has kernels P_h(x'|x,a), rewards r_h(x,a), utilities g_h(x,a), a threshold rho on the expected utility of an
episode and a distribution mu0 of the first state. Only successors that can occur are kept: row (h,x,a) has the columns
``successors`` with their ``probability``. A reward or utility may depend on the successor (a location reached); r and g
are then its mean. Arrays have one layer for all steps where a model does not depend on h.
"""

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
ROWS_SUM_TO_ONE = 1e-9


class CMDP:
    """``CMDP(P=P, r=r, g=g, rho=rho, mu0=mu0)`` with P (H,S,A,S), r and g (H,S,A), mu0 (S,)."""

    def __init__(
        self, P: ArrayLike, r: ArrayLike, g: ArrayLike, rho: float, mu0: ArrayLike
    ) -> None:
        dense = np.asarray(P, dtype=float)
        if dense.ndim != 4 or dense.shape[1] != dense.shape[3]:
            raise ValueError(f"P has shape {dense.shape}, expected (H, S, A, S)")
        _check_signs(dense)
        tables = np.asarray(r, dtype=float), np.asarray(g, dtype=float)
        for name, table in zip("rg", tables, strict=True):
            if table.shape != (shape := dense.shape[:3]):
                raise ValueError(f"{name} has shape {table.shape}, expected (H, S, A) = {shape}")
        successors = common_successors([dense])
        self._fill(successors, columns(dense, successors), *tables, len(dense), rho, mu0)

    @classmethod
    def sparse(
        cls,
        successors: NDArray[np.uint32],
        probability: Array,
        reward: Array,
        utility: Array,
        horizon: int,
        rho: float,
        mu0: ArrayLike,
    ) -> "CMDP":
        """From columns (H or 1, S, A, M): successor, its probability, and the reward and utility paid with it.

        Reward and utility have no last axis where they do not depend on the successor.
        """
        cmdp = cls.__new__(cls)
        cmdp._fill(successors, probability, reward, utility, horizon, rho, mu0)
        return cmdp

    def _fill(self, successors, probability, reward, utility, horizon, rho, mu0) -> None:
        self.successors = np.ascontiguousarray(successors, dtype=np.uint32)
        self.probability = np.ascontiguousarray(probability, dtype=float)
        self.H = int(horizon)
        self.layers, self.S, self.A, self.columns = self.successors.shape
        self.reward_of, self.utility_of = (
            np.broadcast_to(table[..., None] if table.ndim == 3 else table, self.successors.shape)
            for table in (np.asarray(reward, dtype=float), np.asarray(utility, dtype=float))
        )
        self.rho = float(rho)
        self.mu0 = np.asarray(mu0, dtype=float)
        if self.layers not in (1, self.H):
            raise ValueError(
                f"{self.layers} layers for a horizon of {self.H}: expected one for all steps or one per step"
            )
        finite = {"P": self.probability, "r": self.reward_of, "g": self.utility_of}
        for name, values in (finite | {"mu0": self.mu0, "rho": np.array(self.rho)}).items():
            if not np.isfinite(values).all():
                raise ValueError(f"{name} holds values that are not finite")
        _check_signs(self.probability)
        sums = self.probability.sum(axis=3)
        off = np.abs(sums - 1)
        if off.max() > ROWS_SUM_TO_ONE:
            where = tuple(int(i) for i in np.unravel_index(off.argmax(), off.shape))
            raise ValueError(f"P sums to {sums[where]:.12g} in row (h, x, a) = {where}, expected 1")
        if self.mu0.shape != (self.S,):
            raise ValueError(f"mu0 has shape {self.mu0.shape}, expected ({self.S},)")
        if (self.mu0 < 0).any() or abs(self.mu0.sum() - 1) > ROWS_SUM_TO_ONE:
            raise ValueError(f"mu0 is not a distribution: it sums to {self.mu0.sum():.12g}")

    @cached_property
    def reward(self) -> Array:
        """r with one layer for all steps, or one per step."""
        return (self.probability * self.reward_of).sum(axis=3)

    @cached_property
    def utility(self) -> Array:
        """g with one layer for all steps, or one per step."""
        return (self.probability * self.utility_of).sum(axis=3)

    @property
    def r(self) -> Array:
        return self._every_step(self.reward)

    @property
    def g(self) -> Array:
        return self._every_step(self.utility)

    @cached_property
    def P(self) -> Array:
        return self._every_step(densify(self.successors, self.probability))

    def _every_step(self, values: Array) -> Array:
        return np.broadcast_to(values, (self.H, *values.shape[1:]))

    def __repr__(self) -> str:
        return f"CMDP(H={self.H}, S={self.S}, A={self.A}, rho={self.rho:g})"


def _check_signs(probability: Array) -> None:
    if (negative := probability < 0).any():
        row = tuple(int(i) for i in np.argwhere(negative)[0][:3])
        raise ValueError(f"P has a negative probability in row (h, x, a) = {row}")


def columns(table: Array, successors: NDArray[np.uint32]) -> Array:
    """(..., M): what a table (..., S) has for each successor; a table (...) has the same for all."""
    if table.ndim < successors.ndim:
        return np.broadcast_to(table[..., None], successors.shape)
    return np.take_along_axis(table, successors.astype(np.int64), axis=3)


def densify(successors: NDArray[np.uint32], values: Array) -> Array:
    """Columns (..., M) laid out over all S states, columns of one state added up."""
    states = successors.shape[1]
    dense = np.zeros((*successors.shape[:3], states))
    rows = np.indices(successors.shape)[:3]
    np.add.at(dense, (*rows, successors), values)
    return dense


def common_successors(kernels: list[Array]) -> NDArray[np.uint32]:
    """The states that some kernel (H,S,A,S) reaches from each row, padded with states that none reaches."""
    reached = np.logical_or.reduce([kernel > 0 for kernel in kernels])
    columns = max(1, int(reached.sum(axis=3).max()))
    return np.argsort(~reached, axis=3, kind="stable")[..., :columns].astype(np.uint32)
