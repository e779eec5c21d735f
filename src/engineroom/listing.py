"""Several things as one part of a sentence or as lines of a table."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed", "seconds", "table"]


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"; nothing of none."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def seconds(value: float) -> str:
    """A time in a unit that fits."""
    return (
        f"{value:,.3f} s"
        if value >= 1
        else f"{1e3 * value:.2f} ms"
        if value >= 1e-3
        else f"{1e6 * value:.0f} us"
    )


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """Lines with aligned columns, the first to the left."""
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
    return [
        "  "
        + row[0].ljust(widths[0])
        + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in (head, *rows)
    ]
