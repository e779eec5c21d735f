"""How long the published figures of the engine chapters take to simulate again, each by the code that recorded it, with all points and seeds.

What is held against the goal is processor time over two processors: on a computer with others' load a figure takes longer, and the
processor time is nearly the same. It leaves out that the second processor may idle while the last point is simulated.

And how long the explorable keeps a reader's browser, which is judged only when nobody else used the computer.
"""

from __future__ import annotations

import importlib

from engineroom import chapters
from engineroom.bench import Row, Sitting, row
from engineroom.bench.figures import PROCESSORS, simulated_again
from engineroom.show.in_browser import quiet_browser, settings_ms

__all__ = ["bench"]

# By its number, the chapter of a figure and as which one it is recorded.
FIGURES = {
    "7-1": ("redo_log", "fig-7-01"),
    "7-3": ("engine", "fig-7-03"),
    "7-7": ("lock_sys", "fig-7-07"),
    "7-8": ("trx_sys", "fig-7-08"),
    "7-9": ("trx_sys", "fig-7-09"),
    "7-13": ("cats", "fig-7-13"),
    "7-18": ("cats", "fig-7-10"),  # one simulation makes 7-10 to 7-12 and 7-17 as well
    "7-19": ("cats", "fig-7-19"),
    "7-20": ("cats", "fig-7-20"),
    "7-21": ("cats", "fig-7-21"),
}
FIGURE_S = 60.0
# It has up to 3,000 clients.
OTHERWISE_S = {"7-19": 180.0}
EXPLORABLE_MS = 300.0
SETTINGS = 300


def bench(sitting: Sitting) -> list[Row]:
    """A row for the explorable, and one per figure."""
    sitting.says(f"the explorable in Chromium, {SETTINGS} settings")
    with quiet_browser() as browser:
        took_ms = sorted(settings_ms(browser, "engine", SETTINGS))
    sitting.notes["explorable, ms"] = {
        "median": took_ms[SETTINGS // 2],
        "99 of 100": took_ms[SETTINGS * 99 // 100 - 1],
        "most": took_ms[-1],
        "settings within the goal": sum(each <= EXPLORABLE_MS for each in took_ms),
    }
    figures = {}
    for name, (word, figure) in FIGURES.items():
        experiments = importlib.import_module(chapters.chapter(word).module("experiments"))
        figures[name] = experiments.RECORD[figure, "sim"]
    rows = [
        row(
            f"explorable of the engine in Chromium, the slowest of {SETTINGS} drawn settings",
            ours=took_ms[-1],
            unit="ms",
            ratio=took_ms[-1],
            side="<=",
            goal=EXPLORABLE_MS,
            condition=sitting.is_quiet,
        )
    ]
    for name, took in simulated_again(sitting, figures).items():
        each_s = took.cpu_s / PROCESSORS
        rows.append(
            row(
                f"figure {name} simulated again, all points and seeds, on {PROCESSORS} processors",
                ours=each_s,
                unit="CPU s of each",
                ratio=each_s,
                side="<=",
                goal=OTHERWISE_S.get(name, FIGURE_S),
            )
        )
    return rows
