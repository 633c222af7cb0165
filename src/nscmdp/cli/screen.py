"""Text for the terminal: aligned columns, and curves drawn with characters."""

from collections.abc import Iterable, Sequence
from typing import TextIO

WIDTH, HEIGHT = 60, 4  # of a curve, in characters
BRAILLE = 0x2800  # the character without dots; below, the bit of each dot by row and column
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def columns(rows: Iterable[Sequence[object]], indent: str = "") -> str:
    """Rows of cells, the columns below each other."""
    cells = [
        [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    padded = ([c.ljust(width) for c, width in zip(row, widths, strict=True)] for row in cells)
    return "\n".join(f"{indent}{'  '.join(row)}".rstrip() for row in padded)


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
    low, high = min(values), max(values)
    shown = [values[i * len(values) // (WIDTH * across)] for i in range(WIDTH * across)]
    top = HEIGHT * down - 1  # the row of the lowest value; that of the highest is 0
    rows = [round((high - v) / (high - low) * top) if high > low else top for v in shown]
    grid = [[0] * WIDTH for _ in range(HEIGHT)]
    for column, (before, here) in enumerate(zip([rows[0], *rows], rows, strict=False)):
        for row in range(min(before, here), max(before, here) + 1):
            grid[row // down][column // across] |= DOTS[row % down][column % across]
    edge = "│" if braille else "|"
    labels = [f"{high:.4g}", *[""] * (HEIGHT - 2), f"{low:.4g}"]
    lines = []
    for label, dots in zip(labels, grid, strict=True):
        marks = ((chr(BRAILLE + dot) if braille else "*") if dot else " " for dot in dots)
        lines.append(f"{label:>10} {edge}{''.join(marks)}".rstrip())
    return "\n".join(lines)
