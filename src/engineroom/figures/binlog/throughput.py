"""What the sources' figures of throughput with a smaller binary log share: two lines, and the range of their ratios."""

from __future__ import annotations

from engineroom.figures.parts import Curves, Rows, Words, at, ratios

__all__ = ["picture_of", "words_of"]


def picture_of(labels: dict[str, str], narrow: dict[str, str]) -> Curves:
    """A line with the smaller log and one without."""
    return Curves(labels=labels, narrow=narrow, x_label="clients", y_label="transactions per minute")


def words_of(table: Rows, *, over: str, under: str, ratio: str, caption: str) -> Words:
    """The two at each x, ours and the source's; the `caption` begins with what was done and ends before the range."""
    ours, published = ratios(table, over, under)
    return Words(
        alt=f"Log-log line chart of transactions per minute against clients. {ratio}: {at(ours)}. Published: {at(published)}.",
        caption=f"{caption.format(f'{ours.min():.2f} to {ours.max():.2f}')}; the source's cluster had {published.min():.2f} to "
        f"{published.max():.2f}.",
    )
