"""How far the policies of the chapter's runs stand apart, and where one gets ahead: what figures and claims are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from engineroom.runs.summary import Interval

__all__ = ["CLIENTS", "POLICIES", "Leads", "Standing"]

POLICIES: Mapping[str, str] = {
    "fifo": "fcfs, equal weights",
    "fcfs_5_7": "fcfs, 5.7",
    "cats_8_0_3": "cats, 8.0.3",
    "cats": "cats, 8.0.20",
    "vats": "vats",
    "ldsf": "ldsf",
    "bldsf": "bldsf",
    "random": "random",
}
SEEDS = 3  # of each policy and load
T_95 = 4.3027  # Student's t for 2 degrees of freedom, three seeds, two-sided 95 %
CLIENTS = (50, 300)  # with which printing is tried
DRAWS = 2_000


@dataclass(frozen=True)
class Standing:
    """Mean of `y` of each policy on one load, between `low` and `high`: 95 % by Student's t over the seeds.

    Two policies differ where their intervals do not overlap. That is stricter than 95 %: eight policies make 28 pairs per load, and
    some of so many would differ by chance.
    """

    mean: pd.Series[float]
    low: pd.Series[float]
    high: pd.Series[float]

    @classmethod
    def of(cls, table: pd.DataFrame, workload: str, y: str = "tps") -> Self:
        """From rows with workload, series, repeat and `y`."""
        seeds = table[table["workload"] == workload].pivot(index="repeat", columns="series", values=y)
        seeds = seeds[[name for name in POLICIES if name in seeds]].astype(float)
        if len(seeds) != SEEDS:
            raise ValueError(f"{len(seeds)} seeds of {workload}, not {SEEDS}")
        half = T_95 * seeds.std(ddof=1) / len(seeds) ** 0.5
        return cls(seeds.mean(), seeds.mean() - half, seeds.mean() + half)

    def differ(self, one: str, other: str) -> bool:
        """Whether the intervals of two policies have nothing in common."""
        return bool(self.low[one] > self.high[other] or self.low[other] > self.high[one])

    def pairs(self) -> int:
        """How many pairs of policies differ."""
        return sum(self.differ(*pair) for pair in combinations(self.mean.index, 2))

    def leaders(self) -> list[str]:
        """The policy with the highest mean, and whoever does not differ from it."""
        best = str(self.mean.idxmax())
        return [str(name) for name in self.mean.index if not self.differ(best, str(name))]


@dataclass(frozen=True)
class Leads:
    """CATS over FIFO with a number of clients, by the cost: the value, and each draw of the seeds as a row of `drawn`."""

    costs_us: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    drawn: npt.NDArray[np.float64]

    @classmethod
    def of(cls, table: pd.DataFrame, clients: int) -> Self:
        """From rows with clients, print_us, series, repeat and tps."""
        tps = table[table["clients"] == clients].pivot(
            index=["repeat", "series"], columns="print_us", values="tps"
        )
        logs = np.log((tps.xs("cats", level="series") / tps.xs("fifo", level="series")).to_numpy(dtype=float))
        draws = np.random.default_rng(0).integers(len(logs), size=(DRAWS, len(logs)))
        return cls(
            costs_us=tps.columns.to_numpy(dtype=float),
            value=np.exp(logs.mean(axis=0)),
            drawn=np.exp(logs[draws].mean(axis=1)),
        )

    def lead(self, cost_us: float) -> Interval:
        """CATS over FIFO at one of the costs."""
        at = int(np.flatnonzero(self.costs_us == cost_us)[0])
        low, high = np.percentile(self.drawn[:, at], (5, 95))
        return Interval(float(self.value[at]), float(low), float(high))

    def crossing_us(self) -> Interval:
        """From which cost on CATS is ahead; infinite where it never is."""
        return self._least(lambda _: 1.0)

    def even_us(self) -> Interval:
        """From which cost on printing is the larger part of the lead; infinite where it never is.

        Where CATS is not ahead without printing, all of its lead is of printing.
        """
        return self._least(lambda leads: max(1.0, float(leads[0]) ** 2))

    def _least(self, aim: Callable[[npt.NDArray[np.float64]], float]) -> Interval:
        drawn = [_first(self.costs_us, leads, aim(leads)) for leads in self.drawn]
        # A draw that never reaches it is infinite, and must not be averaged with a neighbour.
        low, high = np.percentile(drawn, (5, 95), method="nearest")
        return Interval(_first(self.costs_us, self.value, aim(self.value)), float(low), float(high))


def _first(x: npt.NDArray[np.float64], y: npt.NDArray[np.float64], aim: float) -> float:
    """The least x at which the straight lines between the points reach `aim`; infinite where none does."""
    if y[0] >= aim:
        return float(x[0])
    for i in range(1, len(x)):
        if y[i] >= aim:
            return float(x[i - 1] + (x[i] - x[i - 1]) * (aim - y[i - 1]) / (y[i] - y[i - 1]))
    return float("inf")
