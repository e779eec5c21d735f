"""The ledger as a page of the book: MyST text, written anew at each build."""

from __future__ import annotations

from collections import defaultdict

from engineroom import chapters, paths
from engineroom.figures.table import listed
from engineroom.ledger.claims import Figure, figures
from engineroom.ledger.rows import Row, judgements, rows
from engineroom.ledger.verdicts import TOKENS, Claim, Judgement
from engineroom.runs import Run, recorded

__all__ = ["claims_markdown", "markdown", "summary"]


def summary() -> dict[str, int]:
    """How many figures there are, and how many have each verdict by at least one method."""
    found = rows()
    by_verdict: dict[str, set[str]] = defaultdict(set)
    for row in found:
        by_verdict[row.verdict].add(row.figure)
    return {
        "figures": len(figures()),
        "decided": len({row.figure for row in found if row.method is not None}),
        **{token: len(by_verdict[token]) for token in TOKENS},
    }


def markdown() -> str:
    """One table a chapter: the figure, the verdict of each method with its claims, origin and date, and what it shows."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows():
        found[row.chapter].append(row)
    return "\n\n".join(
        f"**{chapter.name}**\n\n" + _table(found[chapter.word])
        for chapter in chapters.book().chapters
        if chapter.word in found
    )


def _table(found: list[Row]) -> str:
    lines = (
        (_link(figures()[row.figure]), _verdict(row), _cell(figures()[row.figure].title)) for row in found
    )
    return listed(("figure", "verdict", "what it shows"), lines, kind="ledger", widths="12 34 54") + "\n"


def claims_markdown(*named: str) -> str:
    """Each claim with the published value and ours, one table per figure and method; of the named figures, or of all that have a run."""
    parts = [_claims_table(run, judged) for each in (named or figures()) for run, judged in judgements(each)]
    return "\n\n".join(parts or ["No figure has a run yet."]) + "\n"


def _claims_table(run: Run, judged: Judgement) -> str:
    when = "" if run.recorded_at is None else f", {run.origin} {run.recorded_at[:10]}"
    reason = f" {_cell(judged.reason)}" if judged.reason else ""
    lines = (
        (
            _cell(claim.text) + ("" if claim.part == "shape" else f" ({claim.part})"),
            "" if claim.published is None else f"{claim.published:g}",
            _ours(claim),
            _outcome(claim),
        )
        for claim in judged.claims
    )
    head = f"**{run.figure} by {run.method}{when}: {_words(judged.verdict)}.**{reason}"
    return f"{head}\n\n" + listed(("claim", "published", "ours", "held"), lines, kind="claims")


def _words(verdict: str) -> str:
    return f"{TOKENS[verdict]} {verdict.replace('_', ' ')}"


def _link(figure: Figure) -> str:
    """The figure's id, as a link to its cell in the lab where that lab has the cell."""
    for word in (figure.chapter, *figure.also):
        lab = paths.root() / "notebooks" / f"{word}.md"
        if chapters.chapter(word).has_rooms and lab.exists():
            text = lab.read_text(encoding="utf-8")
            if f"({figure.id})=" in text or f"name: {figure.id}" in text:
                return f"[{figure.id}](#{figure.id})"
    return figure.id


def _verdict(row: Row) -> str:
    """The verdict in words, how many claims hold, and which run says so."""
    if row.method is None:
        claims = "1 claim" if row.claims_total == 1 else f"{row.claims_total} claims"
        return _words(row.verdict) + (f", {claims} to test" if row.claims_total else "")
    kept = recorded(row.figure, row.method)
    withdrawn = sum(run.withdrawn is not None for run in kept)
    run = f"{row.origin} {(row.recorded_at or '')[:10]}"
    run += f", newest of {len(kept)}" if len(kept) > 1 else ""
    run += f", {withdrawn} withdrawn" if withdrawn else ""
    held = f"{row.claims_held} of {row.claims_total} claims held"
    return f"**{_words(row.verdict)}** by {row.method}, {held} ({run}){_fragile(row)}"


def _fragile(row: Row) -> str:
    """What half and one and a half of each estimate of the simulated machine did to the verdict, where that was tried."""
    if row.fragile is None:
        return ""
    return (
        f"; fragile ({_cell('; '.join(row.fragile))})"
        if row.fragile
        else "; the same on every varied machine"
    )


def _ours(claim: Claim) -> str:
    if isinstance(claim.ours, bool):
        return "true" if claim.ours else "false"
    return "" if claim.ours is None else f"{claim.ours:.3g}"


def _outcome(claim: Claim) -> str:
    return f"**{claim.outcome}**" if claim.is_held else claim.outcome


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or turn into markup."""
    for sign in "\\|*_`<[$":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
