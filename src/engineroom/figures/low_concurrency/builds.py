"""What the degradation article's figures share: two builds, ours and the published, each over its own older or stock one."""

from __future__ import annotations

from engineroom.figures.parts import Dots, Rows, Run, Words, all_rows, as_found, over, ratios

__all__ = ["picture_of", "rows_of", "words_of"]

LABELS = {
    "older": "older",
    "newer": "newer",
    "newer_optimized": "newer, optimized",
    "stock": "stock",
    "optimized": "optimized",
}


def rows_of(run: Run, *, series: str) -> Rows:
    """Each build's value as a multiple of its own first one's (`relative`): machines differ, ratios may agree."""
    table = all_rows(run, keep=("server", "version"), where=f"series == '{series}'")
    table["server"] = table["server"].where(table["server"] != "", table.pop("version"))
    first = next(name for name in LABELS if name in set(table["build"]))
    return over(table, "relative", f"build == '{first}'")


def _rows(table: Rows) -> dict[str, str]:
    """Builds that the claim does not name stand above those that it does."""
    builds = as_found("build")(table)
    others = {name: name for name in builds if name not in LABELS}
    return others | {name: label for name, label in LABELS.items() if name in builds}


def picture_of(label: str) -> Dots:
    """A row a build; the published value is hollow."""
    return Dots(rows=_rows, label=label, line_at=1, form="{:.2f}")


def words_of(table: Rows, *, what: str, over: str, under: str) -> Words:
    """The claim's ratio, ours and published; `what` names the value and the two builds."""
    by_build = table.assign(series=table["build"], build=table["series"])
    (ratio,), (published,) = ratios(by_build, over, under)
    measured = table[(table["source"] == "ours") & (table["server"] != "")]
    servers = dict(zip(measured["build"], measured["server"], strict=True))
    named = (
        f"{servers[over]} against {servers[under]}" if servers else "the isolated causes alone, in kernels"
    )
    return Words(
        alt=f"Dot plot of the {what}. Ours ({named}): {ratio:.3f}. Published: {published:.3f}.",
        caption=f"The {what}: {ratio:.2f} ({named}); the source measured {published:.2f}.",
    )
