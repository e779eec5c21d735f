"""The facts of `book/hash_join.md`. CPU times are the servers', the least of the repeats."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from engineroom.chapters.hash_join import experiments as hash_join
from engineroom.chapters.hash_join import figures as drawn
from engineroom.chapters.hash_join.figures import (
    own_hash_join_kernels,
    own_hash_join_no_index,
    own_hash_join_warehouses,
)
from engineroom.facts import Facts, fact
from engineroom.measuring.statement import join_of
from engineroom.runs import Run, newest, published
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table
from engineroom.workloads import tpcc

__all__ = ["HashJoinFacts", "facts"]

OLD, MIDDLE = "5.7.22", "8.0.15"  # 8.0.15 is the last of 8.0 without a hash join that runs here


def _new(servers: pd.Series) -> str:
    """The one server that has hash joins."""
    return next(str(server) for server in servers if server.startswith("9.7"))


def binary(size_bytes: int) -> str:
    """16 KiB, 4 MiB, 1 GiB."""
    shift, unit = next(
        (s, u) for s, u in ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "bytes")) if size_bytes >> s or not s
    )
    return f"{size_bytes >> shift} {unit}"


@dataclass(frozen=True, kw_only=True)
class PublishedQuery(Facts):
    """Districts and order lines joined on the district's number, in every plan that a server has (fig-7-22, live)."""

    old_server: str = fact()
    middle_server: str = fact()
    new_server: str = fact()
    warehouses: int = fact()
    districts: int = fact()
    districts_per_warehouse: int = fact()
    order_lines: int = fact("{:,}")
    pairs: int = fact("{:,}")
    comparisons: int = fact("{:,}")
    old_loop_s: float = fact("{:.2f} s")
    new_loop_s: float = fact("{:.2f} s")
    new_hash_s: float = fact("{:.2f} s")
    new_hash_on_districts_s: float = fact("{:.2f} s")
    old_reversed_s: float = fact("{:.2f} s")
    middle_reversed_s: float = fact("{:.2f} s")
    new_reversed_s: float = fact("{:.2f} s")
    loop_rows_read: int = fact("{:,}")
    hash_rows_read: int = fact("{:,}")
    hash_files: int = fact()
    buffer_pool_bytes: int = fact(binary)
    hash_plan: str

    @classmethod
    def of(cls, run: Run) -> PublishedQuery:
        new = _new(run.table["server"])
        cpu_s = run.values("server", "series", y="server_cpu_s")
        counters = run.values("server", "series", "counter", y="value", table="counters").astype(int)
        warehouses, pairs = int(run.table["warehouses"].iloc[0]), int(run.table["answer"].iloc[0])
        districts = warehouses * tpcc.DISTRICTS
        order_lines = pairs // warehouses  # each meets one district per warehouse
        settings = run.provenance["servers"][new]["variables_differing"]
        return cls(
            old_server=OLD,
            middle_server=MIDDLE,
            new_server=new,
            warehouses=warehouses,
            districts=districts,
            districts_per_warehouse=tpcc.DISTRICTS,
            order_lines=order_lines,
            pairs=pairs,
            comparisons=districts * order_lines,
            old_loop_s=cpu_s[OLD, "index_nested_loop"],
            new_loop_s=cpu_s[new, "index_nested_loop"],
            new_hash_s=cpu_s[new, "hash_join"],
            new_hash_on_districts_s=cpu_s[new, "hash_join_on_district"],
            old_reversed_s=cpu_s[OLD, "reversed_order_without_hash"],
            middle_reversed_s=cpu_s[MIDDLE, "reversed_order_without_hash"],
            new_reversed_s=cpu_s[new, "reversed_order_without_hash"],
            loop_rows_read=counters[new, "index_nested_loop", "Handler_read_next"],
            hash_rows_read=counters[new, "hash_join", "Handler_read_next"],
            hash_files=counters[new, "hash_join", "Created_tmp_files"],
            buffer_pool_bytes=int(settings["innodb_buffer_pool_size"]),
            hash_plan=run.table.query("series == 'hash_join'")["plan"].iloc[0],
        )


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """The same query as published."""

    loop_s: float = fact("{:.2f} s")
    hash_s: float = fact("{:.2f} s")
    ratio: float = fact("{:.1f}")

    @classmethod
    def of(cls, rows: pd.DataFrame) -> Published:
        seconds = rows.set_index("series")["seconds"]
        loop_s, hash_s = seconds["index_nested_loop"], seconds["hash_join"]
        return cls(loop_s=loop_s, hash_s=hash_s, ratio=loop_s / hash_s)


@dataclass(frozen=True, kw_only=True)
class Bare(Facts):
    """The same joins by our kernels, without a server around them (fig-7-22, kernel)."""

    loop_s: float = fact("{:.2f} s")
    hash_s: float = fact("{:.2f} s")
    reversed_s: float = fact("{:.2f} s")
    old_reversed_ratio: float = fact("{:.0f}")  # what 5.7 takes for the same comparisons, over ours

    @classmethod
    def of(cls, run: Run, query: PublishedQuery) -> Bare:
        cpu_s = run.values("series", y="server_cpu_s")
        return cls(
            loop_s=cpu_s["index_nested_loop"],
            hash_s=cpu_s["hash_join"],
            reversed_s=cpu_s["reversed_order_without_hash"],
            old_reversed_ratio=query.old_reversed_s / cpu_s["reversed_order_without_hash"],
        )


@dataclass(frozen=True, kw_only=True)
class Spilling(Facts):
    """The kernel's hash join over files beside the one in memory: at the fewest rows that spill, the most, and the size before
    (own-hash-join-kernels)."""

    fewest_rows: int = fact("{:,}")
    later_rows: int = fact("{:,}")
    most_rows: int = fact("{:,}")
    fewest_ratio: float = fact("{:.1f}")
    most_ratio: float = fact("{:.2g}")
    fewest_adds_ns: float = fact("{:.0f}")  # per probe row
    later_adds_ns: float = fact("{:.0f}")
    fewest_in_memory_ns: float = fact("{:.0f}")
    most_in_memory_ns: float = fact("{:.0f}")

    @classmethod
    def of(cls, run: Run) -> Spilling:
        ratio = drawn.spilling(own_hash_join_kernels.rows(run))
        in_memory = run.values("series", "rows", y="cpu_ns_per_probe_row")["hybrid_in_memory"]
        fewest, later, most = ratio.index[0], ratio.index[-2], ratio.index[-1]
        return cls(
            fewest_rows=fewest,
            later_rows=later,
            most_rows=most,
            fewest_ratio=ratio[fewest],
            most_ratio=ratio[most],
            fewest_adds_ns=(ratio[fewest] - 1) * in_memory[fewest],
            later_adds_ns=(ratio[later] - 1) * in_memory[later],
            fewest_in_memory_ns=in_memory[fewest],
            most_in_memory_ns=in_memory[most],
        )


@dataclass(frozen=True, kw_only=True)
class Partner(Facts):
    """What one more partner of an order line costs in each plan (own-hash-join-warehouses)."""

    fetched_us: float = fact("{:.2f}")
    matched_us: float = fact("{:.2f}")

    @classmethod
    def of(cls, run: Run) -> Partner:
        cost_us = drawn.partner_cost_us(own_hash_join_warehouses.rows(run))
        return cls(fetched_us=cost_us["index_nested_loop"], matched_us=cost_us["hash_join"])


@dataclass(frozen=True, kw_only=True)
class NoIndex(Facts):
    """Two tables without an index, at the most rows, over the server with hash joins (own-hash-join-no-index)."""

    rows: int = fact()
    old_ratio: float = fact("{:.0f}")
    middle_ratio: float = fact("{:.0f}")
    doubled_block_loop_ratio: float = fact("{:.1f}")  # what doubling both tables costs
    doubled_hash_ratio: float = fact("{:.1f}")

    @classmethod
    def of(cls, run: Run) -> NoIndex:
        growth = drawn.growth(own_hash_join_no_index.rows(run))
        rows = int(run.table["rows_per_table"].max())
        cpu_s = run.values("rows_per_table", "series", y="server_cpu_s")[rows]
        return cls(
            rows=rows,
            old_ratio=cpu_s[OLD] / cpu_s.min(),
            middle_ratio=cpu_s[MIDDLE] / cpu_s.min(),
            doubled_block_loop_ratio=2 ** growth[OLD],
            doubled_hash_ratio=2 ** growth[_new(run.table["series"])],
        )


@dataclass(frozen=True, kw_only=True)
class JoinBuffer(Facts):
    """The smallest and the largest join buffer (own-hash-join-buffer)."""

    repeats: int = fact()
    small_bytes: int = fact(binary)
    large_bytes: int = fact(binary)
    spill_small_ms: float = fact("{:.1f} ms")
    spill_large_ms: float = fact("{:.1f} ms")
    refill_small_ms: float = fact("{:.1f} ms")
    refill_large_ms: float = fact("{:.1f} ms")
    block_loop_small_ms: float = fact("{:.1f} ms")
    block_loop_large_ms: float = fact("{:.1f} ms")

    @classmethod
    def of(cls, run: Run) -> JoinBuffer:
        cpu_ms = 1000 * run.values("series", "join_buffer_bytes", y="server_cpu_s")
        small, large = run.table["join_buffer_bytes"].min(), run.table["join_buffer_bytes"].max()
        return cls(
            repeats=run.table["repeat"].nunique(),
            small_bytes=small,
            large_bytes=large,
            spill_small_ms=cpu_ms["spill", small],
            spill_large_ms=cpu_ms["spill", large],
            refill_small_ms=cpu_ms["refill", small],
            refill_large_ms=cpu_ms["refill", large],
            block_loop_small_ms=cpu_ms["block_nested_loop", small],
            block_loop_large_ms=cpu_ms["block_nested_loop", large],
        )


@dataclass(frozen=True, kw_only=True)
class ChunkFiles(Facts):
    """What spilling writes, by the server's counters and by our kernel's, which runs while the page is made."""

    counters: int = fact()
    equal: int = fact()
    farthest_off: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> ChunkFiles:
        compared = hash_join.server_against_kernel(run)
        wide = compared.pivot_table(
            index="join_buffer_bytes", columns="counted", values=["server", "kernel"], aggfunc="first"
        )
        shown = {
            f"{what}, {who}": wide[who, what].map("{:,}".format)
            for what in ("chunk files", "bytes written", "writes")
            for who in ("server", "kernel")
        }
        return cls(
            counters=len(compared),
            equal=(compared["server"] == compared["kernel"]).sum(),
            farthest_off=(compared["server"] - compared["kernel"]).abs().max(),
            table=Table(
                pd.DataFrame(shown).rename_axis("join buffer, bytes").reset_index(),
                "Chunk files of the server and of our kernel for the same join.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class WhyNot(Facts):
    """What keeps the newest server from a hash join, and a plan with its times (own-hash-join-why-not)."""

    table: Table
    analyzed: str

    @classmethod
    def of(cls, run: Run) -> WhyNot:
        asked = run.table.assign(join=run.table["plan"].map(join_of)).sort_values(
            "is_hash_join", kind="stable"
        )
        columns = {"is_hash_join": "hash join", "reason": "what was changed", "join": "the plan's join"}
        return cls(
            table=Table(
                asked[list(columns)].rename(columns=columns),
                "The same join of two tables, one change at a time.",
                origin_of(run),
            ),
            analyzed=run.tables["analyzed"]["analyzed"].iloc[0],
        )


@dataclass(frozen=True, kw_only=True)
class HashJoinFacts(Facts):
    """All that the page tells, by recording."""

    query: PublishedQuery
    published: Published
    bare: Bare
    spilling: Spilling
    partner: Partner
    no_index: NoIndex
    buffer: JoinBuffer
    chunks: ChunkFiles
    why_not: WhyNot


def facts() -> HashJoinFacts:
    """From the newest recordings."""
    query = PublishedQuery.of(newest("fig-7-22", "live"))
    buffer = newest("own-hash-join-buffer", "live")
    return HashJoinFacts(
        query=query,
        published=Published.of(published.rows("fig-7-22")),
        bare=Bare.of(newest("fig-7-22", "kernel"), query),
        spilling=Spilling.of(newest("own-hash-join-kernels", "kernel")),
        partner=Partner.of(newest("own-hash-join-warehouses", "live")),
        no_index=NoIndex.of(newest("own-hash-join-no-index", "live")),
        buffer=JoinBuffer.of(buffer),
        chunks=ChunkFiles.of(buffer),
        why_not=WhyNot.of(newest("own-hash-join-why-not", "live")),
    )


def times_by_plan(run: Run) -> Table:
    """For the lab: CPU time of each plan of the published query on each server."""
    return Table(
        _by_plan(run.values("series", "server", y="server_cpu_s"), "{:.3f} s"),
        f"Server CPU time with {run.table['warehouses'].iloc[0]} warehouses.",
        origin_of(run),
    )


def rows_read_by_plan(run: Run) -> Table:
    """For the lab: what the executor asked of the storage engine in each plan."""
    read = run.values("series", "server", y="value", table="counters", where="counter == 'Handler_read_next'")
    return Table(
        _by_plan(read, "{:,.0f}"),
        f"Rows read in order (Handler_read_next) with {run.table['warehouses'].iloc[0]} warehouses.",
        origin_of(run),
    )


def _by_plan(values: pd.Series[float], shown: str) -> pd.DataFrame:
    wide = values.unstack("server").map(shown.format, na_action="ignore")
    return wide.fillna("has no such plan").reset_index()
