"""The facts of `book/read_views.md`: what views cost purge and readers, what statements ask for, what levels rule out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engineroom.facts import Facts, Range, fact, span
from engineroom.runs import Run, newest, published
from engineroom.show.drawing import origin_of
from engineroom.show.table import Table

__all__ = ["ReadViewsFacts", "facts"]

MOST = 10_000


@dataclass(frozen=True, kw_only=True)
class Histories(Facts):
    """Reads compared with their snapshots, and which mistake is found how often (own-read-views-histories)."""

    reads: int = fact("{:,}")
    runs: int = fact("{:,}")
    wrong: int = fact("{:,}")
    harmless: int = fact("{:,}")
    table: Table

    @classmethod
    def of(cls, run: Run) -> Histories:
        sound = run.table[run.table["mistake"] == "none"]
        planted = run.table[(run.table["mistake"] != "none") & (run.table["series"] == "9.7")]
        shown = planted[
            ["mistake", "reads", "wrong_reads", "missing_history", "wrong_views", "purge_too_far"]
        ]
        return cls(
            reads=int(sound["reads"].sum()),
            runs=int(sound["runs"].sum()),
            wrong=int(sound["failures"].sum()),
            harmless=int(planted.set_index("mistake")["failures"]["number_last"]),
            table=Table(
                shown.assign(mistake=[name.replace("_", " ") for name in shown["mistake"]]),
                "Each mistake planted in the design of 9.7: what the oracle finds.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Statements(Facts):
    """Acquisitions of the latches of the transaction system per statement, on four servers (own-read-views-statements)."""

    counts: int = fact()
    differing: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> Statements:
        table, latches = run.table, ("mutex", "serialisation", "shards")
        differs = [(table[name] - table[f"kernel_{name}"]).abs() > 0.05 for name in latches]
        plain = table[(table["has_binlog"] == 0) & (table["level"] == "REPEATABLE READ")]
        total = plain.assign(total=plain[list(latches)].round().sum(axis=1).astype(int))
        shown = total.pivot(index="statement", columns="series", values="total")
        shown = shown.loc[list(dict.fromkeys(plain["statement"]))].reset_index()
        return cls(
            counts=len(table) * len(latches),
            differing=sum(int(each.sum()) for each in differs),
            table=Table(
                shown.assign(statement=[name.replace("_", " ") for name in shown["statement"]]),
                "Latches of the transaction system per repetition, REPEATABLE READ, no binary log.",
                origin_of(run),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Anomalies(Facts):
    """What each isolation level shows, by four servers and by the kernel (own-read-views-anomalies)."""

    servers: int = fact()
    differing: int = fact()
    table: Table

    @classmethod
    def of(cls, run: Run) -> Anomalies:
        of = run.table.pivot(index=["anomaly", "level"], columns="series", values="outcome")
        live = [name for name in of.columns if name != "kernel"]
        agreed = of["kernel"].unstack("level")
        order, levels = (list(dict.fromkeys(run.table[name])) for name in ("anomaly", "level"))
        return cls(
            servers=len(live),
            differing=int(sum((of[name] != of["kernel"]).sum() for name in live)),
            table=Table(
                agreed.loc[order, levels].reset_index(),
                "The same on every server that was asked and by the kernel, unless the text says otherwise.",
                origin_of(run),
                kind="compact",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Idle(Facts):
    """Purge on live servers beside idle sessions that have read once (own-read-views-idle)."""

    most_sessions: int = fact("{:,}")
    old_none_us: float = fact("{:.0f} us")
    old_most_us: float = fact("{:.0f} us")
    new_none_us: float = fact("{:.0f} us")
    new_most_us: float = fact("{:.0f} us")
    # In which threads wait for trx_sys_mutex or take it, per transaction, the least and the most of the runs.
    old_none_wait_us: Range = fact(span("{:.1f}", "us"))
    old_most_wait_us: Range = fact(span("{:.0f}", "us"))
    new_none_wait_us: Range = fact(span("{:.1f}", "us"))
    new_most_wait_us: Range = fact(span("{:.1f}", "us"))

    @classmethod
    def of(cls, run: Run) -> Idle:
        per_batch = run.values("series", "idle_sessions", y="purge_us_per_batch")
        most = int(run.table["idle_sessions"].max())

        def waits(series: str, sessions: int) -> Range:
            of = run.table[(run.table["series"] == series) & (run.table["idle_sessions"] == sessions)]
            return Range(of["mutex_us_per_transaction"].min(), of["mutex_us_per_transaction"].max())

        return cls(
            most_sessions=most,
            old_none_us=per_batch["5.7", 0],
            old_most_us=per_batch["5.7", most],
            new_none_us=per_batch["9.7", 0],
            new_most_us=per_batch["9.7", most],
            old_none_wait_us=waits("5.7", 0),
            old_most_wait_us=waits("5.7", most),
            new_none_wait_us=waits("9.7", 0),
            new_most_wait_us=waits("9.7", most),
        )


@dataclass(frozen=True, kw_only=True)
class Busy(Facts):
    """Ten thousand sessions that ask for much, on the simulated machine (own-read-views-sessions).

    The least and the most of the runs: their windows are too short for the throughput to be settled, so that no ratio is told.
    """

    runs: int = fact()
    kept_us: Range = fact(span("{:.0f}", "us"))
    removed_us: Range = fact(span("{:.0f}", "us"))
    kept_p99_us: Range = fact(span("{:,.0f}", "us"))
    removed_p99_us: Range = fact(span("{:,.0f}", "us"))
    purge_kept_percent: Range = fact(span("{:.0f}", "%"))
    purge_removed_percent: Range = fact(span("{:.0f}", "%"))
    views_per_batch: float = fact("{:,.0f}")
    more_writes_kept_us: Range = fact(span("{:.0f}", "us"))
    more_writes_removed_us: Range = fact(span("{:.0f}", "us"))

    @classmethod
    def of(cls, run: Run) -> Busy:
        busiest = run.table[
            (run.table["sessions"] == MOST) & (run.table["away_ms"] == run.table["away_ms"].min())
        ]
        of = dict(list(busiest.groupby(["series", "write_percent"])))

        def over_runs(series: str, y: str, write_percent: int = 5) -> Range:
            values = of[series, write_percent][y]
            return Range(float(values.min()), float(values.max()))

        return cls(
            runs=int(busiest["repeat"].nunique()),
            kept_us=over_runs("kept", "mean_response_us"),
            removed_us=over_runs("removed_at_once", "mean_response_us"),
            kept_p99_us=over_runs("kept", "p99_response_us"),
            removed_p99_us=over_runs("removed_at_once", "p99_response_us"),
            purge_kept_percent=over_runs("kept", "purge_share_percent"),
            purge_removed_percent=over_runs("removed_at_once", "purge_share_percent"),
            views_per_batch=float(of["kept", 5]["walked_per_batch"].median()),
            more_writes_kept_us=over_runs("kept", "mean_response_us", 20),
            more_writes_removed_us=over_runs("removed_at_once", "mean_response_us", 20),
        )


@dataclass(frozen=True, kw_only=True)
class Quiet(Facts):
    """The same sessions with longer pauses, the list that they make, and the machine (num-rv-1, num-rv-2)."""

    sessions: int = fact("{:,}")
    hardware_threads: int = fact()
    statements_per_second: int = fact()  # of a session, its statements' own time left out
    write_percent: int = fact("{} %")
    views: int = fact("{:,}")
    closed_percent: float = fact("{:.0f} %")
    kept_us: float = fact("{:.1f} us")
    removed_us: float = fact("{:.1f} us")

    @classmethod
    def of(cls, lengths: Run, responses: Run) -> Quiet:
        views = lengths.values("series", "sessions", y="views")
        mean = responses.values("build", y="mean_response_us")
        machine, load = lengths.provenance["machine"], lengths.provenance["load"]
        return cls(
            sessions=MOST,
            hardware_threads=machine["sockets"] * machine["cores_per_socket"] * machine["threads_per_core"],
            statements_per_second=round(1e9 / load["away_ns"]),
            write_percent=load["write_percent"],
            views=int(views["kept", MOST]),
            closed_percent=100 * views["closed", MOST] / views["kept", MOST],
            kept_us=mean["kept"],
            removed_us=mean["removed_at_once"],
        )


@dataclass(frozen=True, kw_only=True)
class Published(Facts):
    """What the article reports (num-rv-1 to num-rv-3)."""

    views: int = fact("{:,}")
    kept_ms: float = fact("{:g} ms")
    removed_ms: float = fact("{:g} ms")
    kept_per_removed: float = fact("{:.0f}")
    read_only_loss_percent: float = fact("{:.0f} %")

    @classmethod
    def of_the_article(cls) -> Published:
        lists = published.in_our_columns("num-rv-1").set_index(["series", "sessions"])["views"]
        response = published.in_our_columns("num-rv-2").set_index("build")["mean_response_us"]
        busy = published.in_our_columns("num-rv-3").set_index(["series", "load"])["relative_throughput"]
        return cls(
            views=int(lists["kept"].iloc[0]),
            kept_ms=response["kept"] / 1000,
            removed_ms=response["removed_at_once"] / 1000,
            kept_per_removed=response["kept"] / response["removed_at_once"],
            read_only_loss_percent=100
            * (1 - busy["removed_at_once", "read_only"] / busy["kept", "read_only"]),
        )


@dataclass(frozen=True, kw_only=True)
class Removing(Facts):
    """What removing views at once costs, by load, simulated (num-rv-3)."""

    # Of the throughput with views kept.
    left_percent: Mapping[str, float] = fact("{:.0f} %", keys=("read_only", "mixed", "read_write"))
    kept_mutex_per_read: float = fact("{:.0f}")  # where nobody writes
    removed_mutex_per_read: float = fact("{:.0f}")

    @classmethod
    def of(cls, run: Run) -> Removing:
        of = run.values("series", "load", y="relative_throughput")
        taken = run.values("series", "load", y="mutex_per_statement")
        return cls(
            left_percent={
                load: 100 * of["removed_at_once", load] / of["kept", load]
                for load in ("read_only", "mixed", "read_write")
            },
            kept_mutex_per_read=taken["kept", "read_only"],
            removed_mutex_per_read=taken["removed_at_once", "read_only"],
        )


@dataclass(frozen=True, kw_only=True)
class ReadViewsFacts(Facts):
    """All numbers of the page, a group for each recording."""

    histories: Histories
    statements: Statements
    anomalies: Anomalies
    idle: Idle
    busy: Busy
    quiet: Quiet
    removing: Removing
    published: Published


def facts() -> ReadViewsFacts:
    """The facts of the page."""
    return ReadViewsFacts(
        histories=Histories.of(newest("own-read-views-histories", "kernel")),
        statements=Statements.of(newest("own-read-views-statements", "live")),
        anomalies=Anomalies.of(newest("own-read-views-anomalies", "live")),
        idle=Idle.of(newest("own-read-views-idle", "live")),
        busy=Busy.of(newest("own-read-views-sessions", "sim")),
        quiet=Quiet.of(newest("num-rv-1", "sim"), newest("num-rv-2", "sim")),
        removing=Removing.of(newest("num-rv-3", "sim")),
        published=Published.of_the_article(),
    )
