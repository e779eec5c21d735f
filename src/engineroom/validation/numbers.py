"""What `book/machine.md` tells: the simulated machine against formulas, real threads, and what others measured."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from engineroom.ledger import claims, sensitivity
from engineroom.ledger.sensitivity import MOVES_PERCENT, SEED
from engineroom.machine import presets
from engineroom.machine.presets import Parameter, middle_of
from engineroom.runs import Run, latest, newest, recorded
from engineroom.show.table import Markdown, Table
from engineroom.simulating.variations import OF_LOAD
from engineroom.validation import figures, studies
from engineroom.validation.experiments import crowds, real

_PS_PER_US = 1e6
# What the machine beside real threads has from measurements: if a figure's machine lacks one, it is another configuration.
_MEASURED = {"tick_ps", "wake_quantiles_ps", "interrupt_quantiles_ps"}

# Simulated against real.
run = newest("own-machine-real", "host")
during, parameters = run.provenance["during"], run.provenance["machine"]
counting = real.undisturbed(run.table)
real_runs = run.table.query("series == 'real'")
goals = real.GOALS
errors = real.errors(run.table)
fit_tried = run.tables["tried"][[real.FIT, "error"]].set_axis(["factor", "error"], axis="columns")
fit_found = fit_tried.nsmallest(1, "error")["factor"].item()
_appends = counting.query("design == '8.0' and load in ('b', 'd') and clients > 1")
_large = counting.query("design == '5.7' and load == 'f'")
appends, large = (dict(iter(of.groupby("series"))) for of in (_appends, _large))
line_ns = counting.query("series == 'real'")["line_ns"]
interruption_us = [ps / _PS_PER_US for ps in parameters["interrupt_quantiles_ps"]]
interruption_mean_us = sum((a + b) / 2 for a, b in pairwise(interruption_us)) / (len(interruption_us) - 1)

# Simulated against what others measured, as the machine is and where lines stay with their owners.
studied = newest("own-machine-crowds", "sim")
points = crowds.off(studied.table)
staying = crowds.staying(studied.table, studied.tables["stays"])
slowest, *_, fastest = (each for _, each in points.sort_values("off_percent").iterrows())
ns, staying_ns = (of.set_index(["study", "lock", "threads"]) for of in (points, staying))
atomic = ("perfbook_448", "atomic increment", 224)
short_lock = (
    "lockbench_48",
    "test-and-set",
    8,
)  # where it shows whether a lock is freed before its line goes
goal_percent = crowds.GOAL_PERCENT
_pairs = studied.tables["pairs"]
looks_off_percent = crowds.pairs_off(_pairs)["off_percent"]
apart_ns = _pairs[(_pairs["how"] == "blind compare-and-swap") & _pairs["where"].str.contains("socket ")][
    "published_ns"
]
_stays_varied = crowds.stays_as_varied(studied.tables["stays"])
stays_moved = crowds.sensitivities(studied.table, _stays_varied).iloc[0]

# Runs in which one transaction of a hundred took a whole tick, of `appends["simulated"]` simulated once more without interruptions.
# They are not simulated for the page, since that takes a quarter of a minute; a test does.
uninterrupted_waits = 2


def held_out(errors: pd.DataFrame) -> pd.DataFrame:
    """The points that the goals are for, and whether they miss one; errors in percent, without their sign."""
    found = errors[errors["is_held_out"]]
    throughput = found["commits_per_s_off_percent"].abs()
    fsyncs = found["fsyncs_per_commit_off_percent"].abs()
    misses = (throughput > goals["most_percent"]) | (fsyncs > goals["fsyncs_percent"])
    return found.assign(throughput=throughput, fsyncs=fsyncs, misses=misses)


held_out_points = held_out(errors)
checked = newest("own-machine-validation", "sim").table  # textbook queues


def cases_table() -> Table:
    """All cases; times in ms, throughputs a second."""

    def with_unit(case: str, value: float) -> str:
        if "response time" in case:
            return f"{value / 1e6:,.4g} ms"
        return f"{value * 1e9:,.4g} a second" if "throughput" in case else f"{value:.4g}"

    found = checked
    shown = {
        "case": found["case"],
        **{what: map(with_unit, found["case"], found[what]) for what in ("formula", "simulated")},
        "off": found["off_percent"].map("{:+.2f} %".format),
        "half-width": found["half_width_percent"].map("{:.2f} %".format),
    }
    return Table(pd.DataFrame(shown), "All cases as a table.")


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
    loads = "; ".join(f"{name}: {says}, fsync {us} us" for name, (says, _, us) in real.LOADS.items())
    return Table(pd.DataFrame(shown), f"{caption} {loads}.")


def farthest_points() -> Table:
    return points_table(
        errors[:10], f"Real and simulated, the 10 of {len(errors)} points that are farthest off."
    )


def other_points() -> Table:
    return points_table(errors[10:], f"The other {len(errors) - 10} points, the farthest off first.")


def apart(table: pd.DataFrame, *by: str) -> float:
    """How far the runs of one point lie apart, at most, as a factor."""
    rates = table.groupby(list(by))["commits_per_s"]
    return float((rates.max() / rates.min().clip(lower=1)).max())


def waited_a_tick(runs_of: pd.DataFrame) -> int:
    """Runs in which one transaction of a hundred took a whole tick."""
    return int((runs_of["latency_p99_us"] >= 0.95 * parameters["tick_ps"] / _PS_PER_US).sum())


def crowds_table() -> Table:
    """Where repeats differ most: all of them, as quartiles."""
    quartiles = {"least": 0.0, "quartile": 0.25, "median": 0.5, "upper quartile": 0.75, "most": 1.0}
    of_crowds = counting[counting["clients"].isin(real.CROWDS)]
    rates = of_crowds.groupby(["clients", "design", "series"])["commits_per_s"]
    shown = pd.DataFrame({name: rates.quantile(share) for name, share in quartiles.items()})
    return Table(
        shown.map("{:,.0f}".format).reset_index(),
        f"Larger crowds, load a: commits per second over the repeats. Recordings made: {len(every())}; "
        f"shown {(run.recorded_at or '')[:10]}, scheduled {run.provenance['scheduling']}, load before {during['load_before']}, "
        f"steal {during['steal_percent']} %.",
    )


@functools.cache
def every() -> dict[int, Run]:
    """All recordings of the comparison, by number."""
    return {each.n or 0: each for each in recorded("own-machine-real", "host")}


def not_withdrawn() -> list[Run]:
    return [each for each in every().values() if not each.withdrawn]


@functools.cache
def within_goals() -> int:
    """Of the recordings that are not withdrawn."""
    return sum(not held_out(real.errors(each.table))["misses"].any() for each in not_withdrawn())


@functools.cache
def within_again_percent() -> float:
    """Of recordings drawn from the repeats of the newest one."""
    return 100 * real.within_goals_again(not_withdrawn()[-1])


def recordings_table() -> Table:
    """The newest first."""
    shown = [
        {
            "recording": each.n,
            "throughput off, median": f"{found['throughput'].median():.1f} %",
            "at most": f"{found['throughput'].max():.1f} %",
            "fsyncs per commit off, at most": f"{found['fsyncs'].max():.1f} %",
            "points that miss a goal": f"{found['misses'].sum()} of {len(found)}",
            "load before": each.provenance["during"]["load_before"],
            "stolen": f"{each.provenance['during']['steal_percent']} %",
            "withdrawn": "yes" if each.withdrawn else "no",
        }
        for each in reversed(every().values())
        for found in [held_out(real.errors(each.table))]
    ]
    caption = "All recordings of the comparison with real threads: their held-out loads."
    return Table(pd.DataFrame(shown), caption)


def gate_per_s(run: Run) -> pd.DataFrame:
    """Commits of one client of load g over the log of 8.0, at the threshold of the CPU gate: the least and the most."""
    at = real.undisturbed(run.table).query("load == 'g' and design == '8.0' and clients == 1")
    return at.groupby("series")["commits_per_s"].agg(["min", "max"])


def of_usual_slices() -> pd.DataFrame:
    """Real runs of load f in the last recording whose slices were those of the system."""
    *_, made = (each for each in every().values() if "100 ms" in each.provenance["scheduling"])
    return real.undisturbed(made.table).query("load == 'f' and series == 'real'")


def large_off_percent(made: Run) -> pd.Series[Any]:
    """By clients, how far throughput of load f over the log of 5.7 is off."""
    of_f = real.errors(made.table).query("load == 'f' and design == '5.7'")
    return of_f.set_index("clients")["commits_per_s_off_percent"]


def us(parameter: str) -> float:
    """What the recording's computer takes after the fit; the median of what is known by its quantiles."""
    return middle_of(parameters[parameter]) / _PS_PER_US


def twentieths_us(parameter: str) -> tuple[float, float]:
    """From the 5th to the 95th percentile."""
    quantiles = parameters[parameter]
    twentieth = len(quantiles) // 20
    return quantiles[twentieth] / _PS_PER_US, quantiles[-1 - twentieth] / _PS_PER_US


@functools.cache
def of_the_sources() -> list[Run]:
    """The newest simulated recordings of the sources' figures."""
    return [made for each in claims.figures() if (made := latest(each, "sim"))]


def alike() -> int:
    """How many of them have the configuration that was held against real threads."""
    return sum(set(each.provenance["machine"]) >= _MEASURED for each in of_the_sources())


def longest_varied() -> Run:
    """The one whose variations took longest, of those whose time was kept."""
    kept = [each for each in of_the_sources() if "varied_in" in each.provenance]
    return max(kept, key=lambda each: each.provenance["varied_in"]["wall_s"])


@functools.cache
def rescheduled() -> pd.DataFrame:
    """The claims of simulated figures with the scheduling that was held against real threads, beside their own recordings by the same seed."""
    return sensitivity.rescheduled(of_the_sources(), newest(sensitivity.RESCHEDULED, "sim"))


def rescheduled_figures() -> pd.DataFrame:
    """A row a figure, and whether its verdict flips."""
    found = rescheduled().drop_duplicates("figure")
    return found.assign(flips=found["verdict"] != found["usual_verdict"])


def flipped() -> str:
    of = rescheduled_figures()
    rows = of[of["flips"]].to_dict("records")
    return ", ".join(f"{each['figure']} ({each['usual_verdict']}, now {each['verdict']})" for each in rows)


def rescheduled_moves() -> pd.DataFrame:
    """Ratios of claims by how far they move, the farthest last."""
    return rescheduled().dropna(subset=["moved_percent"]).sort_values("moved_percent", key=abs)


def moved_said(percent: float) -> str:
    """In percent, or by its factor where that is large."""
    return f"{percent:+.0f} %" if percent < 400 else f"times {1 + percent / 100:.0f}"


def configuration_table() -> Table:
    """A row per figure: its verdict by one seed under either scheduling, claims with another outcome, and the ratio that moves farthest."""
    rows = []
    for figure, mine in rescheduled().groupby("figure"):
        moved = mine["moved_percent"].dropna().sort_values(key=abs)
        first = mine.iloc[0]
        rows.append(
            {
                "figure": figure,
                "verdict": first["usual_verdict"],
                "as held against threads": first["verdict"],
                "claims that change": f"{(mine['outcome'] != mine['usual_outcome']).sum()} of {len(mine)}",
                "farthest ratio": moved_said(moved.iloc[-1]) if len(moved) else "",
            }
        )
    caption = "Verdicts by one seed: on the figure's machine, and with the scheduling that was held against real threads."
    return Table(pd.DataFrame(rows), caption)


def right(of_points: pd.DataFrame, what: str) -> pd.Series[bool]:
    """Of each of two locks that a study tells apart ("orders"), or of each step between numbers of threads that moves ("steps")."""
    return {"orders": crowds.orders, "steps": crowds.steps}[what](of_points)["is_right"]


def by_lock(of_points: pd.DataFrame) -> str:
    """Each lock's median error with its sign, the farthest first."""
    median = of_points.groupby("lock")["off_percent"].median().sort_values(key=abs, ascending=False)
    return ", ".join(f"{lock} {off:+.0f} %" for lock, off in median.items())


def studies_table() -> Table:
    """A row a study and lock, the farthest off first."""
    steps = crowds.steps(points)
    rows = []
    for (study, lock), mine in points.groupby(["study", "lock"], sort=False):
        of_lock = steps[(steps["study"] == study) & (steps["lock"] == lock)]["is_right"]
        off = mine["off_percent"]
        rows.append(
            {
                "study": studies.study(str(study)).title,
                "lock": lock,
                "threads": f"{mine['threads'].min()} to {mine['threads'].max()}",
                "off, median": f"{off.median():+.0f} %",
                "least": f"{off.min():+.0f} %",
                "most": f"{off.max():+.0f} %",
                "steps right": f"{of_lock.sum()} of {len(of_lock)}",
                "size": off.abs().median(),
            }
        )
    table = pd.DataFrame(rows).sort_values("size", ascending=False).drop(columns="size")
    caption = "Simulated throughput against the published one, where more than one thread takes turns."
    return Table(table, caption)


def studies_sensitivity_table() -> Table:
    """What half and one and a half of each number of the studies' machines changes, and lines that stay; the most first."""
    varied = pd.concat([studied.tables["varied"], _stays_varied])
    found = crowds.sensitivities(studied.table, varied)
    shown = {
        "parameter": found["parameter"].map(in_words),
        "changed": [
            f"{factor:g} instead of 0" if parameter == "line_stay_permille" else f"times {factor:g}"
            for parameter, factor in zip(found["parameter"], found["factor"], strict=True)
        ],
        "throughput, median": found["median_percent"].map("{:+.0f} %".format),
        "at most": found["most_percent"].map("{:.0f} %".format),
    }
    return Table(pd.DataFrame(shown), "What a changed number of the machine does to all of these points.")


def studies_sources() -> Markdown:
    """Each study, folded: what was read, how it loops, and which numbers of its machine are its own."""
    parts = []
    for study in map(studies.study, studies.names()):
        source = study.source
        own = [each for each in study.machine.parameters if each.name in study.own]
        parts.append(
            f":::{{dropdown}} {study.title} (`{study.name}`)\n{source['who']}: {source['what']}, <{source['address']}>. Read: {source['read']}.\n\n"
            f"{study.loop} All other numbers are those of `two_sockets_88`.\n\n{_sources(own)}\n:::"
        )
    return Markdown("\n\n".join(parts))


def _sources(parameters: Iterable[Parameter]) -> str:
    head = "| parameter | value | how known | source |\n|---|---:|---|---|"
    rows = (
        f"| `{each.name}` | {parameter_said(each)} | {each.kind} | {each.source} |" for each in parameters
    )
    return "\n".join([head, *rows])


@functools.cache
def moves() -> pd.DataFrame:
    """The farthest move of each varied number in the figures of the sources and in the comparison with studies."""
    of_studies = crowds.moves(studied.table, studied.tables["varied"], seed=SEED)
    unasked = dict.fromkeys(("outcome", "usual_outcome", "verdict", "usual_verdict"), "")
    asked = sensitivity.sensitivity(sensitivity.varied_runs())
    found = sensitivity.farthest(
        pd.concat([asked, of_studies.assign(figure="own-machine-crowds", **unasked)])
    )
    return found[~found["parameter"].str.startswith(OF_LOAD)]


def machine_moves() -> pd.DataFrame:
    """Without what other seeds move."""
    return moves()[moves()["parameter"] != SEED]


def moving() -> pd.DataFrame:
    """What moves by more than the limit."""
    return machine_moves()[machine_moves()["moved_percent"].abs() > MOVES_PERCENT]


def varied_figures() -> list[str]:
    """The figures of the sources that were simulated so."""
    return sorted(set(machine_moves()["figure"]) - {"own-machine-crowds"})


def figures_flipped() -> str:
    """The figures whose verdict flips, each with how many numbers flip it, which the ledger names: "fig-7-06 (3)"."""
    flipping = machine_moves()[machine_moves()["flips"]].groupby("figure")["parameter"].nunique()
    return ", ".join(f"{figure} ({count})" for figure, count in flipping.items())


def moves_run() -> Run:
    """All moves as their figure draws them."""
    return figures.sensitivity_run(moves())


def moving_table() -> Table:
    """Each number that moves a figure by more than the limit: by how much at most, and where the number comes from."""
    known = {each.name: each for each in presets.preset("sources_176").parameters}
    found = moving()
    farthest = found.assign(size=found["moved_percent"].abs()).sort_values("size", ascending=False)
    rows = []
    for parameter, mine in farthest.groupby("parameter", sort=False):
        first = mine.drop_duplicates("figure").sort_values("figure").to_dict("records")
        moved = [
            f"{each['figure']} {each['moved_percent']:+.0f} % (times {each['factor']:g})" for each in first
        ]
        number = known[str(parameter)]
        rows.append([in_words(number.name), parameter_said(number), "; ".join(moved), number.source])
    return Table(
        pd.DataFrame(rows, columns=["number", "value", "moves a ratio of", "known from"]),
        f"What moves a figure by more than {MOVES_PERCENT:g} % at half or at one and a half of its value, the most first.",
    )


def _machines() -> list[presets.Preset]:
    return [presets.preset(name) for name in ("laptop", "two_sockets_88", "four_sockets_176", "sources_176")]


def machines_table() -> Table:
    """Every parameter of the last machine, and its value on each."""
    values = [{each.name: parameter_said(each) for each in preset.parameters} for preset in _machines()]
    rows = [[in_words(name), *(value.get(name, "-") for value in values)] for name in values[-1]]
    return Table(
        pd.DataFrame(rows, columns=["parameter", *(preset.name for preset in _machines())]),
        "The machines: what one operation costs, and how many of each part there are.",
    )


def machines_sources() -> Markdown:
    """A folded table of each machine, with where its numbers come from."""
    return Markdown(
        "\n\n".join(
            f":::{{dropdown}} {each.title} (`{each.name}`)\n{_sources(each.parameters)}\n:::"
            for each in _machines()
        )
    )


def in_words(parameter: str) -> str:
    without_unit = parameter.replace("_permille", "").replace("_ps", "")
    return without_unit.replace("_per_kib", " a KiB").replace("_", " ")


def parameter_said(parameter: Parameter) -> str:
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


@functools.cache
def crowd() -> Run:
    """The redo log of 5.7 under 100 clients that never pause, on the sources' machine, as its figure draws it."""
    from engineroom._native import redo_log
    from engineroom.simulating.loads import TPCC

    load = {**TPCC, "clients": 100, "away_ns": 0}
    machine = presets.parameters("four_sockets_176")
    return figures.flame_run(
        redo_log.simulate(design="5.7", parameters=machine, load=load, run_ns=60_000_000)
    )


def use_of_cores(runs_of: Mapping[str, Mapping[str, Any]]) -> Table:
    """What the time of the cores was used for in each of some runs of a machine, by name."""
    purposes = ["work", "memory", "spin", "switching", "idle", "waiting for the disk"]
    rows = []
    for name, seen in runs_of.items():
        core_ps = seen["core_ps"]
        rows.append([name, *(f"{100 * share:.1f} %" for share in core_ps.sum(axis=0) / core_ps.sum())])
    return Table(
        pd.DataFrame(rows, columns=["cores", *purposes]),
        "What the time of the cores was used for. What other processes use counts as idle.",
    )
