"""What `book/hash_join.md` tells. CPU times are the servers', the least of the repeats."""

from __future__ import annotations

from functools import cache

import pandas as pd

from engineroom.chapters.hash_join import figures
from engineroom.runs import Run, newest, published
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.workloads.tpcc_rows import DISTRICTS

# Districts and order lines joined on the district's number, in every plan that a server has.
query = newest("fig-7-22", "live")
old, middle, late, new = sorted(set(query.table["server"]), key=release)  # the last two have hash joins
cpu_s = query.values("server", "series", y="server_cpu_s")
counters = query.values("server", "series", "counter", y="value", table="counters").astype(int)
hash_plan = query.table.query("series == 'hash_join'")["plan"].iloc[0]
warehouses, pairs = int(query.table["warehouses"].iloc[0]), int(query.table["answer"].iloc[0])
districts = warehouses * DISTRICTS
order_lines = pairs // warehouses  # each meets one district per warehouse
buffer_pool_bytes = int(query.provenance["servers"][new]["variables_differing"]["innodb_buffer_pool_size"])
published_s = published.rows("fig-7-22").set_index("series")["seconds"]
kernel_s = newest("fig-7-22", "kernel").values("series", y="server_cpu_s")

_kernels = newest("own-hash-join-kernels", "kernel")
spilling_ratio = figures.spilling(figures.own_hash_join_kernels.rows(_kernels))  # by rows, where it spills
in_memory_ns = _kernels.values("series", "rows", y="cpu_ns_per_probe_row")["hybrid_in_memory"]
fewest_rows, later_rows, most_rows = spilling_ratio.index[[0, -2, -1]]

_warehouses = figures.own_hash_join_warehouses.rows(newest("own-hash-join-warehouses", "live"))
partner_us = figures.partner_cost_us(_warehouses)  # of one more partner of an order line, by plan

_no_index = newest("own-hash-join-no-index", "live")
no_index_rows = int(_no_index.table["rows_per_table"].max())
no_index_s = _no_index.values("rows_per_table", "series", y="server_cpu_s")[no_index_rows]
doubled_ratio = 2 ** figures.growth(figures.own_hash_join_no_index.rows(_no_index))

_buffer = newest("own-hash-join-buffer", "live")
buffer_ms = 1000 * _buffer.values("series", "join_buffer_bytes", y="server_cpu_s")
small_bytes, large_bytes = (int(size) for size in _buffer.table["join_buffer_bytes"].agg(["min", "max"]))
buffer_repeats = _buffer.table["repeat"].nunique()

_why_not = newest("own-hash-join-why-not", "live")
analyzed = _why_not.tables["analyzed"]["analyzed"].iloc[0]


_where = newest("own-hash-join-where", "live")
WHERE_SERVER = max(set(_where.table["server"]), key=release)
_here = _where.table[_where.table["server"] == WHERE_SERVER]
page_requests, page_reads = (
    _here.groupby(["pool", "rows_kept", "series"])[column].min() for column in ("page_requests", "page_reads")
)


def where_table() -> Table:
    """Pages that either plan asks for and reads, with all rows and with few, in memory and not."""
    rows = [
        {
            "buffer pool": pool,
            "rows kept": kept,
            **{
                f"{plan.replace('_', ' ')}: pages asked for, read": f"{page_requests[pool, kept, plan]:,}, {page_reads[pool, kept, plan]:,}"
                for plan in ("index_nested_loop", "hash_join")
            },
        }
        for pool, kept in _here[["pool", "rows_kept"]].drop_duplicates().itertuples(index=False)
    ]
    n = _where.provenance["rows_of_a_table"]
    return Table(
        pd.DataFrame(rows), f"Two tables of {n:,} rows joined on MySQL {WHERE_SERVER}.", origin_of(_where)
    )


@cache
def chunk_files() -> pd.DataFrame:
    """The counters of what spilling writes, `server` beside `kernel`: the kernel gets the recording's keys and buffers, which takes no time."""
    from engineroom.chapters.hash_join.experiments import server_against_kernel

    return server_against_kernel(_buffer)


def chunk_files_table() -> Table:
    """What spilling writes, by the server's counters and by our kernel's."""
    wide = chunk_files().pivot(index="join_buffer_bytes", columns="counted", values=["server", "kernel"])
    shown = {
        f"{what}, {who}": wide[who, what].map("{:,}".format)
        for what in ("chunk files", "bytes written", "writes")
        for who in ("server", "kernel")
    }
    rows = pd.DataFrame(shown).rename_axis("join buffer, bytes").reset_index()
    return Table(rows, "Chunk files of the server and of our kernel for the same join.", origin_of(_buffer))


def why_not_table() -> Table:
    """What keeps the newest server from a hash join, those that forbid it first."""
    from engineroom.measuring.statement import join_of

    asked = _why_not.table.sort_values("is_hash_join", kind="stable")
    rows = pd.DataFrame(
        {
            "hash join": asked["is_hash_join"],
            "what was changed": asked["reason"],
            "the plan's join": asked["plan"].map(join_of),
        }
    )
    return Table(rows, "The same join of two tables, one change at a time.", origin_of(_why_not))


def times_by_plan(run: Run) -> Table:
    """For the lab: CPU time of each plan of the published query on each server."""
    seconds = run.values("series", "server", y="server_cpu_s")
    return _by_plan(run, seconds, "{:.3f} s", "Server CPU time")


def rows_read_by_plan(run: Run) -> Table:
    """For the lab: what the executor asked of the storage engine in each plan."""
    read = run.values("series", "server", y="value", table="counters", where="counter == 'Handler_read_next'")
    return _by_plan(run, read, "{:,.0f}", "Rows read in order (Handler_read_next)")


def _by_plan(run: Run, values: pd.Series[float], form: str, said: str) -> Table:
    wide = values.unstack("server").map(form.format, na_action="ignore")
    caption = f"{said} with {run.table['warehouses'].iloc[0]} warehouses."
    return Table(wide.fillna("has no such plan").reset_index(), caption, origin_of(run))
