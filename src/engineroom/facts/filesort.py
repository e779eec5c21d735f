"""The facts of `book/filesort.md`: what each server's sort reads, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from engineroom.chapters.filesort import figures as drawn
from engineroom.chapters.filesort.figures import own_filesort_crossover
from engineroom.facts import Facts, fact
from engineroom.runs import Run, newest, published
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["FilesortFacts", "facts"]


def _servers(run: Run) -> list[str]:
    """The servers with settings of their own, oldest first; "8.0.15, provoked" is one that was told to carry the columns."""
    return sorted({name for name in run.table["series"] if "," not in name}, key=release)


@dataclass(frozen=True, kw_only=True)
class Limits(Facts):
    """All columns, ordered by one without an index, by rows returned, in the largest table (own-filesort-limits): the oldest server, the
    newest, and the last before it, which is also made to carry the columns."""

    rows: int = fact("{:,}")
    old_all_pages: int = fact("{:,}")
    new_all_pages: int = fact("{:,}")
    before_hundred_ms: float = fact("{:.1f} ms")
    before_all_ms: float = fact("{:.1f} ms")
    provoked_hundred_ms: float = fact("{:.1f} ms")
    provoked_all_ms: float = fact("{:.1f} ms")
    provoked_hundred_merge_passes: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> Limits:
        rows = int(run.table["rows"].max())
        oldest, *_, before, newest_one = _servers(run)
        provoked = f"{before}, provoked"
        pages, cpu_ms, passes = (
            run.values("rows", "series", "limit", y=y)[rows]
            for y in ("pages_read", "server_cpu_ms", "merge_passes")
        )
        shown = [
            {
                "server": server,
                "rows returned": f"{limit:,}",
                "pages read": f"{pages[server, limit]:,}",
                "CPU ms": f"{cpu_ms[server, limit]:.1f}",
                "merge passes": passes[server, limit],
            }
            for limit in (1, 100, rows)
            for server in (oldest, before, provoked, newest_one)
        ]
        return cls(
            rows=rows,
            old_all_pages=pages[oldest, rows],
            new_all_pages=pages[newest_one, rows],
            before_hundred_ms=cpu_ms[before, 100],
            before_all_ms=cpu_ms[before, rows],
            provoked_hundred_ms=cpu_ms[provoked, 100],
            provoked_all_ms=cpu_ms[provoked, rows],
            provoked_hundred_merge_passes=passes[provoked, 100],
            table=Table(
                pd.DataFrame(shown),
                "All columns, ORDER BY an unindexed column, by rows returned.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Columns(Facts):
    """Pages that the newest server reads for one row of a table with a long value (own-filesort-columns)."""

    wide_pages: int = fact("{:,}")
    most_pages: int = fact("{:,}")  # of all types of the long value
    late_join_pages: int = fact("{:,}")
    indexed_pages: int = fact("{:,}")

    @classmethod
    def of(cls, run: Run) -> Columns:
        of_types = run.values("type", "series", "query", y="pages_read")
        pages = of_types["varchar(8192)", _servers(run)[-1]]
        return cls(
            wide_pages=pages["wide"],
            most_pages=int(of_types.xs((_servers(run)[-1], "wide"), level=("series", "query")).max()),
            late_join_pages=pages["late_join"],
            indexed_pages=pages["indexed"],
        )


@dataclass(frozen=True, kw_only=True)
class LongValues(Facts):
    """Long values that a server reads for one row, counted by a probe in it (num-fs-2, live)."""

    like_5_6: int = fact("{:,}")
    like_8_0: int = fact("{:,}")

    @classmethod
    def of(cls, run: Run) -> LongValues:
        reads = run.values("series", y="external_field_reads")
        return cls(like_5_6=int(reads["like_5_6"]), like_8_0=int(reads["like_8_0"]))


@dataclass(frozen=True, kw_only=True)
class Crossover(Facts):
    """From how many rows on carrying a long value reads fewer pages than fetching it late (own-filesort-crossover)."""

    returned_rows: float = fact("{:,.0f}")
    table_rows: int = fact("{:,}")

    @classmethod
    def of(cls, run: Run) -> Crossover:
        table = own_filesort_crossover.rows(run)
        return cls(
            returned_rows=drawn.crossing(table, "off-page value"),
            table_rows=table["rows"].max(),
        )


@dataclass(frozen=True, kw_only=True)
class Conversion(Facts):
    """The share of row conversion in a sort's samples (num-fs-3, live)."""

    like_5_6_percent: float = fact("{:.0f} %")
    like_8_0_percent: float = fact("{:.0f} %")

    @classmethod
    def of(cls, run: Run) -> Conversion:
        percent = run.values("part", "series", y="share_percent")["row_conversion"]
        return cls(like_5_6_percent=percent["like_5_6"], like_8_0_percent=percent["like_8_0"])


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """What the source counted, and the share of reading in its sort by the long column (num-fs-2 and num-fs-4)."""

    calls: int = fact("{:,}")
    reading_percent: float = fact("{:.0f} %")

    @classmethod
    def of(cls, counted: pd.DataFrame, sampled: pd.DataFrame) -> Published:
        return cls(
            calls=counted.set_index("series")["count"]["like_8_0"],
            reading_percent=sampled.set_index(["part", "series"])["share_percent"]["reading", "like_8_0"],
        )


@dataclass(frozen=True, kw_only=True)
class FilesortFacts(Facts):
    """All that the page tells, by recording."""

    limits: Limits
    columns: Columns
    long_values: LongValues
    crossover: Crossover
    conversion: Conversion
    published: Published


def facts() -> FilesortFacts:
    """From the newest recordings."""
    return FilesortFacts(
        limits=Limits.of(newest("own-filesort-limits", "live")),
        columns=Columns.of(newest("own-filesort-columns", "live")),
        long_values=LongValues.of(newest("num-fs-2", "live")),
        crossover=Crossover.of(newest("own-filesort-crossover", "kernel")),
        conversion=Conversion.of(newest("num-fs-3", "live")),
        published=Published.of(published.rows("num-fs-2"), published.rows("num-fs-4")),
    )
