"""What `book/read_views.md` tells: what views cost purge and readers, what statements ask for, what levels rule out."""

from __future__ import annotations

import pandas as pd

from engineroom.runs import newest, published, recorded
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

_histories = newest("own-read-views-histories", "kernel")
_is_sound = _histories.table["mistake"] == "none"
sound = _histories.table[_is_sound]
planted = _histories.table[~_is_sound & (_histories.table["series"] == "9.7")]
harmless_failures = planted.set_index("mistake")["failures"]["number_last"]

LATCHES = ["mutex", "serialisation", "shards"]
_statements = newest("own-read-views-statements", "live")
counted = _statements.table[LATCHES]
off = counted - _statements.table[[f"kernel_{name}" for name in LATCHES]].set_axis(LATCHES, axis="columns")

_anomalies = newest("own-read-views-anomalies", "live")
outcomes = _anomalies.table.pivot(index=["anomaly", "level"], columns="series", values="outcome")
by_servers = outcomes.drop(columns="kernel")

_idle = newest("own-read-views-idle", "live")
idle_sessions = _idle.table["idle_sessions"].max()
purge_us = _idle.values("series", "idle_sessions", y="purge_us_per_batch")
live_batches = (
    _idle.table.assign(each=_idle.table["batches"] / _idle.table["transactions"])
    .groupby(["server", "idle_sessions"])["each"]
    .median()
)
# In which threads wait for trx_sys_mutex or take it, per transaction, a row per run.
mutex_us = _idle.table.set_index(["series", "idle_sessions"]).sort_index()["mutex_us_per_transaction"]

_counted = newest("own-read-views-instructions", "instructions")
instructions = _counted.values("work", "series", "sessions", y="instructions")  # of a view, and of a walk
others = int(_counted.table["sessions"].max())
of_each = (instructions.xs(others, level="sessions") - instructions.xs(0, level="sessions")) / others
walked_ns = 1000 * (purge_us.xs(idle_sessions, level=1) - purge_us.xs(0, level=1)) / idle_sessions

sessions = 10_000
_lists = newest("num-rv-1", "sim")
views = _lists.values("series", "sessions", y="views")
_machine, load = _lists.provenance["machine"], _lists.provenance["load"]
hardware_threads = _machine["sockets"] * _machine["cores_per_socket"] * _machine["threads_per_core"]
_response = newest("num-rv-2", "sim")
response_us = _response.values("build", y="mean_response_us")
# Purge's batches and their walks.
purging = _response.table.groupby("build").median(numeric_only=True)
_varied = _response.tables["varied"].set_index(["parameter", "factor", "build"])["mean_response_us"].unstack()
# How many times as long a statement takes where views are kept, with each number of machine and load varied.
longer_varied = _varied["kept"] / _varied["removed_at_once"]
_walks = newest("own-read-views-walk", "sim").values("walk_ns", "sessions", "series", y="mean_response_us")
longer_by_walk = _walks.xs("kept", level="series") / _walks.xs("removed_at_once", level="series")
_model = newest("own-read-views-idle-model", "sim")
model_mutex_us, model_batches = (
    _model.values("batch_percent", "series", "idle_sessions", y=f"{what}_per_transaction")
    for what in ("mutex_us", "batches")
)
# The least and the most that a look may have taken on 5.7.22, by single runs.
_runs_us = _idle.table[_idle.table["server"] == "5.7.22"].groupby("idle_sessions")["purge_us_per_batch"]
scattered_ns = [
    1000 * (_runs_us.min()[idle_sessions] - _runs_us.max()[0]) / idle_sessions,
    1000 * (_runs_us.max()[idle_sessions] - _runs_us.min()[0]) / idle_sessions,
]
# The first recording, on a busy computer.
_busy_idle = recorded("own-read-views-idle", "live")[0].values(
    "series", "idle_sessions", y="purge_us_per_batch"
)
walked_beside_ns = 1000 * (_busy_idle.xs(idle_sessions, level=1) - _busy_idle.xs(0, level=1)) / idle_sessions

_removing = newest("num-rv-3", "sim")
throughput = _removing.values("series", "load", y="relative_throughput")
mutex_per_statement = _removing.values("series", "load", y="mutex_per_statement")

published_views = published.in_our_columns("num-rv-1").set_index("series")["views"]
published_us = published.in_our_columns("num-rv-2").set_index("build")["mean_response_us"]
published_throughput = published.in_our_columns("num-rv-3").set_index(["series", "load"])[
    "relative_throughput"
]


def instructions_table() -> Table:
    """What a view and a walk take on each server, alone and beside other sessions."""
    shown = instructions.unstack("sessions")[[0, others]].unstack("work")
    rows = {
        f"{what}, {n} {whom}": shown[n, work].map("{:,.0f}".format)
        for work, what, whom in (
            ("make", "a view", "open transactions"),
            ("walk", "purge's search", "closed views"),
        )
        for n in (0, others)
    }
    return Table(
        pd.DataFrame(rows).rename_axis("server").reset_index(),
        "Instructions of making a read view, and of purge's search for the oldest open one.",
        origin_of(_counted),
    )


def histories_table() -> Table:
    """What the oracle finds of each planted mistake."""
    shown = planted[["mistake", "reads", "wrong_reads", "missing_history", "wrong_views", "purge_too_far"]]
    return Table(
        shown.assign(mistake=shown["mistake"].str.replace("_", " ")),
        "Each mistake planted in the design of 9.7: what the oracle finds.",
        origin_of(_histories),
    )


def statements_table(table: pd.DataFrame = _statements.table) -> Table:
    """A row per statement, a column per server: all latches together."""
    plain = table.query("has_binlog == 0 and level == 'REPEATABLE READ'")
    total = plain.assign(
        total=plain[LATCHES].round().sum(axis="columns").astype(int),
        statement=plain["statement"].str.replace("_", " "),
    )
    shown = total.pivot(index="statement", columns="series", values="total")
    return Table(
        shown.loc[total["statement"].drop_duplicates()].reset_index(),
        "Latches of the transaction system per repetition, REPEATABLE READ, no binary log.",
        origin_of(_statements),
    )


def anomalies_table(table: pd.DataFrame = _anomalies.table) -> Table:
    """A row per anomaly, a column per level: the kernel's outcomes, in the order of the recording."""
    shown = table[table["series"] == "kernel"].pivot(index="anomaly", columns="level", values="outcome")
    return Table(
        shown.loc[table["anomaly"].drop_duplicates(), table["level"].drop_duplicates()].reset_index(),
        "The same on every server that was asked and by the kernel, unless the text says otherwise.",
        origin_of(_anomalies),
        kind="compact",
    )
