"""Which versions read the long value of every row: off-page values read per scanned row; of the source, 1 is affected, 0 not."""

from __future__ import annotations

from functools import partial

from engineroom.figures.parts import Dots, Rows, Words, all_rows, each, ours, release, theirs

rows = partial(all_rows, keep=["server"])


def _versions(table: Rows) -> dict[str, str]:
    """In the order of their releases, the source's "later" last, with the exact server where we measured one."""
    of = table.sort_values("server", kind="stable").drop_duplicates("version", keep="last")
    server = of.set_index("version")["server"]
    in_order = sorted(
        server.index, key=lambda name: (name.startswith("after_"), release(name.removeprefix("after_")))
    )
    return {
        version: ("later" if version.startswith("after_") else version)
        + (f"\n({server[version]})" if server[version] else "")
        for version in in_order
    }


OURS, LABEL = {"external_reads_per_row": "ours"}, "long values read per scanned row"
picture = Dots(rows=_versions, series=OURS, label=LABEL, limits=(-0.05, 1.1))


def words(table: Rows) -> Words:
    """Name the exact servers."""
    exact = table.assign(version=table["server"].where(table["server"] != "", table["version"]))
    of = ours(exact).droplevel("series")
    of = of.reindex(sorted(of.index, key=release))
    published = theirs(table).droplevel("series")
    affected, free = (
        " and ".join(
            ", ".join(
                name.replace("_", " ") for name in _versions(table) if published.get(name) == is_hit
            ).rsplit(", ", 1)
        )
        for is_hit in (1, 0)
    )
    said = each(of, "{:.2g}", named="{1} on {0}")
    return Words(
        alt=f"Dots of long values read per scanned row: {said}. Of the source, {affected} are affected and {free} are not.",
        caption=f"Of our servers {' and '.join(of.index[of > 0.5]) or 'none'} reads the long value of every row: {said}.",
    )
