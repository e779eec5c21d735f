"""What `book/trx_sys.md` tells: what statements take, what splitting the latches changed, and what is waited for."""

from __future__ import annotations

import pandas as pd

from engineroom.runs import Run, newest, published
from engineroom.runs.summary import values
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.validation import sixteen  # noqa: F401 (for the page)

LATCHES = ["mutex", "serialisation", "shards"]
second_mutex, shards = newest("fig-7-08", "sim"), newest("fig-7-09", "sim")
clients = shards.table["concurrency"].max()
_machine = shards.provenance["machine"]
hardware_threads = _machine["sockets"] * _machine["cores_per_socket"] * _machine["threads_per_core"]
id_bytes = 8 * clients  # of a snapshot where every client has an active id
copy_ns = _machine["copy_ps_per_kib"] * id_bytes / 1024 / 1000

_statements = newest("own-read-views-statements", "live")
counted = _statements.table[LATCHES]
off = counted - _statements.table[[f"kernel_{name}" for name in LATCHES]].set_axis(LATCHES, axis="columns")
_plain = _statements.table.query("has_binlog == 0").round().astype(dict.fromkeys(LATCHES, int))
taken = _plain.set_index(["series", "level", "statement"])[LATCHES]
mutex, all_latches = taken["mutex"], taken.sum(axis="columns")


def statements_table(plain: pd.DataFrame = _plain) -> Table:
    """A row per statement and level, a column per server."""
    texts = [
        " + ".join(map(str, counts)) if any(counts[1:]) else str(counts[0])
        for counts in plain[LATCHES].itertuples(index=False, name=None)
    ]
    text = plain.assign(text=texts, statement=plain["statement"].str.replace("_", " "))
    wide = text.pivot(index=["statement", "level"], columns="series", values="text")
    order = text[["statement", "level"]].drop_duplicates()
    return Table(
        wide.loc[[tuple(row) for row in order.to_numpy()]].reset_index(),
        "Acquisitions per repetition without a binary log: trx_sys_mutex + trx_sys_serialisation_mutex "
        "+ trx_sys_shard_mutex; one number where only the first is taken.",
        origin_of(_statements),
    )


def tpmc(run: Run) -> pd.Series[float]:
    return run.values("series", "concurrency", y="tpmC")


def published_tpmc(run: Run) -> pd.Series[float]:
    """The source's, of the same figure."""
    return published.in_our_columns(run.figure).set_index(["series", "concurrency"])["tpmC"]


def gain(rates: pd.Series[float]) -> pd.Series[float]:
    """After over before, by number of clients."""
    return rates.xs("after") / rates.xs("before")


def beyond_noise(run: Run) -> list[int]:
    """The numbers of clients with which the gain is farther from 1 than if both throughputs are off by their half widths."""
    widths = 1 + run.table.groupby(["series", "concurrency"])["half_width_percent"].max() / 100
    noise = widths.xs("after") * widths.xs("before") - 1
    off = (gain(tpmc(run)) - 1).abs()
    return list(off.index[off > noise])


def fall_percent(run: Run, series: str) -> float:
    """By how much the throughput of the most clients is below the highest one."""
    rates = tpmc(run).xs(series)
    return float(100 * (1 - rates.loc[rates.index.max()] / rates.max()))


def waits_us(run: Run, series: str, latch: str) -> pd.Series[float]:
    """Waited per transaction with the most clients, of each run."""
    waits = run.tables["latches"].query("concurrency == concurrency.max()")
    return waits[(waits["series"] == series) & (waits["latch"] == latch)]["wait_us"]


def waiting_share(run: Run) -> float:
    """Of a response before the change, with the most clients: the waits for latches of the transaction system."""
    waits = run.tables["latches"].query("concurrency == concurrency.max() and series == 'before'")
    medians = values(waits, "latch", y="wait_us", how="median")
    latency_ms = run.values("series", "concurrency", y="latency_ms")["before"]
    waited_us = medians[medians.index.str.startswith("trx_sys_")].sum()
    return float(waited_us / (1000 * latency_ms.loc[latency_ms.index.max()]))
