"""The facts of `book/machine.md`: the simulated machine against formulas and against real threads.

What was changed with the errors in view is told by recordings of its time; these are named by their numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pandas as pd

from engineroom import _native
from engineroom.facts import Facts, Range, Text, fact, span
from engineroom.ledger import sensitivity
from engineroom.ledger.claims import figures
from engineroom.machine import presets
from engineroom.machine.presets import middle_of
from engineroom.runs import Run, latest, newest, recorded
from engineroom.show.table import Table
from engineroom.simulating.loads import TPCC
from engineroom.simulating.variations import MOVES_PERCENT, OF_LOAD, SEED
from engineroom.validation import figures as drawn
from engineroom.validation import formulas as validation
from engineroom.validation import studies
from engineroom.validation.experiments import crowds
from engineroom.validation.experiments import real as machine

__all__ = ["MachineFacts", "crowd", "facts", "use_of_cores"]

FIGURE, OF_STUDIES = "own-machine-real", "own-machine-crowds"
# Recordings that the page tells of: the gate of load g, what the fit did to load f, and who paid for a wake-up.
OF_THE_GATE, OF_THE_FIT, OF_WAKE_UPS = 10, 13, 14
SHOWN_FIRST = 10
# What the machine beside real threads has from measurements: if a figure's machine lacks one, it is another configuration.
MEASURED = ("tick_ps", "wake_quantiles_ps", "interrupt_quantiles_ps")
PS_PER_US = 1e6
MOVES_FAR_PERCENT = 400.0
OF_THE_CONVOY = "fig-7-01"


@dataclass(frozen=True, kw_only=True)
class Formulas(Facts):
    """Textbook queues, simulated while the page is made."""

    cases: int = fact()
    missed: int = fact()
    worst_off_percent: float = fact("{:.2f}")
    widest_percent: float = fact("{:.2f}")
    run: Run
    table: Text

    @classmethod
    def of(cls, checked: pd.DataFrame) -> Formulas:
        return cls(
            cases=len(checked),
            missed=int((~checked["holds"]).sum()),
            worst_off_percent=checked["off_percent"].abs().max(),
            widest_percent=checked["half_width_percent"].max(),
            run=validation.as_run(checked),
            table=cases_folded(checked),
        )


def cases_folded(checked: pd.DataFrame) -> Text:
    """All cases as a folded table."""
    columns = ["case", "formula", "simulated", "off_percent", "half_width_percent"]
    rows = "\n".join(
        f"| {case} | {with_unit(case, formula)} | {with_unit(case, simulated)} | {off:+.2f} % | {half:.2f} % |"
        for case, formula, simulated, off, half in checked[columns].to_numpy().tolist()
    )
    head = "| case | formula | simulated | off | half-width |\n|---|---:|---:|---:|---:|"
    return Text(f":::{{dropdown}} All cases as a table\n{head}\n{rows}\n:::")


def with_unit(case: str, value: float) -> str:
    """A value of a case as a reader would say it: times in ms, throughputs a second."""
    if "response time" in case:
        return f"{value / 1e6:,.4g} ms"
    if "throughput" in case:
        return f"{value * 1e9:,.4g} a second"
    return f"{value:.4g}"


def held_out(errors: pd.DataFrame) -> pd.DataFrame:
    """The points that the goals are for, and whether they miss one; errors in percent, without their sign."""
    points = errors[errors["is_held_out"]]
    throughput = points["commits_per_s_off_percent"].abs()
    fsyncs = points["fsyncs_per_commit_off_percent"].abs()
    misses = (throughput > machine.GOALS["most_percent"]) | (fsyncs > machine.GOALS["fsyncs_percent"])
    return points.assign(throughput=throughput, fsyncs=fsyncs, misses=misses)


@dataclass(frozen=True, kw_only=True)
class Errors(Facts):
    """How far simulated runs are off real ones, in the recording that the page shows."""

    said: str = fact()
    beyond: str = fact()
    worst_point: str = fact()
    processor_time: str = fact()
    fit: str = fact()
    farthest: Table
    others: Table

    @classmethod
    def of(cls, run: Run) -> Errors:
        errors = machine.errors(run.table)
        points = held_out(errors)
        return cls(
            said=errors_said(points),
            beyond=beyond_said(points),
            worst_point="load {load}, {design}, {clients} clients".format(**points.iloc[0]),
            processor_time=processor_time_said(errors["processors_used_off_percent"].median()),
            fit=fit_said(run.tables["tried"]),
            farthest=points_table(
                errors[:SHOWN_FIRST],
                f"Real and simulated, the {SHOWN_FIRST} of {len(errors)} points that are farthest off.",
            ),
            others=points_table(
                errors[SHOWN_FIRST:], f"The other {len(errors) - SHOWN_FIRST} points, the farthest off first."
            ),
        )


def errors_said(points: pd.DataFrame) -> str:
    """The errors of the held-out points beside their goals."""
    throughput, fsyncs, goals = points["throughput"], points["fsyncs"], machine.GOALS
    return (
        f"On loads that the fit has not seen, throughput is {throughput.median():.0f} % off in the median "
        f"(goal {goals['median_percent']:g}) and {throughput.max():.0f} % at most (goal {goals['most_percent']:g}); "
        f"fsyncs per commit {fsyncs.max():.0f} % at most (goal {goals['fsyncs_percent']:g}). "
        f"{(throughput > goals['most_percent']).sum()} of {len(points)} points miss the goal for throughput, "
        f"{(fsyncs > goals['fsyncs_percent']).sum()} that for fsyncs. The table is below."
    )


def beyond_said(points: pd.DataFrame) -> str:
    """Which points miss a goal, by load and log."""
    missed = [
        f"{load}, {design} with {' and '.join(str(n) for n in sorted(mine['clients']))} clients"
        for (load, design), mine in points[points["misses"]].groupby(["load", "design"])
    ]
    return f"Beyond a goal: {'; '.join(missed)}." if missed else "No point is beyond a goal."


def processor_time_said(off_percent: float) -> str:
    """How much processor time simulated threads use beside real ones."""
    return f"{abs(off_percent):.0f} % {'less' if off_percent < 0 else 'more'} processor time"


def fit_said(tried: pd.DataFrame) -> str:
    """What the fit finds, and what it means when that is the end of the range in which it looks."""
    looked = tried[machine.FIT]
    found = tried.nsmallest(1, "error")[machine.FIT].item()
    said = (
        f"The fit looks between {looked.min():.2g} and {looked.max():.2g} times what the primitives say of a wake-up, "
        f"and finds {found:.2f}"
    )
    if looked.min() < found < looked.max():
        return f"{said}."
    return (
        f"{said}: the edge of that range. The primitive is not what the loads see of a wake-up, and the model lacks something that it "
        "stands in for."
    )


def points_table(errors: pd.DataFrame, caption: str) -> Table:
    """Points of the comparison, under what the letters of their loads mean."""
    shown = {
        "load": errors["load"] + errors["is_held_out"].map({True: ", held out", False: ", fitted"}),
        "log": errors["design"],
        "clients": errors["clients"],
        "commits/s, real": errors["commits_per_s_real"].map("{:,.0f}".format),
        "simulated": errors["commits_per_s_simulated"].map("{:,.0f}".format),
        "off": errors["commits_per_s_off_percent"].map("{:+.0f} %".format),
        "fsyncs per commit, real": errors["fsyncs_per_commit_real"].map("{:.2f}".format),
        "its error": errors["fsyncs_per_commit_off_percent"].map("{:+.0f} %".format),
        "CPU time, off": errors["processors_used_off_percent"].map("{:+.0f} %".format),
    }
    loads = "; ".join(f"{name}: {says}, fsync {us} us" for name, (says, _, us) in machine.LOADS.items())
    return Table(pd.DataFrame(shown), f"{caption} {loads}.")


def apart(table: pd.DataFrame, *by: str) -> float:
    """How far the runs of one point lie apart, at most, as a factor."""
    rates = table.groupby(list(by))["commits_per_s"]
    ratios: pd.Series[float] = rates.max() / rates.min().clip(lower=1)
    return float(ratios.max())


@dataclass(frozen=True, kw_only=True)
class Repeats(Facts):
    """How repeats of one point differ, and what disturbed the recording."""

    real_runs: int = fact()
    disturbed_runs: int = fact()
    stolen_percent: float = fact("{:g} %")
    load: float = fact("{:g}")  # of the computer, when the recording began
    appends_apart_ratio: float = fact("{:.1f}")  # loads b and d, 8.0, more than one client
    waited_a_tick_real: int = fact()
    waited_a_tick_of_real: int = fact()
    waited_a_tick_simulated: int = fact()
    waited_a_tick_of_simulated: int = fact()
    waited_a_tick_uninterrupted: int = fact()
    waited_a_tick_of_uninterrupted: int = fact()
    large_apart_real_percent: float = fact("{:.0f}")  # load f, 5.7
    large_apart_simulated_percent: float = fact("{:.0f}")
    line_least_ns: float = fact("{:.0f}")
    line_most_ns: float = fact("{:.0f}")
    crowds: Table

    @classmethod
    def of(cls, run: Run, *, recordings: int) -> Repeats:
        counting = machine.undisturbed(run.table)
        is_real = run.table["series"] == "real"
        appends = counting[
            (counting["design"] == "8.0") & counting["load"].isin(("b", "d")) & (counting["clients"] > 1)
        ]
        large = counting[(counting["load"] == "f") & (counting["design"] == "5.7")]
        simulated = appends[appends["series"] == "simulated"]
        uninterrupted = machine.simulated_again(run, simulated, interrupt_every_ps=0)
        real = appends[appends["series"] == "real"]
        tick_us = run.provenance["machine"].get("tick_ps", 4 * 10**9) / PS_PER_US
        line_ns = counting[counting["series"] == "real"]["line_ns"]
        return cls(
            real_runs=int(is_real.sum()),
            disturbed_runs=int((is_real & ~run.table.index.isin(counting.index)).sum()),
            stolen_percent=run.provenance["during"]["steal_percent"],
            load=run.provenance["during"]["load_before"],
            appends_apart_ratio=apart(real, "load", "clients"),
            waited_a_tick_real=_waited(real, tick_us),
            waited_a_tick_of_real=len(real),
            waited_a_tick_simulated=_waited(simulated, tick_us),
            waited_a_tick_of_simulated=len(simulated),
            waited_a_tick_uninterrupted=_waited(uninterrupted, tick_us),
            waited_a_tick_of_uninterrupted=len(uninterrupted),
            large_apart_real_percent=100 * (apart(large[large["series"] == "real"], "clients") - 1),
            large_apart_simulated_percent=100 * (apart(large[large["series"] == "simulated"], "clients") - 1),
            line_least_ns=line_ns.min(),
            line_most_ns=line_ns.max(),
            crowds=crowds_table(run, recordings=recordings),
        )


def _waited(runs_of: pd.DataFrame, tick_us: float) -> int:
    """Runs in which one transaction of a hundred took a whole tick."""
    return int((runs_of["latency_p99_us"] >= 0.95 * tick_us).sum())


def crowds_table(run: Run, *, recordings: int) -> Table:
    """Where repeats differ most: all of them, as quartiles."""
    table = machine.undisturbed(run.table)
    crowds = table[table["clients"].isin(machine.CROWDS)]
    quartiles = {"least": 0.0, "quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "most": 1.0}
    rates = crowds.groupby(["clients", "design", "series"])["commits_per_s"]
    shown = pd.DataFrame({name: rates.quantile(share) for name, share in quartiles.items()})
    during = run.provenance["during"]
    return Table(
        shown.map("{:,.0f}".format).reset_index(),
        f"Larger crowds, load a: commits per second over the repeats. Recordings made: {recordings}; "
        f"shown {(run.recorded_at or '')[:10]}, scheduled {run.provenance['scheduling']}, load before {during['load_before']}, "
        f"steal {during['steal_percent']} %.",
    )


@dataclass(frozen=True, kw_only=True)
class Studies(Facts):
    """What others measured on many cores, and the same on the machines that they describe."""

    number: int = fact()
    said: str = fact()
    by_lock: str = fact()
    farthest: str = fact()
    atomic_threads: int = fact()
    atomic_published_ns: float = fact("{:.0f} ns")  # per increment, all threads together
    atomic_simulated_ns: float = fact("{:.0f} ns")
    sockets_apart_ns: float = fact("{:.0f} ns")  # the least that the same study measured between two sockets
    looks_off_percent: Range = fact(span("{:+.0f}", "%"))  # two CPUs, an increment behind a look
    table: Table
    sensitivity: Table
    sources: Text

    @classmethod
    def of(cls, run: Run, chosen: Sequence[studies.Study]) -> Studies:
        points = crowds.off(run.table)
        atomic = points[points["lock"] == "atomic increment"].nlargest(1, "threads").iloc[0]
        looks = crowds.pairs_off(run.tables["pairs"])
        pairs = run.tables["pairs"]
        blind = pairs[(pairs["how"] == "blind compare-and-swap") & pairs["where"].str.contains("socket ")]
        varied = pd.concat([run.tables["varied"], crowds.stays_as_varied(run.tables["stays"])])
        return cls(
            number=int(points["study"].nunique()),
            said=studies_said(points),
            by_lock=by_lock_said(points),
            farthest=farthest_said(points),
            atomic_threads=int(atomic["threads"]),
            atomic_published_ns=atomic["published"],
            atomic_simulated_ns=atomic["simulated"],
            sockets_apart_ns=blind["published_ns"].min(),
            looks_off_percent=Range(looks["off_percent"].min(), looks["off_percent"].max()),
            table=studies_table(points, chosen),
            sensitivity=sensitivity_table(crowds.sensitivities(run.table, varied)),
            sources=studies_folded(chosen),
        )


# Where it shows whether a lock is freed before its line goes.
SHORT_LOCK = ("lockbench_48", "test-and-set", 8)


@dataclass(frozen=True, kw_only=True)
class Stays(Facts):
    """The same studies where a line stays with its owner until the next request has come half of its way."""

    said: str = fact()
    by_lock: str = fact()
    moved_percent: float = fact("{:+.0f}")  # throughput, the median over the points
    moved_most_percent: float = fact("{:.0f}")
    atomic_ns: float = fact("{:.0f} ns")  # per increment, all threads together, the most of them
    lock_threads: int = fact()
    lock_published_ns: float = fact("{:,.0f} ns")  # per turn of a test-and-set lock, all threads together
    lock_usual_ns: float = fact("{:,.0f} ns")
    lock_ns: float = fact("{:,.0f} ns")

    @classmethod
    def of(cls, run: Run) -> Stays:
        usual, found = crowds.off(run.table), crowds.staying(run.table, run.tables["stays"])
        atomic = found[found["lock"] == "atomic increment"].nlargest(1, "threads").iloc[0]
        lock, usual_lock = (_at(points, *SHORT_LOCK) for points in (found, usual))
        moved = crowds.sensitivities(run.table, crowds.stays_as_varied(run.tables["stays"])).iloc[0]
        return cls(
            said=stays_said(usual, found),
            by_lock=by_lock_said(found),
            moved_percent=moved["median_percent"],
            moved_most_percent=moved["most_percent"],
            atomic_ns=atomic["simulated"],
            lock_threads=SHORT_LOCK[2],
            lock_published_ns=lock["published"],
            lock_usual_ns=usual_lock["simulated"],
            lock_ns=lock["simulated"],
        )


def _at(points: pd.DataFrame, study: str, lock: str, threads: int) -> pd.Series[Any]:
    """The one row of this study, lock and number of threads."""
    found = (points["study"] == study) & (points["lock"] == lock) & (points["threads"] == threads)
    return points[found].iloc[0]


def stays_said(usual: pd.DataFrame, found: pd.DataFrame) -> str:
    """The three measures of the studies where lines stay, each beside the usual one."""
    orders, usual_orders = crowds.orders(found)["is_right"], crowds.orders(usual)["is_right"]
    steps, usual_steps = crowds.steps(found)["is_right"], crowds.steps(usual)["is_right"]
    return (
        f"The median error is {found['off_percent'].abs().median():.0f} % instead of {usual['off_percent'].abs().median():.0f}; the faster of two "
        f"locks is right in {orders.sum()} of {len(orders)} cases instead of {usual_orders.sum()}, the direction of a step in {steps.sum()} of "
        f"{len(steps)} instead of {usual_steps.sum()}."
    )


def studies_said(points: pd.DataFrame) -> str:
    """How far the studies' points are off beside the goal, and how many steps and orders come out right; misses first."""
    size = points["off_percent"].abs()
    steps, orders = crowds.steps(points)["is_right"], crowds.orders(points)["is_right"]
    return (
        f"{(size > crowds.GOAL_PERCENT).sum()} of {len(points)} points are off by more than {crowds.GOAL_PERCENT:g} %, and the median is "
        f"{size.median():.0f} % (goal {crowds.GOAL_PERCENT:g}). Of two locks that a study tells apart, the simulation takes the wrong one for "
        f"the faster in {(~orders).sum()} of {len(orders)} cases; from one number of threads to the next it moves the wrong way in "
        f"{(~steps).sum()} of {len(steps)}."
    )


def by_lock_said(points: pd.DataFrame) -> str:
    """Each lock's median error with its sign, the farthest first."""
    median = points.groupby("lock")["off_percent"].median().sort_values(key=abs, ascending=False)
    return ", ".join(f"{lock} {off:+.0f} %" for lock, off in median.items())


def farthest_said(points: pd.DataFrame) -> str:
    """The point that is farthest too slow, and the one that is farthest too fast."""
    in_order = points.sort_values("off_percent")
    return " and ".join(
        f"{each['lock']} with {each['threads']} threads in {each['study']} ({each['off_percent']:+.0f} %)"
        for each in (in_order.iloc[0], in_order.iloc[-1])
    )


def studies_table(points: pd.DataFrame, chosen: Sequence[studies.Study]) -> Table:
    """A row a study and lock, the farthest off first."""
    steps = crowds.steps(points)
    titles = {study.name: study.title for study in chosen}
    rows = []
    for (study, lock), mine in points.groupby(["study", "lock"], sort=False):
        of_lock = steps[(steps["study"] == study) & (steps["lock"] == lock)]["is_right"]
        off = mine["off_percent"]
        rows.append(
            {
                "study": titles[str(study)],
                "lock": lock,
                "threads": f"{mine['threads'].min()} to {mine['threads'].max()}",
                "off, median": f"{off.median():+.0f} %",
                "least": f"{off.min():+.0f} %",
                "most": f"{off.max():+.0f} %",
                "steps right": f"{of_lock.sum()} of {len(of_lock)}",
                "_size": off.abs().median(),
            }
        )
    table = pd.DataFrame(rows).sort_values("_size", ascending=False, ignore_index=True).drop(columns="_size")
    return Table(
        table, "Simulated throughput against the published one, where more than one thread takes turns."
    )


def sensitivity_table(found: pd.DataFrame) -> Table:
    """What half and one and a half of each number of the studies' machines changes, and lines that stay; the most first."""
    shown = {
        "parameter": found["parameter"].map(_in_words),
        "changed": [
            f"{factor:g} instead of 0" if parameter == "line_stay_permille" else f"times {factor:g}"
            for parameter, factor in zip(found["parameter"], found["factor"], strict=True)
        ],
        "throughput, median": found["median_percent"].map("{:+.0f} %".format),
        "at most": found["most_percent"].map("{:.0f} %".format),
    }
    return Table(pd.DataFrame(shown), "What a changed number of the machine does to all of these points.")


def studies_folded(chosen: Sequence[studies.Study]) -> Text:
    """Each study, folded: what was read, how it loops, and which numbers of its machine are its own."""
    head = "| parameter | value | how known | source |\n|---|---:|---|---|"
    parts = []
    for study in chosen:
        rows = "\n".join(
            f"| `{each.name}` | {parameter_said(each)} | {each.kind} | {each.source} |"
            for each in study.machine.parameters
            if each.name in study.own
        )
        source = study.source
        parts.append(
            f":::{{dropdown}} {study.title} (`{study.name}`)\n{source['who']}: {source['what']}, <{source['address']}>. Read: {source['read']}.\n\n"
            f"{study.loop} All other numbers are those of `two_sockets_88`.\n\n{head}\n{rows}\n:::"
        )
    return Text("\n\n".join(parts))


@dataclass(frozen=True, kw_only=True)
class Sensitivity(Facts):
    """Which numbers of the machine move what the simulated figures are asked."""

    varied: int = fact()
    figures: int = fact()
    said: str = fact()
    run: Run
    table: Table

    @classmethod
    def of(cls, found: pd.DataFrame, machine: presets.Preset) -> Sensitivity:
        found = found[~found["parameter"].str.startswith(OF_LOAD)]
        of_machine = found[found["parameter"] != SEED]
        moving = of_machine[of_machine["moved_percent"].abs() > MOVES_PERCENT]
        return cls(
            varied=int(of_machine["parameter"].nunique()),
            figures=len(set(of_machine["figure"]) - {OF_STUDIES}),
            said=varied_said(of_machine, int(moving["parameter"].nunique())),
            run=drawn.flame_run(found),
            table=moving_table(moving, machine),
        )


@dataclass(frozen=True, kw_only=True)
class Configuration(Facts):
    """The simulated figures with the scheduling that was held against real threads, beside their own recordings by the same seed."""

    figures: int = fact()
    flips: int = fact()
    flipped: str = fact()
    claims: int = fact()
    outcomes: int = fact()
    moved_percent: float = fact("{:.0f}")
    farthest: str = fact()
    convoy_usual: int = fact()
    convoy: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run, usual: Sequence[Run]) -> Configuration:
        found = sensitivity.rescheduled(usual, run)
        moved = found.dropna(subset=["moved_percent"]).sort_values("moved_percent", key=abs)
        most = moved.iloc[-1]
        by_figure = found.drop_duplicates("figure")
        flips = by_figure[by_figure["verdict"] != by_figure["usual_verdict"]]
        return cls(
            figures=len(by_figure),
            flips=len(flips),
            flipped=", ".join(
                f"{each['figure']} ({each['usual_verdict']}, now {each['verdict']})"
                for each in flips.to_dict("records")
            )
            or "none",
            claims=len(found),
            outcomes=int((found["outcome"] != found["usual_outcome"]).sum()),
            moved_percent=moved["moved_percent"].abs().median(),
            farthest=f"{most['figure']}, {most['claim']} ({moved_said(most['moved_percent'])})",
            convoy_usual=convoy_from(next(each.table for each in usual if each.figure == OF_THE_CONVOY)),
            convoy=convoy_from(run.tables[OF_THE_CONVOY]),
            table=configuration_table(found),
        )


def convoy_from(table: pd.DataFrame) -> int:
    """The least number of clients with which the old redo log commits less than half of what the new one does, by the first seed."""
    tps = table[table["repeat"] == 0].pivot(index="concurrency", columns="series", values="tps")
    return int(tps.index[tps["before"] < tps["after"] / 2][0])


def moved_said(percent: float) -> str:
    """How far a ratio moves: in percent, or by its factor where that is large."""
    return f"{percent:+.0f} %" if percent < MOVES_FAR_PERCENT else f"times {1 + percent / 100:.0f}"


def configuration_table(found: pd.DataFrame) -> Table:
    """A row per figure: its verdict by one seed under either scheduling, claims with another outcome, and the ratio that moves farthest."""
    rows = []
    for figure, mine in found.groupby("figure"):
        moved = mine["moved_percent"].dropna().sort_values(key=abs)
        far = moved_said(moved.iloc[-1]) if len(moved) else ""
        other = (mine["outcome"] != mine["usual_outcome"]).sum()
        first = mine.iloc[0]
        rows.append([figure, first["usual_verdict"], first["verdict"], f"{other} of {len(mine)}", far])
    return Table(
        pd.DataFrame(
            rows,
            columns=["figure", "verdict", "as held against threads", "claims that change", "farthest ratio"],
        ),
        "Verdicts by one seed: on the figure's machine, and with the scheduling that was held against real threads.",
    )


def varied_said(found: pd.DataFrame, moving: int) -> str:
    """How many numbers move something, and which verdicts flip; studies have none, and are no figures of the sources."""
    figures = sorted(set(found["figure"]) - {OF_STUDIES})
    if not figures:
        return (
            f"That was done with the studies above, of whose throughput {moving} move a point by more than {MOVES_PERCENT:g} %. No figure of the "
            "sources has been simulated so on the machine as it is now: which verdicts would flip is not known."
        )
    return (
        f"{moving} move a ratio that a figure or a study is asked for by more than {MOVES_PERCENT:g} %. Of the figures {', '.join(figures)} were "
        f"simulated so. Verdicts that flip, with the count of such numbers: {figures_flipped(found)}."
    )


def figures_flipped(found: pd.DataFrame) -> str:
    """The figures whose verdict flips, each with how many numbers flip it, which the ledger names: "fig-7-06 (3)"."""
    flipping = found[found["flips"]].groupby("figure")["parameter"].nunique()
    return ", ".join(f"{figure} ({count})" for figure, count in flipping.items()) or "none"


def moving_table(moving: pd.DataFrame, machine: presets.Preset) -> Table:
    """Each number that moves a figure by more than the limit: by how much at most, and where the number comes from."""
    known = {each.name: each for each in machine.parameters}
    size = moving["moved_percent"].abs()
    farthest = moving.assign(size=size).sort_values("size", ascending=False)
    rows = []
    for parameter, mine in farthest.groupby("parameter", sort=False):
        first = mine.drop_duplicates("figure").sort_values("figure")
        moves = [
            f"{each['figure']} {each['moved_percent']:+.0f} % (times {each['factor']:g})"
            for each in first.to_dict("records")
        ]
        number = known[str(parameter)]
        rows.append([_in_words(number.name), parameter_said(number), "; ".join(moves), number.source])
    return Table(
        pd.DataFrame(rows, columns=["number", "value", "moves a ratio of", "known from"]),
        f"What moves a figure by more than {MOVES_PERCENT:g} % at half or at one and a half of its value, the most first.",
    )


def all_moves(studies_run: Run) -> pd.DataFrame:
    """The farthest move of each varied number in the figures of the sources and in the comparison with studies."""
    of_studies = crowds.moves(studies_run.table, studies_run.tables["varied"], seed=SEED)
    unasked = dict.fromkeys(("outcome", "usual_outcome", "verdict", "usual_verdict"), "")
    asked = sensitivity.sensitivity(sensitivity.varied_runs())
    return sensitivity.farthest(pd.concat([asked, of_studies.assign(figure=OF_STUDIES, **unasked)]))


@dataclass(frozen=True, kw_only=True)
class Gate(Facts):
    """One client of load g over the log of 8.0, at the threshold of the CPU gate."""

    real_per_s: Range = fact(span("{:,.0f}", ""))
    simulated_per_s: Range = fact(span("{:,.0f}", ""))

    @classmethod
    def of(cls, run: Run) -> Gate:
        table = machine.undisturbed(run.table)
        at = table[(table["load"] == "g") & (table["design"] == "8.0") & (table["clients"] == 1)]
        rates = at.groupby("series")["commits_per_s"]
        least, most = rates.min(), rates.max()
        return cls(
            real_per_s=Range(least["real"], most["real"]),
            simulated_per_s=Range(least["simulated"], most["simulated"]),
        )


@dataclass(frozen=True, kw_only=True)
class Recordings(Facts):
    """All recordings of the comparison, and how often one drawn from the repeats of the newest stays within the goals."""

    made: int = fact()
    withdrawn: int = fact()
    counting: int = fact()
    within: str = fact()
    within_again_percent: float = fact("{:.0f}")
    table: Table

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Recordings:
        points = [(run, held_out(machine.errors(run.table))) for run in runs]
        counting = [(run, errors) for run, errors in points if not run.withdrawn]
        return cls(
            made=len(points),
            withdrawn=len(points) - len(counting),
            counting=len(counting),
            within=within_said(sum(not errors["misses"].any() for _, errors in counting)),
            within_again_percent=100 * machine.within_goals_again(counting[-1][0]),
            table=recordings_table(points),
        )


def within_said(n: int) -> str:
    """A number with its verb: "1 is", "none is"."""
    return f"{n or 'none'} {'is' if n < 2 else 'are'}"


def recordings_table(points: Sequence[tuple[Run, pd.DataFrame]]) -> Table:
    """The newest first."""
    shown = [
        {
            "recording": run.n,
            "throughput off, median": f"{errors['throughput'].median():.1f} %",
            "at most": f"{errors['throughput'].max():.1f} %",
            "fsyncs per commit off, at most": f"{errors['fsyncs'].max():.1f} %",
            "points that miss a goal": f"{errors['misses'].sum()} of {len(errors)}",
            "load before": run.provenance["during"]["load_before"],
            "stolen": f"{run.provenance['during']['steal_percent']} %",
            "withdrawn": "yes" if run.withdrawn else "no",
        }
        for run, errors in reversed(points)
    ]
    return Table(
        pd.DataFrame(shown), "All recordings of the comparison with real threads: their held-out loads."
    )


@dataclass(frozen=True, kw_only=True)
class OfFigures(Facts):
    """The simulated recordings of the ledger's figures, and how many have the configuration that was held against real threads."""

    simulated: int = fact()
    alike: int = fact(lambda n: str(n or "none"))
    longest_varied: str = fact()

    @classmethod
    def of(cls, deciding: Sequence[Run]) -> OfFigures:
        alike = [run for run in deciding if set(MEASURED) <= set(run.provenance["machine"])]
        kept = [
            (run.provenance["varied_in"], run.figure) for run in deciding if "varied_in" in run.provenance
        ]
        longest = max(kept, key=lambda each: each[0]["wall_s"], default=None)
        return cls(
            simulated=len(deciding),
            alike=len(alike),
            longest_varied="none"
            if longest is None
            else f"{longest[1]}, {longest[0]['wall_s'] / 60:.0f} minutes on {longest[0]['processors']} processors",
        )


def at_least_a_tenth(us: float) -> str:
    """Below that a cost is not told from none."""
    return f"{us:.1f} us" if us >= 0.1 else "less than 0.1 us"


@dataclass(frozen=True, kw_only=True)
class Costs(Facts):
    """What the primitives of the recording's computer cost, after the fit."""

    next_timer_us: float = fact("{:.0f} us")
    set_timer_us: float = fact("{:.0f} us")
    set_timer_range_us: Range = fact(span("{:.0f}", "us"))  # from the 5th to the 95th percentile
    wake_range_us: Range = fact(span("{:.0f}", "us"))
    timer_interrupt_us: float = fact("{:.0f} us")
    kick_us: float = fact("{:.0f} us")
    wake_each_us: float = fact(at_least_a_tenth)
    woken_us: float = fact(at_least_a_tenth)
    wake_counted_us: float = fact(at_least_a_tenth)
    clock_ns: float = fact("{:.0f} ns")
    interruptions_per_s: float = fact("{:,.0f}")  # of computing
    interruption_mean_us: float = fact("{:.0f} us")
    interruption_hundredth_us: float = fact("{:.0f} us")  # one of a hundred takes as long, or longer

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Costs:
        interruptions = parameters["interrupt_quantiles_ps"]
        mean_ps = sum((a + b) / 2 for a, b in pairwise(interruptions)) / (len(interruptions) - 1)
        return cls(
            next_timer_us=parameters["timer_ps"] / PS_PER_US,
            set_timer_us=middle_of(parameters["set_timer_quantiles_ps"]) / PS_PER_US,
            set_timer_range_us=_without_twentieths(parameters["set_timer_quantiles_ps"]),
            wake_range_us=_without_twentieths(parameters["wake_quantiles_ps"]),
            timer_interrupt_us=parameters["timer_interrupt_ps"] / PS_PER_US,
            kick_us=parameters["kick_ps"] / PS_PER_US,
            wake_each_us=parameters["wake_each_ps"] / PS_PER_US,
            woken_us=parameters["woken_ps"] / PS_PER_US,
            wake_counted_us=parameters["wake_counted_ps"] / PS_PER_US,
            clock_ns=parameters["clock_ps"] / 1e3,
            interruptions_per_s=1e12 / parameters["interrupt_every_ps"],
            interruption_mean_us=mean_ps / PS_PER_US,
            interruption_hundredth_us=interruptions[-1 - len(interruptions) // 100] / PS_PER_US,
        )


def _without_twentieths(quantiles_ps: Sequence[int]) -> Range:
    """From the 5th to the 95th percentile, us."""
    twentieth = len(quantiles_ps) // 20
    return Range(quantiles_ps[twentieth] / PS_PER_US, quantiles_ps[-1 - twentieth] / PS_PER_US)


@dataclass(frozen=True, kw_only=True)
class Earlier(Facts):
    """Load f in recordings before a change."""

    usual_slices_apart_ratio: float = fact("{:.0f}")
    fitted_twice_off_percent: Range = fact(span("{:.0f}", "%"))
    waker_pays_off_percent: float = fact("{:+.0f} %")

    @classmethod
    def of(cls, *, usual_slices: Run, fitted_twice: Run, waker_pays: Run) -> Earlier:
        of_f = machine.undisturbed(usual_slices.table)
        of_f = of_f[(of_f["load"] == "f") & (of_f["series"] == "real")]
        fitted, paid = _large_off_percent(fitted_twice).abs(), _large_off_percent(waker_pays)
        return cls(
            usual_slices_apart_ratio=apart(of_f, "design", "clients"),
            fitted_twice_off_percent=Range(fitted.min(), fitted.max()),
            waker_pays_off_percent=paid[16],
        )


def _large_off_percent(run: Run) -> pd.Series[float]:
    """By clients, how far throughput of load f over the log of 5.7 is off."""
    errors = machine.errors(run.table)
    of_f = errors[(errors["load"] == "f") & (errors["design"] == "5.7")]
    return of_f.set_index("clients")["commits_per_s_off_percent"]


@dataclass(frozen=True, kw_only=True)
class Machines(Facts):
    """The machines that come with the book."""

    table: Table
    sources: Text

    @classmethod
    def of(cls, machines: Sequence[presets.Preset]) -> Machines:
        return cls(table=machines_table(machines), sources=sources_folded(machines))


def machines_table(machines: Sequence[presets.Preset]) -> Table:
    """Every parameter of the last machine, and its value on each."""
    values = [{each.name: parameter_said(each) for each in preset.parameters} for preset in machines]
    rows = [[_in_words(name), *(value.get(name, "-") for value in values)] for name in values[-1]]
    return Table(
        pd.DataFrame(rows, columns=["parameter", *(preset.name for preset in machines)]),
        "The three machines: what one operation costs, and how many of each part there are.",
    )


def _in_words(parameter: str) -> str:
    return (
        parameter.replace("_permille", "").replace("_ps", "").replace("_per_kib", " a KiB").replace("_", " ")
    )


def sources_folded(machines: Sequence[presets.Preset]) -> Text:
    """A folded table of each machine, with where its numbers come from."""
    head = "| parameter | value | how known | source |\n|---|---:|---|---|"
    parts = []
    for preset in machines:
        rows = "\n".join(
            f"| `{each.name}` | {parameter_said(each)} | {each.kind} | {each.source} |"
            for each in preset.parameters
        )
        parts.append(f":::{{dropdown}} {preset.title} (`{preset.name}`)\n{head}\n{rows}\n:::")
    return Text("\n\n".join(parts))


def parameter_said(parameter: presets.Parameter) -> str:
    """Its value, or its first quantile, in the unit of its name."""
    first = parameter.value[0] if isinstance(parameter.value, list) else parameter.value
    if "_ps" in parameter.name:
        return time_said(first)
    return f"{first / 1000:g}" if "permille" in parameter.name else f"{first}"


def time_said(ps: int) -> str:
    """In the unit that keeps it short."""
    for unit, size in (("ms", 1e9), ("us", 1e6), ("ns", 1e3)):
        if ps >= size:
            return f"{ps / size:.4g} {unit}"
    return f"{ps} ps"


def crowd() -> Run:
    """The redo log of 5.7 under 100 clients that never pause, on the sources' machine, as its figure draws it."""
    return drawn.flame_run(
        _native.redo_log.simulate(
            design="5.7",
            parameters=presets.preset("four_sockets_176").values(),
            load={**TPCC, "clients": 100, "away_ns": 0},
            run_ns=60_000_000,
        )
    )


def use_of_cores(runs_of: Mapping[str, Mapping[str, Any]]) -> Table:
    """What the time of the cores was used for in each of some runs of a machine, by name."""
    purposes = ["work", "memory", "spin", "switching", "idle", "waiting for the disk"]
    rows = []
    for name, run in runs_of.items():
        core_ps = run["core_ps"]
        rows.append([name, *(f"{100 * share:.1f} %" for share in core_ps.sum(axis=0) / core_ps.sum())])
    return Table(
        pd.DataFrame(rows, columns=["cores", *purposes]),
        "What the time of the cores was used for. What other processes use counts as idle.",
    )


@dataclass(frozen=True, kw_only=True)
class MachineFacts(Facts):
    """All that the page tells."""

    formulas: Formulas
    errors: Errors
    repeats: Repeats
    gate: Gate
    gate_of_tenth: Gate
    recordings: Recordings
    of_figures: OfFigures
    costs: Costs
    earlier: Earlier
    machines: Machines
    studies: Studies
    stays: Stays
    sensitivity: Sensitivity
    configuration: Configuration


def facts() -> MachineFacts:
    """From all recordings of the comparison, and from queues that are simulated now."""
    with ProcessPoolExecutor(2) as executor:
        checked = validation.validate(executor=executor)
    run, every = newest(FIGURE, "host"), recorded(FIGURE, "host")
    of_studies = newest(OF_STUDIES, "sim")
    numbered = {each.n: each for each in every}
    of_the_sources = [made for each in figures() if (made := latest(each, "sim"))]
    usual_slices = [each for each in every if "100 ms" in each.provenance["scheduling"]]
    return MachineFacts(
        formulas=Formulas.of(checked),
        errors=Errors.of(run),
        repeats=Repeats.of(run, recordings=len(every)),
        gate=Gate.of(run),
        gate_of_tenth=Gate.of(numbered[OF_THE_GATE]),
        recordings=Recordings.of(every),
        of_figures=OfFigures.of(of_the_sources),
        costs=Costs.of(run.provenance["machine"]),
        earlier=Earlier.of(
            usual_slices=usual_slices[-1],
            fitted_twice=numbered[OF_THE_FIT],
            waker_pays=numbered[OF_WAKE_UPS],
        ),
        machines=Machines.of(
            [presets.preset(name) for name in ("laptop", "two_sockets_88", "four_sockets_176")]
        ),
        studies=Studies.of(of_studies, [studies.study(name) for name in studies.names()]),
        stays=Stays.of(of_studies),
        sensitivity=Sensitivity.of(all_moves(of_studies), presets.preset("four_sockets_176")),
        configuration=Configuration.of(newest(sensitivity.RESCHEDULED, "sim"), of_the_sources),
    )
