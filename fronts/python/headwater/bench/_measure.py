"""Times two statements side by side."""

from __future__ import annotations

import timeit
from dataclasses import asdict, dataclass

#: Seconds of one window. A window is shorter than a slice of the scheduler, so that some windows
#: of a busy machine are undisturbed.
WINDOW = 0.002
#: Windows of each statement.
WINDOWS = 60


@dataclass(frozen=True)
class Row:
    """A statement of ours, the peer's statement that does the same, and the ratio to reach."""

    name: str
    peer: str
    ours: str
    setup: str
    target: float
    #: Divides both times: the number of values that one call makes.
    values: int = 1
    #: Fewer windows for statements of seconds.
    windows: int = WINDOWS


@dataclass(frozen=True)
class Result:
    """The least times of both statements in nanoseconds a value, and their ratio."""

    name: str
    peer: str
    ours: str
    peer_ns: float
    ours_ns: float
    ratio: float
    target: float

    def as_dict(self) -> dict[str, object]:
        """Returns the fields as JSON has them."""
        return asdict(self)


def measure(row: Row) -> Result:
    """Runs both statements in turns, and takes the least window of each.

    Other work on the machine makes a window longer, never shorter. The turns let a slow phase of
    the machine meet both statements.
    """
    peer = _Windows(row.peer, row.setup)
    ours = _Windows(row.ours, row.setup)
    for _ in range(row.windows):
        peer.run()
        ours.run()
    peer_ns, ours_ns = (side.least * 1e9 / row.values for side in (peer, ours))
    ratio = peer_ns / ours_ns
    return Result(row.name, row.peer, row.ours, peer_ns, ours_ns, ratio, row.target)


class _Windows:
    def __init__(self, statement: str, setup: str) -> None:
        self.timer = timeit.Timer(statement, setup)
        self.number = 1
        while (spent := self.timer.timeit(self.number)) < WINDOW:
            # Twice the number at least, so that a first call that is slow ends the search late.
            self.number = max(2 * self.number, int(self.number * WINDOW / max(spent, 1e-9)))
        self.least = spent / self.number

    def run(self) -> None:
        self.least = min(self.least, self.timer.timeit(self.number) / self.number)
