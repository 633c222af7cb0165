"""How far some work is and how long the rest will take, on one line."""

import shutil
import time
from collections.abc import Callable, Hashable, Mapping
from typing import TextIO

PATIENCE = 30.0  # seconds after which the pace that is measured counts as much as the pace that was expected
CLEAR = "\r\x1b[K"  # back to the line's beginning, and away with it


class Meter:
    """Parts of some work, each with an estimate of its seconds, done by several workers at a time.

    One thread may ask while others report: what runs is copied before it is looked at.
    """

    def __init__(
        self,
        seconds: Mapping[Hashable, float],
        workers: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.waiting = dict(seconds)
        self.total = sum(seconds.values())
        self.workers, self.clock, self.began = workers, clock, clock()
        self.finished = 0.0
        self.running: dict[
            Hashable, tuple[float, float, str]
        ] = {}  # when it began, its seconds, what it is

    def start(self, part: Hashable, what: str) -> None:
        if part in self.waiting:
            self.running[part] = self.clock(), self.waiting.pop(part), what

    def stop(self, part: Hashable) -> None:
        """It has failed: it may be started again."""
        if part in self.running:
            _, self.waiting[part], _ = self.running.pop(part)

    def finish(self, part: Hashable) -> None:
        if part in self.running:
            _, seconds, _ = self.running.pop(part)
            self.finished += seconds

    def done(self) -> float:
        """Seconds of the estimate. A part that runs counts by the clock, never as a whole."""
        now, running = self.clock(), list(self.running.values())
        return self.finished + sum(
            min(now - began, 0.95 * seconds) for began, seconds, _ in running
        )

    def left(self) -> float:
        """Seconds, at the pace so far."""
        pace = (self.done() + PATIENCE * self.workers) / (self.clock() - self.began + PATIENCE)
        return (self.total - self.done()) / pace

    def __str__(self) -> str:
        share = self.done() / self.total if self.total else 1.0
        now = "; ".join(what for *_, what in list(self.running.values()))
        return f"{share:.0%} done, about {duration(self.left())} left" + (f": {now}" if now else "")


class Line:
    """A line that is written over on a terminal, and one below the other elsewhere."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.on_terminal = stream, stream.isatty()

    def show(self, text: str) -> None:
        width = shutil.get_terminal_size().columns - 1
        self.stream.write(f"{CLEAR}{text[:width]}" if self.on_terminal else f"{text}\n")
        self.stream.flush()

    def clear(self) -> None:
        if self.on_terminal:
            self.stream.write(CLEAR)
            self.stream.flush()


def duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
