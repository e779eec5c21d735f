"""`engineroom ledger`: the verdicts on a terminal, as JSON, and as a file to send.

What reads or judges a run is imported by the command that does so: the table of all verdicts needs neither.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engineroom import chapters, files, paths
from engineroom.errors import EngineRoomError
from engineroom.ledger.rows import TOKENS, keep, rows

if TYPE_CHECKING:
    from engineroom.ledger.verdicts import Judgement
    from engineroom.runs import Run

__all__ = ["ledger"]

_COLOURS = {
    "reproduced": "green",
    "partly": "yellow",
    "undecided": "yellow",
    "contradicted": "red",
    "not_attributable": "magenta",
}
_method = click.option("--method", type=click.Choice(chapters.METHODS), default="live", show_default=True)


@click.group(invoke_without_command=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="A table for people, or JSON for programs.",
)
@click.option("--figure", "figure_id", metavar="ID", help="Show each claim of one figure, such as fig-7-22.")
@click.option(
    "--chapter",
    type=click.Choice([each.word for each in chapters.book().chapters]),
    help="Only the figures of one chapter.",
)
@click.pass_context
def ledger(context: click.Context, form: str, figure_id: str | None, chapter: str | None) -> None:
    """Every published figure and its verdict."""
    if context.invoked_subcommand is not None:
        return
    if figure_id is not None and form == "table":
        _show_figure(figure_id)
        return
    found = rows(chapter=chapter)
    if figure_id is not None:
        from engineroom.ledger.claims import figure

        found = [row for row in found if row.figure == figure(figure_id).id]
    if form == "json":
        click.echo(json.dumps([row.json() for row in found], indent=1))
        return
    header = ("figure", "chapter", "method", "verdict", "claims", "origin", "recorded")
    lines = [
        (
            row.figure,
            row.chapter,
            row.method or "",
            f"{TOKENS[row.verdict]} {row.verdict}",
            f"{row.claims_held}/{row.claims_total}" if row.method else f"{row.claims_total}",
            row.origin or "",
            (row.recorded_at or "")[:10],
        )
        for row in found
    ]
    _echo_table(header, lines, colours=[_COLOURS.get(row.verdict) for row in found])
    decided = sum(row.method is not None for row in found)
    click.echo(
        f"\n{len({row.figure for row in found})} figures and statements, {decided} verdicts."
        " `engineroom ledger --figure ID` shows the claims."
    )


@ledger.command()
@click.argument("figure_id", metavar="FIGURE")
@_method
@click.option("-n", "--number", type=int, help="The number of the recorded run; the newest by default.")
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), help="The file to write.")
def export(figure_id: str, method: str, number: int | None, output: Path | None) -> None:
    """Write a recorded run of FIGURE to a file, to attach to an issue.

    The file holds rows, verdict and provenance: server version, settings, processor, kernel and load. It holds no name of a
    host or user, no path and no password.
    """
    from engineroom.ledger import exchange
    from engineroom.ledger.claims import figure

    subject = figure(figure_id)
    path = output or Path(f"{subject.id}.{method}.json")
    run = exchange.export(figure_id, method, path, n=number)
    click.echo(
        f"Wrote run {run.n} of {figure_id} by {method} to {path.name}. Look it over, then attach it to an issue."
    )


@ledger.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def read(file: Path) -> None:
    """Judge an exported run anew and show each claim."""
    from engineroom.ledger import exchange
    from engineroom.ledger.verdicts import judge

    run = exchange.load(file)
    _show_judgement(run, judge(run, deciding=True))


@ledger.command()
@click.argument("figure_id", metavar="FIGURE")
@click.argument("number", type=int)
@_method
@click.option("--reason", required=True, help="Why the run must not count.")
def withdraw(figure_id: str, number: int, method: str, reason: str) -> None:
    """Move recorded run NUMBER of FIGURE to the withdrawn ones; its rows stay."""
    from engineroom import runs

    runs.withdraw(figure_id, method, number, reason=reason)
    keep()
    click.echo(f"Run {number} of {figure_id} by {method} no longer counts: {reason}")


@ledger.command()
@click.argument("figure_id", metavar="FIGURE")
@_method
def protocols(figure_id: str, method: str) -> None:
    """Show every recording of FIGURE, the protocol that it follows, what changed, and the verdict of its rows."""
    from engineroom.ledger import history
    from engineroom.ledger.claims import figure

    found = history.recordings(figure(figure_id).id, method)
    if not found:
        raise EngineRoomError(
            f"no run of {figure_id} by {method} is recorded",
            remedy=f"engineroom record {figure_id} --method {method}",
        )
    _echo_table(
        ("run", "recorded", "protocol", "verdict", "claims", "counts"),
        [
            (
                str(each.n),
                each.recorded_at[:10],
                f"{each.number} ({each.protocol})",
                f"{TOKENS[each.verdict]} {each.verdict}",
                f"{each.claims_held}/{each.claims_total}",
                each.set_aside or "yes",
            )
            for each in found
        ],
    )
    for each in found:
        for change in each.changes:
            click.echo(f"changed with run {each.n}: {change}")


@ledger.command("judge")
def judge_all() -> None:
    """Judge every figure anew and keep the verdicts; `engineroom record` does so, and after a merge you do."""
    click.echo(f"Kept the verdicts in {keep().relative_to(paths.root()).as_posix()}.")


def _show_figure(figure_id: str) -> None:
    from engineroom.ledger.claims import figure
    from engineroom.ledger.judging import judgements

    subject = figure(figure_id)
    click.secho(f"{subject.id}: {subject.title}", bold=True)
    click.echo(f"Source {subject.source}, {subject.source_figure or subject.kind}; chapter {subject.chapter}")
    judged = judgements(figure_id)
    for run, judgement in judged:
        _show_judgement(run, judgement)
    if judged:
        return
    if subject.context:
        click.echo("\nIt makes no claim that could be tested.")
        return
    click.echo("\nNo run yet. It claims:")
    _echo_table(
        ("claim", "published", "says"),
        [
            *((effect.id, f"{effect.published:g}", effect.text) for effect in subject.effects),
            *((shape.id, "", shape.text) for shape in subject.shapes),
        ],
    )


def _show_judgement(run: Run, judged: Judgement) -> None:
    when = "" if run.recorded_at is None else files.visible(f", {run.origin} {run.recorded_at[:10]}")
    click.echo(f"\n{run.figure} by {run.method}{when}, {judged.repeats} repeats: ", nl=False)
    click.secho(f"{TOKENS[judged.verdict]} {judged.verdict}", fg=_COLOURS.get(judged.verdict), nl=False)
    click.echo(f" ({judged.claims_held} of {judged.claims_total} claims held)")
    if judged.reason:
        click.echo(files.visible(f"Not attributable: {judged.reason}"))
    _echo_table(
        ("claim", "part", "ours", "published", "held", "says"),
        [
            (
                claim.id,
                claim.part,
                claim.ours_said,
                "" if claim.published is None else f"{claim.published:g}",
                claim.outcome + (f" ({claim.reason})" if claim.reason else ""),
                claim.text,
            )
            for claim in judged.claims
        ],
    )


def _echo_table(
    header: Sequence[str], lines: Sequence[Sequence[str]], *, colours: Sequence[str | None] = ()
) -> None:
    """Columns as wide as their widest text; colour, which `click` drops where the output is no terminal, on whole lines."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    for index, line in enumerate([header, *lines]):
        text = files.visible(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
        click.secho(text, bold=index == 0, fg=colours[index - 1] if index and colours else None)
