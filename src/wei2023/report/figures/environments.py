"""The environments: what they look like, how they drift, how much their constraint binds."""

from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nscmdp.drift import DriftingCMDP
from nscmdp.environments import make
from wei2023.report import style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table
from wei2023.verdicts import description

VARIATIONS = {"reward": "#56b4e9", "utility": "#e69f00", "transition": "#999999"}
TITLES = ("drift", "does the constraint bind?", "what can be earned")
LABELS = ("budget used up to k", "multiplier, Slater gap", "value per episode")


def environments(results: Results) -> Figure:
    """Draw each environment's model, drift, multiplier and values, against k / K."""
    ratios, size = [1, 1.2, 1.2, 1.2], (13, 2.4 * len(results.shown))
    figure, axes = plt.subplots(
        len(results.shown), 4, figsize=size, squeeze=False, width_ratios=ratios
    )
    paths = results.table("drift.parquet").groupby("number")
    for (model, *panels), shown, (_, rows) in zip(axes, results.shown, paths, strict=True):
        env = make(**shown)
        _draw_model(model, env)
        title = "\n".join([env.name, *wrap(description.label(shown), 36)])
        model.set_title(title, fontsize="small")
        k = rows["episode"] / env.episodes
        used = np.array([rows[f"{name}_variation"] for name in VARIATIONS])
        drift, binds, value = panels
        drift.stackplot(k, used, labels=[*VARIATIONS], colors=[*VARIATIONS.values()])
        binds.plot(k, rows["multiplier"], color="#0072b2", label="multiplier")
        binds.plot(k, rows["slater_gap"], "--", color="#d55e00", label="Slater gap")
        value.plot(k, rows["unconstrained_value"], "--", color="#999999", label="unconstrained")
        value.plot(k, rows["value"], color="#000000", label="constrained optimum")
        value.plot(k, rows["uniform_value"], ":", color="#009e73", label="uniform policy")
        for ax, label in zip(panels, LABELS, strict=True):
            ax.set(xlim=(0, 1), ylim=(0, None), ylabel=label)
    for ax, title in zip(axes[0, 1:], TITLES, strict=True):
        ax.set_title(title)
        ax.legend(fontsize="x-small", loc="best")
    for ax in axes[-1, 1:]:
        ax.set_xlabel("k / K")
    return figure


def _draw_model(ax: Axes, env: DriftingCMDP) -> None:
    """Draw the map, or r(x,a) of the first step in the first episode where there is none."""
    if env.picture is not None:
        return style.draw_map(ax, env.picture)
    image = ax.imshow(env.at(1).r[0], cmap="cividis", vmin=0, vmax=1, aspect="auto")
    ax.set(xlabel="action", ylabel="state")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    ax.figure.colorbar(image, ax=ax, label="r at h = 1, k = 1")


@needs("shown")
def table(results: Results) -> Table:
    return tables.of_frame("Environments", results.table("environments.csv"))
