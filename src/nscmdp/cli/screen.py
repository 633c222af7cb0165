"""Text for the terminal: aligned columns, and curves drawn with characters."""

import math
from collections.abc import Iterable, Sequence
from typing import TextIO

WIDTH, HEIGHT = 60, 4  # of a curve, in characters
BRAILLE = 0x2800  # the character without dots; below, the bit of each dot by row and column
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def columns(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Rows of cells, the columns below each other."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in cells
    )
    return "\n".join(f"{indent}{line}".rstrip() for line in lines)


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def shows(stream: TextIO, text: str) -> bool:
    """Can these characters be written there?"""
    try:
        text.encode(stream.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def curve(values: Sequence[float], *, braille: bool) -> str:
    """A curve over equal steps, with the values at the top and at the bottom beside it."""
    across, down = (2, 4) if braille else (1, 1)  # dots per character
    rows = _rows(values, WIDTH * across, HEIGHT * down)
    grid = [[0] * WIDTH for _ in range(HEIGHT)]
    for column, (before, here) in enumerate(zip([rows[0], *rows], rows, strict=False)):
        for row in range(min(before, here), max(before, here) + 1):
            grid[row // down][column // across] |= DOTS[row % down][column % across]
    edge, low, high = "│" if braille else "|", min(values), max(values)
    labels = [f"{high:.4g}", *[""] * (HEIGHT - 2), f"{low:.4g}"]
    lines = ("".join(_mark(dots, braille) for dots in line) for line in grid)
    return "\n".join(
        f"{label:>10} {edge}{line}".rstrip() for label, line in zip(labels, lines, strict=True)
    )


def _rows(values: Sequence[float], columns: int, rows: int) -> list[int]:
    """For each column the row of its value, the largest in row 0."""
    low, high = min(values), max(values)
    shown = [values[math.floor(i * len(values) / columns)] for i in range(columns)]
    return [
        round((high - value) / (high - low) * (rows - 1)) if high > low else rows - 1
        for value in shown
    ]


def _mark(dots: int, braille: bool) -> str:
    if braille:
        return chr(BRAILLE + dots) if dots else " "
    return "*" if dots else " "
