"""What a step costs as the problem grows, in our kernel and in C, a run as they become more, and the memory they take.

The step is Algorithm 1's, and that of the linear learner along the number of features d. Memory is that of a worker
which plays a few episodes, for every learner along S, and along d or K for those that it might matter to.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from benchmarks import c_loop, pipeline
from benchmarks.cases import MIDDLE, ONE, Case, Scattered, World
from benchmarks.loops import Loop
from benchmarks.misses import Misses
from nscmdp.problem import Problem
from wei2023.report import style

if TYPE_CHECKING:
    from benchmarks.memory import Memory

OURS, C = "ours", "C"
LSVI = "lsvi_primal_dual"
SIDES = (6, 10, 18, 32, 56, 100, 178, 316)  # 316 x 316 is 10^5 states
AXES = {
    "S": "states S, grid world",
    "scattered": "states S, scattered",
    "A": "actions A",
    "H": "horizon H",
    "K": "episodes K",
    "d": "features d, linear learner",
    "frames": "frames of a run",
    "runs": "runs of one worker",
}


class Point(NamedTuple):
    axis: str
    value: float
    side: str
    seconds: float  # of a step; of a run for the axis "runs"
    spread: float  # interquartile range over the repeats


def square(side: int) -> World:
    return World(f"{side}x{side}", {"map": "random", "size": side})


def linear(dimension: int) -> World:
    return World(f"d={dimension}", {"dimension": dimension}, "linear")


def cases(scale: int) -> Iterator[tuple[str, float, Case]]:
    """(axis, value, case); ``scale`` divides the numbers of episodes."""
    steps = 1_000_000 // scale
    for side in SIDES:
        yield "S", side**2, Case(square(side), ONE, "scaled", steps // 25)
    for side in SIDES:
        yield "scattered", side**2, Case(Scattered(side**2), ONE, "scaled", steps // 25)
    for actions in (2, 4, 8, 16, 32, 64):
        yield "A", actions, Case(Scattered(100, actions), ONE, "scaled", steps // 25)
    for horizon in (5, 10, 25, 50, 100, 200):
        options = {**MIDDLE.options, "horizon": horizon, "limit": horizon / 5}
        yield "H", horizon, Case(World(f"H={horizon}", options), ONE, "scaled", steps // horizon)
    for episodes in (1_000, 4_000, 16_000, 64_000, 256_000, 1_024_000, 4_096_000):  # 10^8 steps
        yield "K", episodes // scale, Case(MIDDLE, ONE, "scaled", episodes // scale)
    for dimension in (4, 8, 16, 32, 64):
        yield "d", dimension, Case(linear(dimension), LSVI, "scaled", steps // (dimension * 50))
    for factor in (16.0, 4.0, 1.0, 0.25, 0.0625, 0.0156):
        case = Case(MIDDLE, ONE, "scaled", steps // 25, frame=factor)
        yield "frames", case.episodes / case.learner(Problem.of(case.env())).now[0].frame, case


def of_states() -> list[tuple[str, Case]]:
    """(world, case) along the number of states."""
    worlds = {"S": "grid world", "scattered": "scattered"}
    return [(worlds[axis], case) for axis, _, case in cases(1) if axis in worlds]


def measure(quick: bool, repeats: int) -> Iterator[Point]:
    for axis, value, case in list(cases(50))[::5] if quick else cases(1):
        loop = Loop(case)
        times = np.array([loop.turn(c_loop.InC, case.episodes) for _ in range(repeats)])
        low, high = np.quantile(times, (0.25, 0.75), axis=0)
        for side, name in enumerate((OURS, C)):
            yield Point(
                axis, value, name, float(np.median(times[:, side])), float((high - low)[side])
            )
    for runs in (1, 4) if quick else (1, 2, 4, 8, 16, 32):
        times = np.array(
            [pipeline.simulate(20_000, runs)[0] / runs for _ in range(1 if quick else 3)]
        )
        low, high = np.quantile(times, (0.25, 0.75))
        yield Point("runs", runs, OURS, float(np.median(times)), float(high - low))


def draw(points: list[Point], misses: list[Misses], memory: "list[Memory]", stem: Path) -> Figure:
    """A panel an axis, both scales logarithmic, one of memory and one of misses where they were counted."""
    style.apply()
    figure, grid = plt.subplots(2, 5, figsize=(13.5, 5))
    panels = list(grid.flat)
    for axis, ax in zip(AXES, panels, strict=False):
        draw_axis(ax, axis, [point for point in points if point.axis == axis])
    panels[0].legend()
    left = panels[len(AXES) :]
    if memory:
        draw_memory(left.pop(0), [row for row in memory if row.axis == "S"])
    if misses:
        draw_misses(left.pop(0), misses)
    for ax in left:
        ax.set_axis_off()
    style.save(figure, *(stem.with_suffix(form) for form in (".svg", ".png")))
    return figure


def draw_axis(ax: Axes, axis: str, points: list[Point]) -> None:
    unit, label = (1.0, "s a run") if axis == "runs" else (1e9, "ns a step")
    for side, color, form in zip(
        (OURS, C), sns.color_palette("colorblind"), ("o-", "s--"), strict=False
    ):
        line = np.array(
            [(p.value, p.seconds * unit, p.spread * unit / 2) for p in points if p.side == side]
        )
        if len(line):
            ax.errorbar(*line.T, fmt=form, color=color, label=side, markersize=3.5, linewidth=1.2)
    finish(ax, AXES[axis], label)


def draw_memory(ax: Axes, rows: "list[Memory]") -> None:
    """Of every learner, against S; the largest first in the legend."""
    algorithms = sorted({row.algorithm for row in rows}, key=lambda name: -max_of(rows, name))
    for algorithm, color in zip(
        algorithms, sns.color_palette("husl", len(algorithms)), strict=True
    ):
        line = [(row.value, row.mebibytes) for row in rows if row.algorithm == algorithm]
        ax.plot(
            *zip(*line, strict=True), "o-", color=color, label=algorithm, markersize=3, linewidth=1
        )
    ax.legend(fontsize=4.5)
    finish(ax, "states S, grid world", "MiB of a worker")


def max_of(rows: "list[Memory]", algorithm: str) -> float:
    return max(row.mebibytes for row in rows if row.algorithm == algorithm)


def draw_misses(ax: Axes, misses: list[Misses]) -> None:
    """Of both caches, in both worlds."""
    palette = sns.color_palette("colorblind")
    for world, color in (("grid world", palette[2]), ("scattered", palette[4])):
        rows = [row for row in misses if row.world == world]
        for cache, form in (("32k", "o-"), ("512k", "s--")):
            numbers = [getattr(row, f"misses_{cache}") for row in rows]
            states = [row.states for row in rows]
            ax.plot(
                states,
                numbers,
                form,
                color=color,
                label=f"{world}, {cache}",
                markersize=3.5,
                linewidth=1.2,
            )
    ax.legend(fontsize="x-small")
    finish(ax, "states S", "cache misses a step")


def finish(ax: Axes, x: str, y: str) -> None:
    """Logarithmic scales, the vertical one a decade at least, so that what is flat looks flat."""
    ax.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    low, high = ax.get_ylim()
    room = max(1.0, float(np.sqrt(10 * low / high)))
    ax.set_ylim(low / room, high * room)
    for scale in (ax.xaxis, ax.yaxis):
        scale.set_major_formatter(EngFormatter(sep=""))
        scale.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
