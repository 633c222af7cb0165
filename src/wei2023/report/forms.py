"""The two forms of a figure: wide, as it was drawn, and narrow, its panels one below the other for a small screen.

A drawing function draws one figure and need not know its form. Within ``narrow()`` type is larger, and :func:`finish`
puts the panels into one column, folds titles and labels to its width and takes keys out of the panels. The few places
that must know ask :func:`is_narrow`, or which of their rows are labelled: :func:`first`, :func:`last`.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import Bbox, blended_transform_factory, offset_copy
from numpy.typing import NDArray

WIDTH = 3.6  # inches of the narrow form
SMALLEST = 8.5  # points; where the narrow form is shown 340 pixels wide, 11 pixels are 8.4 of them
LOWEST = 1.5  # inches of a narrow panel without its labels
NAMES = 0.38  # share of the width that names beside a panel may take
GAP, BAR = 0.06, 0.1  # inches between things, and of a colour bar
TYPE: Any = (
    "font.size",
    "axes.labelsize",
    "axes.titlesize",
    "legend.fontsize",
    "legend.title_fontsize",
)
PLACES = ("loc", "bbox_to_anchor", "fontsize")  # what a legend is told about the wide form
_narrow = ContextVar("narrow", default=False)


@contextmanager
def narrow() -> Iterator[None]:
    """Figures that are made and finished herein have the narrow form."""
    before = _narrow.set(True)
    try:
        with mpl.rc_context(dict.fromkeys(TYPE, SMALLEST)):
            yield
    finally:
        _narrow.reset(before)


def is_narrow() -> bool:
    return _narrow.get()


def first(rows: NDArray[np.object_]) -> NDArray[np.object_]:
    """The rows of panels that say what those below share: the first of them, or all that will be stacked."""
    return rows if is_narrow() else rows[:1]


def last(rows: NDArray[np.object_]) -> NDArray[np.object_]:
    """The rows of panels that say what those above share: the last of them, or all that will be stacked."""
    return rows if is_narrow() else rows[-1:]


def legend(place: Axes | Figure, ncols: int = 1, **options: Any) -> None:
    """As it is asked for; of a narrow figure outside the panels, in as many columns as there is room for."""
    if not is_narrow():
        place.legend(ncols=ncols, **options)
        return
    kept = {name: option for name, option in options.items() if name not in PLACES}
    kept |= {
        "loc": "upper center" if isinstance(place, Axes) else "outside upper center",
        "frameon": False,
    }
    kept |= {"handlelength": 1.8, "columnspacing": 1.2}
    room = (WIDTH - 2 * GAP) * _dpi(place)
    made = place.legend(**kept)
    for columns in range(len(made.get_texts()), 0, -1):
        made.remove()
        made = place.legend(ncols=columns, **kept)
        if made.get_window_extent().width <= room:
            return
    for text in made.get_texts():
        _fold(text, room - 0.4 * _dpi(place))


def finish(figure: Figure) -> Figure:
    """Laid out for good."""
    if is_narrow():
        _stack(figure)
    else:  # the last digits of the solver differ between runs, and with them the bytes of a file
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for ax in figure.axes:
            left, bottom, width, height = np.round(ax.get_position().bounds, 4)
            ax.set_position((left, bottom, width, height))
    return figure


def _stack(figure: Figure) -> None:
    """One panel below the other: labels need places to be folded, and folded labels other places."""
    panels = [
        ax for ax in figure.axes if ax.get_subplotspec() and ax.get_visible()
    ]  # not colour bars
    for ax in figure.findobj(Axes):
        ax.tick_params(labelsize=SMALLEST)
    for text in figure.findobj(Text):
        text.set_fontsize(max(text.get_fontsize(), SMALLEST))
    heights = [_fold_names(ax) for ax in panels]
    figure.set_layout_engine("none")
    _place(figure, panels, heights, folded=False)
    for ax in panels:
        _fold_titles(ax)
        _fold_labels(ax)
        _put_key_below(ax)
    _place(figure, panels, heights, folded=True)
    for ax in panels:
        _begin_titles_at_the_edge(ax)


def _place(figure: Figure, panels: list[Axes], heights: list[float], folded: bool) -> None:
    """From the top down, as wide as labels let them be; all in inches."""
    around = [_around(ax, folded) for ax in panels]
    keys = sum(key.get_window_extent().height / figure.dpi for key in figure.legends)
    total = keys + sum(heights) + sum(below + above + 2 * GAP for _, below, _, above in around)
    figure.set_size_inches(WIDTH, total)
    y = total - keys
    for ax, height, (left, below, right, above) in zip(panels, heights, around, strict=True):
        x, width = left + GAP, WIDTH - left - right - 2 * GAP
        y -= above + height + GAP
        ax.set_position((x / WIDTH, y / total, width / WIDTH, height / total))
        for bar in _bars(ax):
            bar.set_box_aspect(None)
            bar.set_position(((x + width + GAP) / WIDTH, y / total, BAR / WIDTH, height / total))
        y -= below + GAP


def _around(ax: Axes, folded: bool) -> tuple[float, float, float, float]:
    """The inches that labels take at the left, below, at the right and above; notes in the panel once they fit."""
    axes = [axis.get_tightbbox(for_layout_only=True) for axis in (ax.xaxis, ax.yaxis) if ax.axison]
    notes = [
        box for text in ax.texts if (box := text.get_window_extent()).x0 >= ax.bbox.x1 or folded
    ]
    sides = Bbox.union([ax.bbox, *notes, *(box for box in axes if box)])
    whole = ax.get_tightbbox() or ax.bbox
    bars = sum(
        _dpi(ax) * (GAP + BAR) + (bar.get_tightbbox() or bar.bbox).x1 - bar.bbox.x1
        for bar in _bars(ax)
    )
    left, below = ax.bbox.x0 - sides.x0, ax.bbox.y0 - whole.y0
    right, above = sides.x1 - ax.bbox.x1 + bars, whole.y1 - ax.bbox.y1
    return left / _dpi(ax), below / _dpi(ax), right / _dpi(ax), above / _dpi(ax)


def _bars(ax: Axes) -> list[Axes]:
    """Its colour bars."""
    return [shown.colorbar.ax for shown in (*ax.images, *ax.collections) if shown.colorbar]


def _fold(text: Text, room: float) -> None:
    """Break lines between words, never within a formula, where they would be longer than there is room for."""
    lines: list[str] = []
    for said in text.get_text().split("\n"):
        lines.append("")
        for word in re.findall(r"(?:\$[^$]*\$|[^\s$])+", said):
            longer = f"{lines[-1]} {word}".strip()
            text.set_text(longer)
            box = text.get_window_extent()
            if lines[-1] and max(box.width, box.height) > room:  # it may stand upright
                lines.append(word)
            else:
                lines[-1] = longer
    text.set_text("\n".join(lines))


def _fold_names(ax: Axes) -> float:
    """Of what stands beside a panel; and how tall it must be, without other labels, for that or as it was drawn."""
    figure, place, dpi = ax.get_figure(), ax.get_subplotspec(), _dpi(ax)
    assert isinstance(figure, Figure)
    assert place is not None
    ax.tick_params(labelleft=True, labelbottom=True)
    names = ax.get_yticklabels()
    if not any(re.search("[a-z]{2}", re.sub(r"\$.*?\$", "", name.get_text())) for name in names):
        return max(LOWEST, place.get_position(figure).height * figure.get_figheight())
    for name in names:
        name.set_text(name.get_text().replace("\n", " "))
        _fold(name, NAMES * WIDTH * dpi)
    ax.set_yticks(ax.get_yticks(), [name.get_text() for name in names], ma="right")
    tallest = max(name.get_window_extent().height for name in names) / dpi + GAP
    low, high = sorted(ax.get_ylim())
    apart = np.diff(np.unique(ax.get_yticks())).astype(float).min(initial=high - low)
    return max(LOWEST, tallest * (high - low) / apart)


def _titles(ax: Axes) -> list[Text]:
    """At the left, in the middle and at the right."""
    center, left, right = (
        one for one in ax.get_children() if isinstance(one, Text) and one not in ax.texts
    )
    return [left, center, right]


def _fold_titles(ax: Axes) -> None:
    """Into one."""
    left, *others = _titles(ax)
    left.set_text(", ".join(one.get_text() for one in (left, *others) if one.get_text()))
    for one in others:
        one.set_text("")
    _fold(left, (WIDTH - 2 * GAP) * _dpi(ax))


def _fold_labels(ax: Axes) -> None:
    """Of axes, and notes in the panel; names below it stand upright where they would touch."""
    names = [name.get_window_extent() for name in ax.get_xticklabels() if name.get_text()]
    if any(one.x1 + 3 > other.x0 for one, other in pairwise(sorted(names, key=lambda box: box.x0))):
        ax.tick_params("x", rotation=90)
    edge = (WIDTH - GAP) * _dpi(ax)
    _fold(ax.yaxis.label, ax.bbox.height + 0.3 * _dpi(ax))
    middle = (ax.bbox.x0 + ax.bbox.x1) / 2
    _fold(ax.xaxis.label, 2 * min(middle, edge - middle))
    for text in (text for text in ax.texts if text.get_gid() != "verdict"):
        box = text.get_window_extent()
        if ax.bbox.x1 > box.x0 and text.get_rotation() == 0:
            middle = (box.x0 + box.x1) / 2
            room = {
                "left": edge - box.x0,
                "right": box.x1 - ax.bbox.x0,
                "center": 2 * min(middle, edge - middle),
            }
            _fold(text, room[text.get_horizontalalignment()])


def _put_key_below(ax: Axes) -> None:
    """Below its labels, in the middle of the panel; or of the figure, where it is wider than the panel."""
    key, figure = ax.get_legend(), ax.get_figure(root=True)
    if key and figure:
        labels = ax.xaxis.get_tightbbox() or ax.bbox
        across = (
            figure.transFigure if key.get_window_extent().width > ax.bbox.width else ax.transAxes
        )
        middle = blended_transform_factory(across, ax.transAxes)
        below = offset_copy(middle, figure, y=-GAP - (ax.bbox.y0 - labels.y0) / figure.dpi)
        key.set_bbox_to_anchor((0.5, 0), transform=below)


def _begin_titles_at_the_edge(ax: Axes) -> None:
    """And the verdict below a title."""
    edge = (GAP / WIDTH - ax.get_position().x0) / ax.get_position().width
    _titles(ax)[0].set_x(edge)
    for text in ax.texts:
        if isinstance(text, Annotation) and text.get_gid() == "verdict":
            text.xy = (edge, 1)


def _dpi(place: Axes | Figure) -> float:
    figure = place.get_figure(root=True)
    assert figure is not None
    return figure.dpi
