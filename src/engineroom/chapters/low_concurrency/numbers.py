"""What `book/low_concurrency.md` tells. CPU times are the servers', the least of the repeats."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from engineroom import paths
from engineroom.chapters.low_concurrency import figures
from engineroom.runs import newest
from engineroom.runs.summary import Interval, paired_ratio
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.parts import ours
from engineroom.show.table import Table

_EQUAL, _INSTALLED, _NO_HASH_INDEX = "equal settings", "as installed", "as installed but no hash index"

operations = newest("own-low-concurrency-operations", "live")
_servers = sorted(set(operations.table["series"]), key=release)
old, early, new = (
    next(each for each in _servers if each.startswith(start)) for start in ("5.7", "8.0.15", "9.")
)
cpu_us = operations.values("settings", "operation", "series", y="server_cpu_us")
_repeats_us = operations.table.set_index(["operation", "settings", "series"])["server_cpu_us"].sort_index()
ratio = cpu_us.xs(new, level="series") / cpu_us.xs(old, level="series")  # by settings and operation
log_writes = operations.values(
    "settings",
    "operation",
    "series",
    y="per_operation",
    table="counters",
    where="counter == 'Innodb_log_write_requests'",
)
pages = operations.values(
    "settings",
    "operation",
    "series",
    y="per_operation",
    table="counters",
    where="counter == 'Innodb_buffer_pool_read_requests'",
)
scan_fields = 5  # of a row of the full scan

# Instructions of the connection's thread, callgrind's counts: by settings, operation and server; and by cause.
counted = newest("own-low-concurrency-instructions", "instructions")
late = next(name for name in sorted(set(counted.table["series"]), key=release) if name.startswith("8.0.31"))
instructions = counted.values("settings", "operation", "series", y="instructions")
_causes = (
    counted.tables["causes"]
    .set_index(["settings", "operation", "series", "cause"])["instructions"]
    .sort_index()
)


def counted_ratio(operation: str, over: str, under: str, settings: str = _EQUAL) -> float:
    """Instructions of an operation on one server over those on another."""
    return float(instructions[settings, operation, over] / instructions[settings, operation, under])


def added(operation: str, over: str, under: str) -> pd.Series[float]:
    """Instructions that each cause adds from one server to the other with equal settings, the largest first."""
    newer, older = (_causes[_EQUAL, operation, server] for server in (over, under))
    more: pd.Series[float] = newer.sub(older, fill_value=0.0).sort_values(ascending=False)
    return more


# The same with performance_schema on, other settings equal, and as installed.
INSTRUMENTED = "equal settings, performance_schema on"
by_defaults = newest("own-low-concurrency-instructions-settings", "instructions")
_by_defaults = by_defaults.values("settings", "operation", "series", y="instructions")
instruments_added = _by_defaults[INSTRUMENTED] - instructions[_EQUAL]
instruments_percent = 100 * instruments_added / instructions[_EQUAL]


def installed_ratio(settings: str, operation: str) -> float:
    """Instructions of an operation on late 8.0 over those on 5.7, with their instruments or as installed."""
    return float(_by_defaults[settings, operation, late] / _by_defaults[settings, operation, old])


def defaults_table() -> Table:
    """What `performance_schema` adds to each operation on each server, and late 8.0 over 5.7 with each of the settings."""
    added = instruments_percent.unstack("series")[_servers].map("{:.1f} %".format)
    equal = instructions[_EQUAL].unstack("series")
    ratios = {
        _EQUAL: equal[late] / equal[old],
        "performance_schema on": _by_defaults[INSTRUMENTED]
        .unstack("series")
        .pipe(lambda of: of[late] / of[old]),
        _INSTALLED: _by_defaults[_INSTALLED].unstack("series").pipe(lambda of: of[late] / of[old]),
    }
    over = pd.DataFrame(
        {f"{late} over {old}, {name}": of.map("{:.2f}".format) for name, of in ratios.items()}
    )
    return Table(
        pd.concat([added.add_prefix("performance_schema adds, "), over], axis=1)
        .loc[added.index]
        .reset_index(),
        "Instructions of the connection's thread: what performance_schema adds with other settings equal, and ratios with each of the settings.",
        origin_of(by_defaults),
    )


# How often the inner row is read that four outer rows in turn want.
misses = newest("own-low-concurrency-misses", "instructions").values(
    "operation", "series", "event", y="per_operation"
)
_row_path = newest("fig-deg-4", "instructions").values("build", y="instructions")
row_path_ratio = _row_path["stock"] / _row_path["optimized"]
reads_of_one = 4 * newest("own-low-concurrency-repeated-keys", "live").values("series", y="reads_per_row")
_complaints = newest("own-low-concurrency-complaints", "instructions")
_counts_of = _complaints.values("complaint", "series", y="instructions")
complaint_ratio = _counts_of / _counts_of.groupby("complaint").transform(
    lambda of: of[min(of.index, key=lambda at: release(at[-1]))]
)
join_calls_per_s = newest("num-deg-2", "live").values("series", y="value")["hot_calls_per_second"]

# Rows of a few columns: figure 2 has two, these lie on either side of it.
_inserted_us = newest("own-low-concurrency-insert", "live").values(
    "settings",
    "columns",
    "rows_per_statement",
    "series",
    y="server_cpu_us",
    where="target == 'innodb' and columns in (1, 5)",
)
narrow_ratio = _inserted_us.xs(new, level="series") / _inserted_us.xs(old, level="series")

# Memory of a row: a line through several widths, and rows of one value.
_memory = newest("num-deg-1", "live")
_fitted = _memory.tables["fitted"].set_index("series")
row_bytes, value_bytes = _fitted["bytes_per_row"], _fitted["bytes_per_value"]
narrow_row_bytes = (
    _memory.tables["measured"].query("columns == 1").set_index("series")["bytes_per_row_with_items"]
)

lists = newest("own-low-concurrency-lists", "kernel")
list_ns = lists.values("columns", "series", y="row_ns")
_commits = newest("num-deg-3", "kernel").table.query("threads == 1")
commit_ns = _commits.pivot(index="repeat", columns="series", values="cpu_ns")

# Each repeat is a process of its own.
_fatal = newest("own-low-concurrency-fatal", "kernel")
hot_bytes = _fatal.tables["code"].set_index("series")["hot_bytes"]
field_ns = _fatal.table.query("fields == 'integers'").pivot(
    index="repeat", columns="series", values="field_ns"
)
field_ratio = field_ns.div(field_ns["none"], axis=0)
cold_gain = paired_ratio(field_ns["cold_call"], field_ns["inline_stream"])
_offsets = newest("own-low-concurrency-offsets", "kernel").table.query("row_versions == 0")
_record_ns = _offsets.pivot(index=["repeat", "columns"], columns="series", values="record_ns")
record_ratio = _record_ns.div(_record_ns["v57"], axis=0).groupby("repeat").median()

trained = ours(figures.own_low_concurrency_pgo.rows(newest("own-low-concurrency-pgo", "kernel")))["same"]
trained_faster = (trained < 1).groupby(lambda cell: cell.split(", ")[0], sort=False).agg(["sum", "size"])


def commit_cost(series: str) -> Interval:
    """What a commit of a mini-transaction costs one thread over the design of 5.7."""
    return paired_ratio(commit_ns[series], commit_ns["mtr_5_7"])


def interval(new_us: object, old_us: object, *, draws: int = 2000) -> Interval:
    """CPU time over CPU time, the least of the repeats each, with an interval over draws of the repeats."""
    rng = np.random.default_rng(0)
    over, under = (np.asarray(each, dtype=float) for each in (new_us, old_us))
    drawn = rng.choice(over, (draws, len(over))).min(axis=1) / rng.choice(under, (draws, len(under))).min(
        axis=1
    )
    low, high = np.percentile(drawn, (5, 95))
    return Interval(float(over.min() / under.min()), float(low), float(high))


@cache
def cost(operation: str, settings: str, base: str = old) -> Interval:
    """What an operation costs the newest server over another one."""
    return interval(_repeats_us[operation, settings, new], _repeats_us[operation, settings, base])


def moved() -> list[str]:
    """The operations that lose more as installed than without the hash index: their intervals do not meet."""
    names = operations.table["operation"].unique()
    return [name for name in names if cost(name, _INSTALLED).low > cost(name, _NO_HASH_INDEX).high]


def operations_table() -> Table:
    """CPU time of each operation with equal settings, and the ratios with each of the settings."""
    units = operations.table.groupby("operation", sort=False)["unit"].first().rename("per")
    equal = cpu_us[_EQUAL].unstack("series")[_servers].map("{:,.2f}".format)
    ratios = ratio.unstack("settings")[operations.table["settings"].unique()].map("{:.2f}".format)
    rows = pd.concat([units, equal, ratios.add_prefix(f"{new} over {old}, ")], axis=1).loc[units.index]
    return Table(
        rows.rename_axis("operation").reset_index(),
        "Server CPU microseconds of ten operations with equal settings, by generation; the ratios with each of the settings.",
        origin_of(operations),
    )


def memory_table() -> Table:
    """The fixed part of a row and the part of each value, by server."""
    rows = _fitted.map("{:.0f}".format).rename(columns=lambda name: name.replace("_", " "))
    caption = "Memory of one more row of an INSERT: a fixed part, and a part for each value."
    return Table(rows.reset_index(), caption, origin_of(_memory))


def settings_table() -> Table:
    """The settings that are made equal, as an option file says them."""
    from engineroom.chapters.low_concurrency.experiments.live import OPTIONS
    from engineroom.chapters.low_concurrency.settings import EQUAL

    said = {name: "on" if value is True else str(value) for name, value in OPTIONS[EQUAL].items()}
    caption = "Settings that are the same on all servers wherever this chapter says equal settings."
    return Table(pd.DataFrame(said.items(), columns=["setting", "value"]), caption)


def complaints_table() -> Table:
    """A row per public complaint: instructions of its statement on each version over the first, and the function that grew most."""
    grown = _complaints.tables["functions"].drop_duplicates("complaint").set_index("complaint")
    grown["percent"] = 100 * grown["of_all"]
    rows = []
    for kind, said in _complaints.provenance["complaints"].items():
        of = complaint_ratio[kind].sort_index(key=lambda names: names.map(release))
        rows.append(
            {
                "statement": kind,
                "what was said": said["said"],
                "instructions, the oldest is 1": ", ".join(
                    f"{name}: {each:.2f}" for name, each in of.items()
                ),
                "grew most, in the costliest": "{function} ({percent:.0f} % of what grew)".format_map(
                    grown.loc[kind].to_dict()
                )
                if kind in grown.index
                else "nothing: the oldest is it",
                "where": said["link"],
            }
        )
    caption = "Five public complaints about slower statements after an upgrade, each with tables made after its description."
    return Table(pd.DataFrame(rows), caption, origin_of(_complaints))


def independent_table() -> Table:
    """What others measured of the same question; one entry is of a fork of the server."""
    found = pd.read_csv(paths.data() / "published" / "independent.csv", keep_default_na=False)
    bears = found["bears_on"].isin(["degradation", "fig-deg-2", "num-deg-1", "art-ch7"])
    is_fork = found["id"].str.startswith("percona-lab-2026-percona")
    return Table(
        found[bears & ~is_fork][["who", "measured", "numbers", "bearing"]],
        "Independent measurements, as published, with those that contradict.",
    )
