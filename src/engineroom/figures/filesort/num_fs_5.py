"""Which versions read the long value of every row: off-page values read per scanned row; of the source, 1 is affected, 0 not."""

from __future__ import annotations

from functools import partial

import pandas as pd

from engineroom import side_by_side
from engineroom.figures.dots import Dots
from engineroom.figures.wording import Words, each
from engineroom.servers.catalogue import release
from engineroom.side_by_side import ours, theirs

__all__ = ["picture", "rows", "words"]

rows = partial(side_by_side.rows, keep=["server"])


def _versions(table: pd.DataFrame) -> dict[str, str]:
    """In the order of their releases, the source's "later" last, with the exact server where we measured one."""
    server = dict(zip(table["version"], table["server"], strict=True)) | dict(
        table[table["server"] != ""][["version", "server"]].itertuples(index=False)
    )
    later = {version for version in server if version.startswith("after_")}
    ordered = [*sorted(set(server) - later, key=release), *later]
    return {
        version: ("later" if version in later else version)
        + (f"\n({server[version]})" if server[version] else "")
        for version in ordered
    }


picture = Dots(
    rows=_versions,
    series={"external_reads_per_row": "ours"},
    label="long values read per scanned row",
    limits=(-0.05, 1.1),
)


def words(table: pd.DataFrame) -> Words:
    """Name the exact servers."""
    of = ours(table.assign(version=table["server"].where(table["server"] != "", table["version"]))).droplevel(
        "series"
    )
    of = of.reindex(sorted(of.index, key=release))
    said = each(of, "{:.2g}", named="{1} on {0}")
    published = theirs(table).droplevel("series")
    affected, free = (
        [name for name in _versions(table) if name in published and published[name] == value]
        for value in (1, 0)
    )
    hit = [str(server) for server, value in of.items() if value > 0.5]
    return Words(
        alt=f"Dots of long values read per scanned row: {said}. Of the source, {_and(affected)} are affected and {_and(free)} are not.",
        caption=f"Of our servers {' and '.join(hit) or 'none'} reads the long value of every row: {said}.",
    )


def _and(names: list[str]) -> str:
    plain = [name.replace("_", " ") for name in names]
    return " and ".join([", ".join(plain[:-1]), plain[-1]] if len(plain) > 1 else plain)
