"""The facts of `book/low_concurrency.md`. CPU times are the servers', the least of the repeats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from engineroom import paths
from engineroom.chapters.low_concurrency import figures as drawn
from engineroom.chapters.low_concurrency.experiments import live
from engineroom.chapters.low_concurrency.experiments.settings import (
    EQUAL,
    INSTALLED,
    NO_HASH_INDEX,
    OPTIONS,
    under,
    with_settings,
)
from engineroom.chapters.low_concurrency.figures import own_low_concurrency_pgo
from engineroom.facts import Facts, Range, Text, fact, span
from engineroom.runs import Run, newest, recorded
from engineroom.runs.summary import Interval, paired_ratio, summarise
from engineroom.servers.catalogue import release
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["LowConcurrencyFacts", "facts"]


def _servers(run: Run) -> list[str]:
    return list(dict.fromkeys(run.table["series"]))


def _cpu_us(run: Run, settings: str = EQUAL) -> pd.DataFrame:
    """By operation and server, both in the order of the recording."""
    cells = summarise(
        under(run.table, settings), "operation", "series", y="server_cpu_us", how=run.summary, sort=False
    )
    wide = cells.pivot_table(index="operation", columns="series", values="server_cpu_us", sort=False)
    return wide[_servers(run)]


@dataclass(frozen=True, kw_only=True)
class Operations(Facts):
    """What operations of one client cost with equal settings, the newest server over 5.7 (own-low-concurrency-operations)."""

    old_server: str = fact()
    new_server: str = fact()
    measured: int = fact()
    dearer: int = fact()
    insert_ratio: float = fact("{:.2f}")
    point_select_ratio: float = fact("{:.2f}")
    full_scan_ratio: float = fact("{:.2f}")
    old_log_writes_per_row: float = fact("{:.1f}")
    new_log_writes_per_row: float = fact("{:.1f}")
    scan_mcalls_per_s: float = fact("{:.0f}")  # fields that a full scan converts, millions per CPU second
    table: Table

    @classmethod
    def of(cls, run: Run) -> Operations:
        cpu_us, servers = _cpu_us(run), _servers(run)
        old, new = next(server for server in servers if server.startswith("5.7")), servers[-1]
        ratio = cpu_us[new] / cpu_us[old]
        log_writes = run.values(
            "series",
            y="per_operation",
            table="counters",
            where="operation == 'insert rows' and counter == 'Innodb_log_write_requests'"
            + (f" and settings == '{EQUAL}'" if "settings" in run.tables["counters"] else ""),
        )
        scanned = next(operation for operation in live.OPERATIONS if operation.name == "full scan")
        return cls(
            old_server=old,
            new_server=new,
            measured=len(ratio),
            dearer=int((ratio > 1).sum()),
            insert_ratio=ratio["insert rows"],
            point_select_ratio=ratio["point select"],
            full_scan_ratio=ratio["full scan"],
            old_log_writes_per_row=log_writes[old],
            new_log_writes_per_row=log_writes[new],
            scan_mcalls_per_s=scanned.fields / cpu_us[new]["full scan"],
            table=_operations_table(run, cpu_us, old=old, new=new),
        )


def _measured(run: Run) -> list[str]:
    present = set(with_settings(run.table)["settings"])
    return [settings for settings in OPTIONS if settings in present]


def _operations_table(run: Run, cpu_us: pd.DataFrame, *, old: str, new: str) -> Table:
    units = run.table.groupby("operation", sort=False)["unit"].first().rename("per")
    columns: list[pd.Series[Any]] = []
    for settings in _measured(run):
        of = _cpu_us(run, settings)
        columns.append((of[new] / of[old]).map("{:.2f}".format).rename(f"{new} over {old}, {settings}"))
    return Table(
        pd.concat([units, cpu_us.map("{:,.2f}".format), *columns], axis=1)
        .rename_axis("operation")
        .reset_index(),
        "Server CPU microseconds of ten operations with equal settings, by generation; the ratios with each of the settings.",
        origin_of(run),
    )


def _ratio(new_us: Any, old_us: Any, *, draws: int = 2000) -> Interval:
    """CPU time over CPU time, the least of the repeats each, with an interval over draws of the repeats."""
    rng = np.random.default_rng(0)
    new, old = (np.asarray(each, dtype=float) for each in (new_us, old_us))
    drawn = rng.choice(new, (draws, len(new))).min(axis=1) / rng.choice(old, (draws, len(old))).min(axis=1)
    low, high = np.percentile(drawn, (5, 95))
    return Interval(float(new.min() / old.min()), float(low), float(high))


_HASHED = "join by primary key"


@dataclass(frozen=True, kw_only=True)
class Installed(Facts):
    """What the defaults add, above all the adaptive hash index; chosen by the recording (own-low-concurrency-operations)."""

    in_short: str = fact()
    told: Text
    published: str = fact()

    @classmethod
    def of(cls, run: Run) -> Installed:
        if set(_measured(run)) != set(OPTIONS):
            lacking = "what the versions cost as installed is not in this recording"
            said = f"{lacking[0].upper()}{lacking[1:]}."
            return cls(in_short=lacking, told=Text(said), published=said)
        servers = sorted(set(run.table["series"]), key=release)
        old, new = next(server for server in servers if server.startswith("5.7")), servers[-1]
        early = next((server for server in servers if server.startswith("8.0")), old)

        def ratio(operation: str, settings: str, old: str = old) -> Interval:
            mine = under(run.table, settings)
            mine = mine[mine["operation"] == operation]
            new_us, old_us = (mine[mine["series"] == server]["server_cpu_us"] for server in (new, old))
            return _ratio(new_us, old_us)

        equal, installed, unhashed = (
            ratio(_HASHED, settings) for settings in (EQUAL, INSTALLED, NO_HASH_INDEX)
        )
        moved = [
            name
            for name in dict.fromkeys(run.table["operation"])
            if ratio(name, INSTALLED).low > ratio(name, NO_HASH_INDEX).high
        ]
        joined = [ratio("join by index", settings, early) for settings in (EQUAL, INSTALLED)]
        return cls(
            in_short=f"as installed, each version with its own defaults, a join by primary key costs {installed.value:.2f} times as much, and "
            f"{unhashed.value:.2f} times when the adaptive hash index is off in both",
            told=Text(
                f"A join by primary key costs {new} {equal.times()} what it costs {old} with equal settings, {installed.times()} as installed, and {unhashed.times()} "
                f"as installed but with the hash index off in both. {_conclusion(installed, unhashed)}{_pages(run, old)} "
                + (
                    f"These operations lose more on {new} when 5.7 keeps its hash index: {', '.join(moved)}."
                    if moved
                    else f"For no operation does the hash index of 5.7 make a loss on {new} that stands out of the repeats."
                )
            ),
            published=f"In the recording of all ten operations the join by index costs {new} {joined[0].times()} what it costs {early} with equal "
            f"settings, and {joined[1].times()} as installed.",
        )


def _conclusion(installed: Interval, unhashed: Interval) -> str:
    """Whether the index makes the loss: by intervals that do not meet, fixed before the run."""
    if installed.value <= 1:
        return "The join is no slower as installed."
    if installed.low <= unhashed.high:
        return "The repeats do not tell the last two apart, so the index is no cause of a loss here."
    if unhashed.high < 1:
        return "Without the index the join is no slower: the whole loss is the index's."
    percent = 100 * min(1, (installed.value - unhashed.value) / (installed.value - 1))
    return f"The index makes {percent:.0f} percent of the loss as installed."


def _pages(run: Run, server: str) -> str:
    """Pages asked for per outer row of the join, with the hash index and without: a count."""
    asked = run.tables["counters"].query(
        f"operation == '{_HASHED}' and counter == 'Innodb_buffer_pool_read_requests' and series == '{server}'"
    )
    pages = asked.set_index("settings")["per_operation"]
    if not {INSTALLED, NO_HASH_INDEX} <= set(pages.index):
        return ""
    return (
        f" A count says how: for each outer row {server} asks the buffer pool for {pages[INSTALLED]:.1f} pages with the index and for "
        f"{pages[NO_HASH_INDEX]:.1f} without it."
    )


@dataclass(frozen=True, kw_only=True)
class Memory(Facts):
    """What a row of an INSERT keeps in memory: a line through several widths, and rows of one value (num-deg-1, live)."""

    old_row_bytes: float = fact("{:.0f}")
    early_row_bytes: float = fact("{:.0f}")  # 8.0.15
    new_row_bytes: float = fact("{:.0f}")
    old_value_bytes: float = fact("{:.0f}")
    new_value_bytes: float = fact("{:.0f}")
    old_narrow_row_bytes: float = fact("{:.0f}")
    new_narrow_row_bytes: float = fact("{:.0f}")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Memory:
        fitted = run.tables["fitted"].set_index("series")
        narrow = run.tables["measured"].query("columns == 1").set_index("series")["bytes_per_row_with_items"]
        old, early, new = (
            next(server for server in fitted.index if server.startswith(generation))
            for generation in ("5.7", "8.0", "9.")
        )
        rows, of_values = fitted["bytes_per_row"], fitted["bytes_per_value"]
        shown = fitted.map("{:.0f}".format).rename(
            columns={"bytes_per_value": "bytes per value", "bytes_per_row": "bytes per row"}
        )
        return cls(
            old_row_bytes=rows[old],
            early_row_bytes=rows[early],
            new_row_bytes=rows[new],
            old_value_bytes=of_values[old],
            new_value_bytes=of_values[new],
            old_narrow_row_bytes=narrow[old],
            new_narrow_row_bytes=narrow[new],
            table=Table(
                shown.reset_index(),
                "Memory of one more row of an INSERT: a fixed part, and a part for each value.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Kernels(Facts):
    """Two causes alone: the list of a row of one value (own-low-concurrency-lists), the commit of a mini-transaction (num-deg-3)."""

    list_ratio: float = fact("{:.1f}")
    cold_said: str = fact()
    offsets_said: str = fact()
    none_bytes: int = fact()  # of the hot function
    inline_bytes: int = fact()
    cold_bytes: int = fact()
    lists_said: str = fact()
    mtr_8_0_alone: str = fact()  # times the design of 5.7, with an interval
    mtr_threads_off_alone: str = fact()

    @classmethod
    def of(cls, lists: Run, *, commits: Run, fatal: Sequence[Run], offsets: Run) -> Kernels:
        row_ns = lists.values("columns", "series", y="row_ns")[1]
        hot_bytes = fatal[-1].tables["code"].set_index("series")["hot_bytes"]
        one_thread = commits.table[commits.table["threads"] == 1]
        mtr = one_thread.pivot(index="repeat", columns="series", values="cpu_ns")
        return cls(
            cold_said=cold_said(fatal),
            offsets_said=offsets_said(offsets),
            none_bytes=hot_bytes["none"],
            inline_bytes=hot_bytes["inline_stream"],
            cold_bytes=hot_bytes["cold_call"],
            lists_said=lists_said(lists),
            list_ratio=row_ns["deque_9_7"] / row_ns["list_5_7"],
            mtr_8_0_alone=paired_ratio(mtr["mtr_8_0"], mtr["mtr_5_7"]).times(),
            mtr_threads_off_alone=paired_ratio(mtr["mtr_8_0_writer_threads_off"], mtr["mtr_5_7"]).times(),
        )


def _is_by_process(run: Run) -> bool:
    """Whether each repeat is a process of its own: the summary tells by which rule a kernel was recorded."""
    return run.summary == "median"


def cold_said(fatal: Sequence[Run]) -> str:
    """Whether a cold function saves time: over the processes of the newest recording, or over recordings of one process each."""
    if not _is_by_process(fatal[-1]):
        field_ns = [run.values("fields", "series", y="field_ns")["integers"] for run in fatal]
        cold = [ns["cold_call"] / ns["none"] for ns in field_ns]
        return (
            "Whether that saves time, these nanoseconds do not tell: over our recordings such a field took "
            f"{min(cold):.2f} to {max(cold):.2f} times as long as without a check. The bytes are the finding."
        )
    of_integers = fatal[-1].table[fatal[-1].table["fields"] == "integers"]
    ns = of_integers.pivot(index="repeat", columns="series", values="field_ns")
    gain = paired_ratio(ns["cold_call"], ns["inline_stream"])
    said = "; ".join(
        f"with {what} {_over_processes(ns[path] / ns['none'])}"
        for path, what in (("inline_stream", "the message in place"), ("cold_call", "the cold function"))
    )
    pairs = f"In pairs the cold function takes {gain.value:.2f} times ({gain.low:.2f} to {gain.high:.2f}) as long as the message in place."
    verdict = (
        "So it saves time here."
        if gain.high < 1
        else "So it costs time here."
        if gain.low > 1
        else "Whether it saves time, these nanoseconds do not tell: the bytes are the finding."
    )
    return f"Over {len(ns)} processes, a field of a row of integers took, beside one without a check, {said}. {pairs} {verdict}"


def offsets_said(run: Run) -> str:
    """What the question costs, asked for each field and for each record, over the processes of a recording."""
    if not _is_by_process(run):
        return "Asked once per record, the question costs nothing that these repeats show."
    usual = run.table[run.table["row_versions"] == 0]
    ns = usual.pivot(index=["repeat", "columns"], columns="series", values="record_ns")
    each, once = (
        _over_processes((ns[series] / ns["v57"]).groupby("repeat").median()) for series in ("v80", "hoisted")
    )
    return (
        f"Over {usual['repeat'].nunique()} processes, finding the fields took {each} as long as in 5.7 if the question is asked for each "
        f"field, and {once} if once per record."
    )


def _over_processes(ratios: pd.Series[float]) -> str:
    return f"{ratios.median():.2f} times ({ratios.min():.2f} to {ratios.max():.2f})"


def lists_said(lists: Run) -> str:
    """What the recording of the lists may have counted besides: its summary tells by which rule it was made."""
    if _is_by_process(lists):
        return "Each repeat is a process of its own, whose memory is warm."
    return (
        "The recording shown is of one process. Which page faults of its first runs it counts is chance, so take the direction from it and not "
        "the size."
    )


@dataclass(frozen=True, kw_only=True)
class Trained(Facts):
    """What a profile of the measured workload gains (own-low-concurrency-pgo)."""

    said: str = fact()

    @classmethod
    def of(cls, run: Run) -> Trained:
        times = drawn._picture_of_own_low_concurrency_pgo.values(own_low_concurrency_pgo.rows(run))["same"]
        faster = (
            (times < 1)
            .groupby([cell.split(", ")[0] for cell in times.index], sort=False)
            .agg(["sum", "size"])
        )
        each = ", ".join(f"{name} {row['sum']} of {row['size']}" for name, row in faster.iterrows())
        return cls(
            said=f"Trained on the workload that is measured, {(times < 1).sum()} of {len(times)} cells get faster: {each}."
        )


@dataclass(frozen=True, kw_only=True)
class Share(Facts):
    """How much of what an operation loses all causes explain together (own-low-concurrency-share).

    The interval of one sitting is over its repeats; two sittings differ by more, so the page's interval holds all that count.
    """

    insert_percent: float = fact("{:.0f}")
    insert_installed: str = fact()
    repeats_percent: Range = fact(span("{:.0f}", "percent"))  # over the repeats of the newest sitting
    sittings_percent: Range = fact(
        span("{:.0f}", "percent")
    )  # from the lowest end of a sitting to the highest
    n_sittings: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run, *, others: Sequence[Run] = ()) -> Share:
        place = ["operation", "settings"]
        table = with_settings(run.table)
        is_whole = table["series"] == "all causes"
        whole = table[is_whole].set_index(place)
        parts = table[~is_whole].pivot_table(index=place, columns="series", values="explained_ns", sort=False)
        shown = parts.assign(**{"measured difference": whole["difference_ns"]}).map("{:.1f}".format)
        inserted, installed = ("insert rows", EQUAL), ("insert rows", INSTALLED)
        ends = [_ends_of_inserts(each) for each in (*others, run)]
        return cls(
            insert_percent=100 * whole["share"][inserted],
            insert_installed=f"{100 * whole['share'][installed]:.0f} percent as installed"
            if installed in whole.index
            else "not measured as installed",
            repeats_percent=ends[-1],
            sittings_percent=Range(min(each.least for each in ends), max(each.most for each in ends)),
            n_sittings=len(ends),
            table=Table(
                shown.reset_index(),
                "Nanoseconds per operation that each cause explains, and the difference that was measured.",
                origin_of(run),
            ),
        )


def _ends_of_inserts(run: Run) -> Range:
    """The interval of one sitting for inserted rows with equal settings, in percent."""
    table = under(run.table, EQUAL)
    row = table[(table["series"] == "all causes") & (table["operation"] == "insert rows")].iloc[0]
    return Range(100 * row["share_low"], 100 * row["share_high"])


@dataclass(frozen=True, kw_only=True)
class LowConcurrencyFacts(Facts):
    """All that the page tells, by recording."""

    operations: Operations
    installed: Installed
    inserted: str = fact()
    memory: Memory
    kernels: Kernels
    trained: Trained
    share: Share
    join_mcalls_per_s: float = fact(
        "{:.1f}"
    )  # fields that the join by index converts, millions per CPU second
    independent: Table
    settings: Table


def independent(published: pd.DataFrame) -> Table:
    """What others measured of the same question; one entry is of a fork of the server."""
    bears = published["bears_on"].isin(["degradation", "fig-deg-2", "num-deg-1", "art-ch7"])
    is_fork = published["id"].str.startswith("percona-lab-2026-percona")
    return Table(
        published[bears & ~is_fork][["who", "measured", "numbers", "bearing"]].reset_index(drop=True),
        "Independent measurements, as published, with those that contradict.",
    )


# Figure 2 inserts rows of two columns; these lie on either side of it.
_NARROW = (1, 5)


def inserted_said(run: Run) -> str:
    """What narrow rows cost the newest server over 5.7, by settings: the least and the most over widths and rows per statement."""
    stored = with_settings(run.table)
    stored = stored[(stored["target"] == "innodb") & stored["columns"].isin(_NARROW)]
    new, old = _servers(run)[-1], next(server for server in _servers(run) if server.startswith("5.7"))

    def times(settings: str) -> str:
        cells = summarise(
            stored[stored["settings"] == settings],
            "columns", "rows_per_statement", "series", y="server_cpu_us", how=run.summary,
        )  # fmt: skip
        wide = cells.pivot_table(
            index=["columns", "rows_per_statement"], columns="series", values="server_cpu_us"
        )
        ratio = wide[new] / wide[old]
        return span("{:.2f}", "times")(Range(ratio.min(), ratio.max()))

    if INSTALLED not in set(stored["settings"]):
        return "What inserts cost as installed is not in this recording."
    return (
        f"Rows of {_NARROW[0]} and of {_NARROW[1]} columns cost {new} {times(EQUAL)} what they cost {old} with equal settings, and "
        f"{times(INSTALLED)} as installed."
    )


def settings(equal: Mapping[str, str | int | bool]) -> Table:
    """The settings that are made equal, as an option file says them."""
    said = ["on" if value is True else str(value) for value in equal.values()]
    return Table(
        pd.DataFrame({"setting": list(equal), "value": said}),
        "Settings that are the same on all servers wherever this chapter says equal settings.",
    )


def facts() -> LowConcurrencyFacts:
    """From the newest recordings."""
    published = pd.read_csv(paths.data() / "published" / "independent.csv", keep_default_na=False)
    calls = newest("num-deg-2", "live").values("series", y="value")
    operations = newest("own-low-concurrency-operations", "live")
    share = newest("own-low-concurrency-share", "live")
    return LowConcurrencyFacts(
        operations=Operations.of(operations),
        installed=Installed.of(operations),
        inserted=inserted_said(newest("own-low-concurrency-insert", "live")),
        memory=Memory.of(newest("num-deg-1", "live")),
        kernels=Kernels.of(
            newest("own-low-concurrency-lists", "kernel"),
            commits=newest("num-deg-3", "kernel"),
            fatal=recorded("own-low-concurrency-fatal", "kernel"),
            offsets=newest("own-low-concurrency-offsets", "kernel"),
        ),
        trained=Trained.of(newest("own-low-concurrency-pgo", "kernel")),
        share=Share.of(
            share,
            others=[
                run
                for run in recorded("own-low-concurrency-share", "live")
                if run.n != share.n and not run.withdrawn and not run.not_attributable
            ],
        ),
        join_mcalls_per_s=calls["hot_calls_per_second"] / 1e6,
        independent=independent(published),
        settings=settings(OPTIONS[EQUAL]),
    )
