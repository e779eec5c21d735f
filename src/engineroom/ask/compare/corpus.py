"""What our tools make of statements that nobody here chose, and of statements as applications send them: an outcome for each.

`data/statements` holds seven applications' tables and statements that were written for this, and those of a real one, django-oscar. Those of
`clinic` were written last, when the tools stood. The statements of four public benchmarks are not the repository's
to give: `engineroom.ask.compare.benchmarks` takes them from the packages that carry them. `python -m engineroom.ask.compare.corpus` puts each
statement through `explain` on 9.7 and `compare` on three versions, and writes what came of it to `data/statements/outcomes.csv`.
"""

from __future__ import annotations

import contextlib
import csv
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engineroom import paths, sql_text
from engineroom.ask.compare.benchmarks import SETS, Statements
from engineroom.ask.compare.sides import EQUAL_SETTINGS, Comparison, compare_many
from engineroom.ask.query_graphs.explain import explain
from engineroom.errors import EngineRoomError
from engineroom.progress import bar

if TYPE_CHECKING:
    from engineroom.servers import Server

__all__ = [
    "APPLICATIONS",
    "DIFFER",
    "EQUAL",
    "REFUSED",
    "WRONG",
    "Outcome",
    "applications",
    "of_compare",
    "of_explain",
    "read",
    "started",
    "table",
]

APPLICATIONS = ("shop", "forum", "firm", "crm", "blog", "oscar", "lending", "clinic")
MADE_ROWS = {"oscar": 20}  # per table, where the schema brings none
TOOLS = ("explain", "compare")
VERSIONS = ("5.7", "8.0.15", "9.7")
EQUAL, REFUSED, DIFFER, WRONG = "equal", "refused", "differ", "wrong"
LIMIT_S = 20.0


@dataclass(frozen=True)
class Outcome:
    """What one tool made of one statement.

    `differ`: the versions answer in other ways for a reason that is known, and the tool says so. `wrong`: other events or another graph
    than the server's, a traceback, or answers that differ for no known reason.

    `answered` are the versions that gave an answer, `rows` those of the first, `reason` why others did not."""

    set: str
    statement: int
    tool: str
    outcome: str
    answered: str
    rows: int | None
    reason: str


def applications(names: Iterable[str] = APPLICATIONS) -> Iterator[Statements]:
    """The applications' statements, as committed."""
    folder = paths.data() / "statements"
    for name in names:
        schema, statements = (
            tuple(sql_text.statements(sql_text.read(folder / file, "statements")))
            for file in (f"{name}.schema.sql", f"{name}.sql")
        )
        yield Statements(name, schema, statements, MADE_ROWS.get(name))


@contextlib.contextmanager
def started(versions: Sequence[str] = VERSIONS) -> Iterator[dict[str, Server]]:
    """A server of each version, for any number of sets."""
    from engineroom import servers

    with contextlib.ExitStack() as running:
        yield {
            version: running.enter_context(servers.start(version, options=EQUAL_SETTINGS))
            for version in versions
        }


def of_explain(server: Server, some: Statements) -> Iterator[Outcome]:
    """What `join-order explain` shows of each statement, beside the server's own trace."""
    server.execute(f"CREATE DATABASE {some.name}")
    server.execute(*some.schema, database=some.name)
    for number, sql in enumerate(
        bar(some.statements, desc=f"explain: {some.name}", unit="statement"), start=1
    ):
        outcome, reason = _explained(server, sql, some.name)
        yield Outcome(some.name, number, "explain", outcome, server.version, None, reason)
    server.execute(f"DROP DATABASE {some.name}")


def _explained(server: Server, sql: str, database: str) -> tuple[str, str]:
    try:
        blocks = explain(server, sql, database)["blocks"]
    except EngineRoomError as error:
        return REFUSED, _short(error.problem)
    except Exception as error:  # noqa: BLE001 - a traceback is what is looked for
        return WRONG, _short(f"{type(error).__name__}: {error}")
    for block in blocks:
        if "refused" not in block and not block["events_equal_but_for_sides"]:
            return WRONG, f"SELECT #{block['select']}: other events than the trace's"
        if "refused" not in block and block["graph_built_by_us_is_equal"] is False:
            return WRONG, f"SELECT #{block['select']}: another graph than the trace's"
    refused = [block["refused"] for block in blocks if "refused" in block]
    return (REFUSED, _short(refused[0])) if refused else (EQUAL, "")


def of_compare(on: Mapping[str, Server], some: Statements) -> list[Outcome]:
    """What `compare` says of each statement on these servers."""
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "schema.sql"
        schema.write_text(";\n".join(some.schema) + ";\n", encoding="utf-8")
        try:
            found = compare_many(
                some.statements,
                versions=list(on),
                schema=schema,
                rows=some.rows,
                limit_s=LIMIT_S,
                on=on,
                only_answers=True,
                holding_constants=False,
            )
        except EngineRoomError as error:
            return [
                Outcome(some.name, number, "compare", REFUSED, "", None, _short(error.problem))
                for number in range(1, len(some.statements) + 1)
            ]
    return [_compared(some.name, number, each) for number, each in enumerate(found, start=1)]


def _compared(name: str, number: int, found: Comparison) -> Outcome:
    answered = " ".join(side.version for side in found.measured)
    refused = [f"{side.version}: {_short(side.refused)}" for side in found.sides if side.refused]
    outcome = {"differ": WRONG, "differ, as its own runs do": WRONG, "nothing to compare": REFUSED}.get(
        found.results, EQUAL
    )
    if outcome == WRONG:
        known = _rolls_nothing_up(found)
        outcome = DIFFER if known else WRONG
        refused.insert(0, known or "the answers differ")
    rows = found.measured[0].rows if found.measured else None
    return Outcome(name, number, "compare", outcome, answered, rows, "; ".join(refused))


def _rolls_nothing_up(found: Comparison) -> str | None:
    """WITH ROLLUP over no rows has no row of totals up to 8.0 and one in 9.7."""
    rows = {side.rows for side in found.measured if not side.version.startswith("9.")}
    later = {side.rows for side in found.measured if side.version.startswith("9.")}
    if re.search(r"\bWITH\s+ROLLUP\b", found.statement, re.IGNORECASE) and (rows, later) == ({0}, {1}):
        return "WITH ROLLUP over no rows: none before 9, the row of totals in 9.7"
    return None


def _short(text: str | None) -> str:
    """A reason without the piece of the statement that a server quotes."""
    text = re.sub(r"; check the manual.*", "", " ".join((text or "").split()))
    return text if len(text) <= 160 else text[:157] + "..."


def table(found: Sequence[Outcome]) -> list[tuple[str, str, *tuple[int, ...]]]:
    """Set, tool, and how many statements were equal, refused, different for a known reason, wrong."""
    counts = Counter((each.set, each.tool, each.outcome) for each in found)
    sets = dict.fromkeys((each.set, each.tool) for each in found)
    return [
        (name, tool, *(counts[name, tool, outcome] for outcome in (EQUAL, REFUSED, DIFFER, WRONG)))
        for name, tool in sets
    ]


def _file() -> Path:
    return paths.data() / "statements" / "outcomes.csv"


def read() -> list[Outcome]:
    """The recorded outcomes; none where nothing is recorded."""
    if not _file().exists():
        return []
    with _file().open(encoding="utf-8", newline="") as file:
        return [
            Outcome(
                **{  # type: ignore[arg-type]
                    **row,
                    "statement": int(row["statement"]),
                    "rows": int(row["rows"]) if row["rows"] else None,
                }
            )
            for row in csv.DictReader(file)
        ]


def measure(
    on: Mapping[str, Server], sets: Iterable[Statements], tools: Sequence[str] = TOOLS
) -> Iterator[Outcome]:
    """Every outcome of the sets."""
    for some in sets:
        if "explain" in tools:
            yield from of_explain(on[VERSIONS[-1]], some)
        if "compare" in tools:
            yield from of_compare(on, some)


@click.command()
@click.argument("sets", nargs=-1)
@click.option("--tool", type=click.Choice(TOOLS), help="One tool alone.")
@click.option("--record", is_flag=True, help="Put the outcomes into data/statements/outcomes.csv.")
def main(sets: tuple[str, ...], tool: str | None, record: bool) -> None:
    """Put the statements of SETS, all by default, through explain and compare."""
    known = {**dict.fromkeys(APPLICATIONS, applications), **SETS}
    if unknown := sorted(set(sets) - known.keys()):
        raise click.UsageError(f"no set is called {unknown[0]}; there are {', '.join(known)}")
    found: list[Outcome] = []
    with started() as on:
        for name in sets or known:
            some = next(applications([name])) if name in APPLICATIONS else SETS[name]()
            tools = TOOLS if tool is None else (tool,)
            of_set = list(measure(on, [some], tools))
            found += of_set
            for each in of_set:
                if each.outcome == WRONG:
                    click.echo(f"{each.set} {each.statement} {each.tool}: {each.reason}")
            if record:
                kept = [each for each in read() if each.set != name or each.tool not in tools]
                _write(kept + of_set, list(known))
    for row in table(found):
        click.echo("{:10} {:8} {:4} equal {:4} refused {:4} differ {:4} wrong".format(*row))


def _write(found: Sequence[Outcome], order: Sequence[str]) -> None:
    with _file().open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Outcome)], lineterminator="\n")
        writer.writeheader()
        in_order = sorted(found, key=lambda each: (order.index(each.set), TOOLS.index(each.tool)))
        writer.writerows(map(asdict, in_order))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
