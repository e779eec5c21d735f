"""What a slow log holds as text for people and as an HTML page."""

from __future__ import annotations

import textwrap
from pathlib import Path

from engineroom import listing
from engineroom.ask import pages
from engineroom.ask.digests.counting import Counted, Group

__all__ = ["html", "remarks", "text"]

_WIDTH = 100
_SHOWN = 1000  # characters of a name that may have megabytes
_HEAD = ["share", "time", "count", "p50", "p95", "longest", "in locks", "rows examined", "sent", "per sent"]


def text(counted: Counted, name: str, top: int) -> str:
    """A table of the groups that took most time, and their names."""
    shown = counted.groups[:top]
    if counted.by == "digest":
        names = [f"#{i}" for i in range(1, len(shown) + 1)]
    else:
        names = [textwrap.shorten(each.name[:_SHOWN], 40, placeholder=" ...") for each in shown]
    rows = [[label, *_cells(counted, each)] for label, each in zip(names, shown, strict=True)]
    lines = [summary(counted, name), "", *listing.table(["", *_HEAD], rows)]
    if counted.by == "digest":
        lines.append("")
        for label, each in zip(names, shown, strict=True):
            lines += textwrap.wrap(
                f"{label}  {each.name[:_SHOWN]}",
                _WIDTH,
                subsequent_indent="    ",
                max_lines=4,
                placeholder=" ...",
            )
    lines += ["", *remarks(counted, top)]
    return "\n".join(line.rstrip() for line in lines).rstrip()


def html(counted: Counted, name: str, top: int) -> str:
    """The same as one page that loads nothing, with the longest statement of each group."""
    shown = counted.groups[:top]
    return (
        pages.templates(Path(__file__).parent)
        .get_template("page.html.jinja")
        .render(
            summary=summary(counted, name),
            by=counted.by,
            head=_HEAD,
            groups=[(each, _cells(counted, each)) for each in shown],
            remarks=remarks(counted, top),
        )
    )


def summary(counted: Counted, name: str) -> str:
    """A log in one sentence."""
    when = f", {counted.first_at} to {counted.last_at}" if counted.first_at else ""
    what = "statement" if counted.events == 1 else "statements"
    return f"{name}: {counted.events:,} {what} took {listing.seconds(counted.log_s)}{when}"


def remarks(counted: Counted, top: int | None = None) -> list[str]:
    """What of a log stands in no line of the table."""
    said = [
        f"Skipped or mended: {what}{f', {count:,} times' if count > 1 else ''}."
        for what, count in sorted(counted.skipped.items())
    ]
    if counted.one_of > 1:
        said.append(
            f"The server wrote one of {counted.one_of:,} (log_slow_rate_limit): counts and times are those of the log, not of the load."
        )
    if counted.rare.count:
        said.append(
            f"To bound memory, {counted.rare.count:,} statements of rare digests were counted as one: they took "
            f"{listing.seconds(counted.rare.log_s)}."
        )
    late = counted.groups[top:] if top is not None else []
    if late:
        took = listing.seconds(sum(each.log_s for each in late))
        said.append(f"{len(late):,} further lines took {took}; --top {len(counted.groups)} shows all.")
    return said


def _cells(counted: Counted, group: Group) -> list[str]:
    return [
        f"{counted.share(group):.1%}",
        listing.seconds(group.log_s),
        f"{group.count:,}",
        *(listing.seconds(each) for each in (group.within(0.5), group.within(0.95), group.longest_s)),
        listing.seconds(group.lock_s),
        f"{group.rows_examined:,}",
        f"{group.rows_sent:,}",
        f"{group.rows_examined / group.rows_sent:,.0f}" if group.rows_sent else "-",
    ]
