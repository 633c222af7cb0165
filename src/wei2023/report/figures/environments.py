"""The environments: what they look like, how they drift, how much their constraint binds."""

from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from nscmdp.drift import DriftingCMDP
from nscmdp.environments import make
from nscmdp.suite.description import along
from wei2023.report import forms, style, tables
from wei2023.report.results import Results, needs
from wei2023.report.tables import Table
from wei2023.verdicts import description

VARIATIONS = {"reward": "#56b4e9", "utility": "#e69f00", "transition": "#999999"}
TITLES = ("drift", "does the constraint bind?", "what can be earned")


def environments(results: Results) -> Figure:
    """A row for each environment: its model, its drift, its multiplier and its values, against k / K."""
    number = len(results.shown)
    ratios = [1, 1.2, 1.2, 1.2]
    figure, axes = plt.subplots(
        number, 4, figsize=(13, 2.4 * number), squeeze=False, width_ratios=ratios
    )
    for (model, *panels), shown in zip(axes, results.shown, strict=True):
        env = make(**shown)
        _draw_model(model, env)
        called = "\n".join([env.name, *wrap(description.label(shown), 36)])
        model.set_title(called, fontsize="small")
        if forms.is_narrow():
            for ax in panels:
                ax.set_title(called, loc="left")
        _draw_path(panels, env)
    for row in forms.first(axes[:, 1:]):
        for ax, title in zip(row, TITLES, strict=True):
            ax.set_title(title)
            style.key(ax, fontsize="x-small", loc="best")
    for row in forms.last(axes[:, 1:]):
        for ax in row:
            ax.set_xlabel("k / K")
    return figure


def _draw_model(ax: Axes, env: DriftingCMDP) -> None:
    """The map; or r(x,a) of the first step in the first episode, of an environment that has none."""
    if env.picture is not None:
        return style.draw_map(ax, env.picture)
    image = ax.imshow(env.at(1).r[0], cmap="cividis", vmin=0, vmax=1, aspect="auto")
    ax.set(xlabel="action", ylabel="state")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(6, integer=True))
    ax.figure.colorbar(image, ax=ax, label="r at h = 1, k = 1")


def _draw_path(panels: list[Axes], env: DriftingCMDP) -> None:
    rows = along(env)
    share = rows["episode"] / env.episodes
    drift, binds, value = panels
    used = np.array([rows[f"{name}_variation"] for name in VARIATIONS])
    drift.stackplot(share, used, labels=[*VARIATIONS], colors=[*VARIATIONS.values()])
    binds.plot(share, rows["multiplier"], color="#0072b2", label="multiplier")
    binds.plot(share, rows["slater_gap"], color="#d55e00", linestyle="--", label="Slater gap")
    value.plot(
        share, rows["unconstrained_value"], color="#999999", linestyle="--", label="unconstrained"
    )
    value.plot(share, rows["value"], color="#000000", label="constrained optimum")
    value.plot(share, rows["uniform_value"], color="#009e73", linestyle=":", label="uniform policy")
    for ax, label in zip(
        panels, ("budget used up to k", "multiplier, Slater gap", "value per episode"), strict=True
    ):
        ax.set(xlim=(0, 1), ylim=(0, None), ylabel=label)


@needs("shown")
def table(results: Results) -> Table:
    return tables.of_frame("Environments", results.table("environments.csv"))
