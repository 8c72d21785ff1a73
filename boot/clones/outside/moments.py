#!/usr/bin/env python3
"""Compares what `examples/moments.rs` wrote in copies of one machine: moments.py FILE...

Looks from before the snapshot have the same nanosecond in every copy. The last such look is less
than one look's time before the snapshot, and the copy's clock continues there. So an event is shown
with the milliseconds since that look: from the resume to the event, by the copy's own clock. Two
copies may look at the same nanosecond later, by chance, so the looks are followed up to the first
one that no other copy has. If a copy has none, its time begins at the step of its wall clock.
"""

import sys
from collections import Counter

NAMED = ("generation", "copies()", "count", "clock")


def read(path):
    """Returns the events and the looks of a file."""
    events, looks, time = [], [], 0
    with open(path) as file:
        for line in file:
            words = line.split()
            if words[:1] == ["event"]:
                events.append((int(words[1]), words[2]))
            elif words:
                time += int(words[0])
                looks.append(time)
    return events, looks


def main():
    files = sys.argv[1:]
    if len(files) < 2:
        sys.exit(__doc__)
    copies = [read(path) for path in files]
    times = Counter(time for _, looks in copies for time in looks)
    rows = []
    begun = max(looks[0] for _, looks in copies)
    for path, (events, looks) in zip(files, copies):
        resumed = None
        for time in looks:
            if time >= begun and times[time] == 1:
                break
            resumed = time
        if resumed is None or resumed < begun:
            # The copy is too long ago. Then a step of the clock that was made on purpose is where
            # the time begins: the last look before it.
            steps = [time for time, name in events if name == "clock"]
            if not steps:
                sys.exit(f"{path} has no look of before the snapshot, and no step of the clock")
            resumed = max((time for time in looks if time < steps[-1]), default=steps[-1])
        after = [time for time in looks if time > resumed]
        first = {}
        for time, name in events:
            # A look that the snapshot interrupted has its time from before and saw the copy, at the
            # latest when the next look began.
            if time >= resumed:
                first.setdefault(name, (max(time, after[0]) - resumed) / 1e6)
        rows.append((path, (after[0] - resumed) / 1e6, first))
    width = max(len(path) for path in files)
    print(f"{'ms after the resume':{width}}  {'first look':>10}", *(f"{name:>10}" for name in NAMED))
    for path, look, first in rows:
        shown = (f"{first[name]:10.3f}" if name in first else f"{'-':>10}" for name in NAMED)
        print(f"{path:{width}}  {look:10.3f}", *shown)


main()
