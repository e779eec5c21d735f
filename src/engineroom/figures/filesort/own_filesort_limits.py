"""Our own figure: pages read as LIMIT grows, by generation, and where the columns are carried by order."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, ends, release, rows_by

# The largest table.
rows = rows_by("rows", "limit", y="pages_read", where="rows == rows.max()")


def _series(table: Rows) -> dict[str, str]:
    names = sorted(set(table["series"]), key=lambda name: (release(name.split(",")[0]), name))
    # 5.6 and 5.7 provoked lie on 8.0.15 provoked: one of the three is drawn.
    provoked = [name for name in names if "," in name]
    return {name: name for name in names if name not in provoked[:-1]}


picture = Curves(x="limit", labels=_series, x_label="rows returned", y_label="pages read")


def words(table: Rows) -> Words:
    """The first and the last point of each line."""
    of = picture.values(table)
    least, most = table["limit"].min(), table["limit"].max()
    oldest, *_, newest = _series(table)
    return Words(
        alt=picture.alt(table, "{:,}", told=ends),
        caption=f"For one row MySQL {newest} reads {of[newest, least] / of[oldest, least]:.0f} times the pages of {oldest}; for all "
        f"{most:,} rows {oldest} reads {of[oldest, most] / of[newest, most]:.1f} times those of {newest}.",
    )
