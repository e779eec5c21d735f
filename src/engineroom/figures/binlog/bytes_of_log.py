"""What the sources' figures of the binary log's size share: a row per setting, the published sizes scaled to ours.

The source's runs had other lengths, so that only ratios compare: each value is shown over the first setting's of its own source.
"""

from __future__ import annotations

from engineroom.figures.parts import Dots, Maker, Rows, Words, ours, rows_over, theirs

__all__ = ["picture_of", "rows_of", "words_of"]


def rows_of(base: str) -> Maker:
    """All rows, with the size over that of the setting `base`."""
    return rows_over("size_over_base", f"setting == '{base}'")


def picture_of(rows: dict[str, str], base: str) -> Dots:
    """A row per setting."""
    return Dots(rows=rows, label=f"bytes of binary log over those of {base}", form="{:.2f}", line_at=1.0)


def words_of(table: Rows, *, setting: str, how: str, base: str) -> Words:
    """Our ratio and the published one; `how` says what was done, `base` over which log's size."""
    of, published = (each(table)["binlog_size", setting] for each in (ours, theirs))
    return Words(
        alt=f"Dots of the size of the binary log over {base}. {how} it is {of:.2f}, published {published:.2f}.",
        caption=f"{how}, TPC-C's binary log has {of:.2f} of its bytes (published: {published:.2f}).",
    )
