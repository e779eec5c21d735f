"""The ledger as a page of the book: MyST text, written anew at each build."""

from __future__ import annotations

from collections import defaultdict

from engineroom import chapters, paths
from engineroom.ledger import expressions, history
from engineroom.ledger.claims import Figure, figures, to_key
from engineroom.ledger.judging import judgements
from engineroom.ledger.rows import TOKENS, Row, rows
from engineroom.ledger.verdicts import Claim, Judgement
from engineroom.runs import Run, recorded
from engineroom.show.table import listed

__all__ = ["changes_markdown", "claims_markdown", "markdown", "summary", "verdicts_markdown"]


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
    parts = [
        f"{_claims_table(run, judged)}\n\n{_recordings_table(each, run.method)}"
        for each in (named or figures())
        for run, judged in judgements(each)
    ]
    return "\n\n".join(parts or ["No figure has a run yet."]) + "\n"


def verdicts_markdown(chapter: str) -> str:
    """The verdicts of a chapter on its page: which, also with other scheduling, how stable, and under which protocols; claims and recordings are the ledger's."""
    found = [row for row in rows(chapter=chapter) if row.method is not None]
    lines = (
        (
            f"{_link(figures()[row.figure])} by {row.method}",
            f"{_words(row.verdict)}, {row.claims_held} of {row.claims_total} claims",
            _stability(row),
            _protocols(row),
        )
        for row in found
    )
    table = listed(("figure", "verdict", "stability", "protocols"), lines, kind="history verdicts") + "\n"
    turned = [
        f"{row.figure} {_words(row.rescheduled)}"
        for row in found
        if row.rescheduled not in (None, row.verdict)
    ]
    if turned:
        table += f"\nSimulated again with [the scheduler that was compared with real threads](machine-real) (one seed): {'; '.join(turned)}.\n"
    return table


def changes_markdown(chapter: str) -> str:
    """Of a chapter's figures whose verdict was not the same in all recordings: what was changed between them, and each verdict."""
    said, same = [], 0
    for row in rows(chapter=chapter):
        found = history.recordings(row.figure, row.method) if row.method else []
        if len({each.verdict for each in found}) > 1:
            said.append(f"- **{row.figure} by {row.method}**: " + "; ".join(map(_change, found)) + ".")
        elif len(row.protocols) > 1:
            same += 1
    if same:
        said.append(
            f"- {same} {'others have' if same > 1 else 'other has'} had several protocols, and the same verdict under each."
        )
    return "\n".join(said or ["- No verdict of this chapter was ever another one."]) + "\n"


_MOST_CHANGES = 3


def _change(recording: history.Recording) -> str:
    """One recording: the numbers that it changed, some by name, and the verdict."""
    stated = [
        each for each in recording.changes if " unsaid to " not in each and not each.endswith(" to unsaid")
    ]
    parts = [_cell(each) for each in stated[:_MOST_CHANGES]]
    if more := len(stated) - len(parts):
        parts.append(f"{more} more {'changes' if more > 1 else 'change'}")
    if new := len(recording.changes) - len(stated):
        parts.append(f"{new} {'numbers' if new > 1 else 'number'} recorded in only one of the two")
    verdict = recording.verdict.replace("_", " ")
    return f"recording {recording.n} {verdict}" + (f" (changed: {', '.join(parts)})" if parts else "")


def _recordings_table(figure: str, method: str) -> str:
    lines = (
        (
            f"{each.n}, {each.recorded_at[:10]}",
            f"{each.number} ({each.protocol})",
            f"{_words(each.verdict)}, {each.claims_held} of {each.claims_total}",
            "; ".join(_cell(change) for change in each.changes),
            _cell(each.set_aside or "counts"),
        )
        for each in history.recordings(figure, method)
    )
    header = ("recording", "protocol", "verdict of its rows", "what changed", "counts or why not")
    return listed(header, lines, kind="history")


def _stability(row: Row) -> str:
    if row.stability is None:
        return "none: no run decides"
    if row.repeats == 1 and row.fragile is None:
        said = "a single repeat, nothing to resample"
    else:
        said = f"{row.stability:.2f}" + (", **fragile**" if row.is_fragile else "")
    return said + (", not varied" if row.varied == 0 else "")


def _protocols(row: Row) -> str:
    """How many there have been, and each one's verdicts in the order of its recordings, repetitions left out."""
    under = [
        "/".join(dict.fromkeys(each["verdict"].replace("_", " ") for each in protocol["recordings"]))
        for protocol in row.protocols
    ]
    return f"{len(under)}: {', then '.join(under)}"


def _claims_table(run: Run, judged: Judgement) -> str:
    when = "" if run.recorded_at is None else f", {run.origin} {run.recorded_at[:10]}"
    reason = f" {_cell(judged.reason)}" if judged.reason else ""
    lines = (
        (
            _cell(claim.text) + ("" if claim.part == "shape" else f" ({claim.part})"),
            "" if claim.published is None else f"{claim.published:g}",
            claim.ours_said + _unsettled(run, claim),
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
        if lab.exists():
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
    said = f"**{_words(row.verdict)}** by {row.method}, {held} ({run}); stability {_stability(row)}{_fragile(row)}{_rescheduled(row)}"
    return f"{said}; protocols {_protocols(row)}" + (f". {_cell(row.reason)}" if row.reason else "")


def _fragile(row: Row) -> str:
    """What half and one and a half of each number of the simulated machine and load did to the verdict, where that was tried."""
    if row.fragile is None:
        return ""
    return (
        f"; other on {_cell('; '.join(row.fragile))}" if row.fragile else "; the same on every varied machine"
    )


def _rescheduled(row: Row) -> str:
    if row.rescheduled is None:
        return ""
    return f"; {_words(row.rescheduled)} with [the scheduler that was compared with real threads](machine-real) (one seed)"


def _unsettled(run: Run, claim: Claim) -> str:
    """Said behind our value: that a simulated run which the claim reads had not settled, and how well the worst is known."""
    if "is_settled" not in run.table or claim.ours is None:
        return ""
    figure = figures()[run.figure]
    table = run.table[run.table["is_settled"] == 0]
    asked = expressions.reads(next(each.expr for each in figure.claims if each.id == claim.id))
    if asked is not None:
        is_read = [
            series in asked and ((at := asked[series]) is None or to_key(figure, x) in at)
            for series, x in zip(table["series"].map(str), table[figure.x or ""], strict=True)
        ]
        table = table[is_read]
    if table.empty:
        return ""
    width = f", ±{table['half_width_percent'].max():.0f} %" if "half_width_percent" in table else ""
    return f" (not settled{width})"


def _outcome(claim: Claim) -> str:
    return f"**{claim.outcome}**" if claim.is_held else claim.outcome


def _cell(text: str) -> str:
    """Text that cannot break out of a table cell or turn into markup."""
    for sign in "\\|*_`<[$":
        text = text.replace(sign, "\\" + sign)
    return " ".join(text.split())
