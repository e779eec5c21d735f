"""The recorded outcomes are complete and none is wrong but one that is mended; a sample of each set gives them again (all: `python -m engineroom.ask.compare.corpus`)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import frictionless
import pytest
from click.testing import CliRunner

from engineroom import paths, servers
from engineroom.ask.compare import benchmarks, corpus
from engineroom.ask.compare.benchmarks import _filled, _in_mysql
from engineroom.ask.compare.corpus import (
    APPLICATIONS,
    DIFFER,
    EQUAL,
    REFUSED,
    VERSIONS,
    WRONG,
    Outcome,
    applications,
)
from engineroom.ask.compare.sides import Comparison, Side
from engineroom.errors import EngineRoomError

IN_BENCHMARKS = {"tpch": 22, "tpcds": 103, "job": 113, "ssb": 13}
needs_servers = pytest.mark.skipif(
    not all(servers.runnable(version) for version in VERSIONS),
    reason=f"{', '.join(VERSIONS)} do not all run here: engineroom doctor",
)
SAMPLE = slice(0, None, 6)
WRONG_AT_FIRST = {
    ("clinic", 53, "explain")
}  # what came of the clinic's statements when they were tried first, and only then


def test_every_statement_has_an_outcome_of_both_tools_and_one_was_wrong_at_first():
    found = corpus.read()
    counts = {some.name: len(some.statements) for some in applications()}
    assert sum(counts.values()) >= 200
    wanted = {
        (name, number, tool)
        for name, n in (counts | IN_BENCHMARKS).items()
        for number in range(1, n + 1)
        for tool in ("explain", "compare")
    }
    assert {(each.set, each.statement, each.tool) for each in found} == wanted
    assert len(found) == len(wanted)
    assert {
        (each.set, each.statement, each.tool) for each in found if each.outcome == WRONG
    } == WRONG_AT_FIRST
    assert [each for each in found if each.outcome == REFUSED and not each.reason] == []
    assert sum(each.outcome == EQUAL for each in found) > len(found) / 2


def test_the_files_are_described():
    folder = paths.data() / "statements"
    assert frictionless.validate(str(folder / "datapackage.json")).valid
    described = {each["path"] for each in json.loads((folder / "datapackage.json").read_text())["resources"]}
    assert described == {path.name for path in folder.iterdir()} - {"datapackage.json"}
    assert benchmarks.sources().keys() == benchmarks.SETS.keys() == IN_BENCHMARKS.keys()


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("SELECT d + INTERVAL 30 days -- a month\n;", "SELECT d + INTERVAL 30 DAY"),
        ("select date 'x' - interval '90' day (3)", "select date 'x' - interval '90' DAY"),
        (
            "SELECT a FROM t GROUP BY ROLLUP (a, b) ORDER BY a",
            "SELECT a FROM t GROUP BY a, b WITH ROLLUP ORDER BY a",
        ),
        ("SELECT * FROM results_rollup (x)", "SELECT * FROM results_rollup (x)"),
    ],
)
def test_what_mysql_writes_in_another_way_is_rewritten(theirs, ours):
    assert _in_mysql(theirs) == ours


def test_a_template_gets_its_values_and_its_limit():
    template = (
        "-- $ID$\n:x\n:o\nselect * from part where p_size = :2 and p_type like '%:1'\norder by 1;\n:n 100\n"
    )
    filled = _filled(template, ["BRASS", 15])
    assert " ".join(filled.split()) == (
        "select * from part where p_size = 15 and p_type like '%BRASS' order by 1 LIMIT 100"
    )
    assert "LIMIT" not in _filled(template.replace("100", "-1"), ["BRASS", 15])


def test_outcomes_follow_from_what_the_versions_answered():
    def side(version: str, digest: str | None) -> Side:
        refused = None if digest else f"1064: no; check the manual near 'SELECT {version}'"
        return Side(version=version, note="", digest=digest, digest_in_order=digest, refused=refused)

    def outcome(*digests: str | None) -> Outcome:
        sides = tuple(side(version, digest) for version, digest in zip(VERSIONS, digests, strict=True))
        return corpus._compared(
            "x",
            1,
            Comparison(
                statement="", sides=sides, equal_settings={}, repeats=1, made_rows=None, provenance={}
            ),
        )

    assert outcome("a", "a", "a") == Outcome("x", 1, "compare", EQUAL, "5.7 8.0.15 9.7", None, "")
    assert outcome(None, "a", "a") == Outcome("x", 1, "compare", EQUAL, "8.0.15 9.7", None, "5.7: 1064: no")
    assert outcome(None, "a", None).outcome == REFUSED
    assert outcome("a", "b", "a").outcome == WRONG


@pytest.fixture(scope="module")
def on() -> Iterator[dict[str, servers.Server]]:
    """One server of each version for all sets: their databases have other names, and are dropped."""
    with corpus.started() as running:
        yield running


@pytest.mark.live
@needs_servers
def test_a_difference_of_the_servers_is_told_from_a_wrong_answer(on):
    schema = ("CREATE TABLE t (a INT)",)
    statements = (
        "SELECT a, COUNT(*) FROM t GROUP BY a WITH ROLLUP",
        "SELECT VERSION()",
        "SELECT FOUND_ROWS()",
    )
    two = {version: on[version] for version in VERSIONS[1:]}
    found = corpus.of_compare(two, benchmarks.Statements("x", schema, statements))
    assert [each.outcome for each in found] == [DIFFER, WRONG, REFUSED]
    assert "row of totals" in found[0].reason
    assert "FOUND_ROWS() answers for the statement before it" in found[2].reason


def test_a_set_that_is_not_known_is_refused():
    shown = CliRunner().invoke(corpus.main, ["nosuch"])
    assert "there are shop, forum" in shown.output


def some_of(name: str, part: slice) -> benchmarks.Statements:
    (some,) = applications([name])
    return dataclasses.replace(some, statements=some.statements[part])


def recorded(name: str, tool: str, part: slice) -> list[Outcome]:
    kept = [each for each in corpus.read() if (each.set, each.tool) == (name, tool)][part]
    return [dataclasses.replace(each, statement=number) for number, each in enumerate(kept, start=1)]


@pytest.mark.live
@needs_servers
def test_a_sample_is_explained_as_recorded(on):
    for name in APPLICATIONS:
        assert list(corpus.of_explain(on[VERSIONS[-1]], some_of(name, SAMPLE))) == recorded(
            name, "explain", SAMPLE
        )


@pytest.mark.live
@needs_servers
def test_what_was_wrong_at_first_is_equal_now(on):
    for name, number, _ in WRONG_AT_FIRST:
        (found,) = corpus.of_explain(on[VERSIONS[-1]], some_of(name, slice(number - 1, number)))
        assert found.outcome == EQUAL


@pytest.mark.live
@needs_servers
@pytest.mark.parametrize("name", ["blog", "lending"])
def test_a_sample_is_compared_as_recorded(on, name):
    assert corpus.of_compare(on, some_of(name, SAMPLE)) == recorded(name, "compare", SAMPLE)


@pytest.mark.live
@pytest.mark.slow
@needs_servers
@pytest.mark.parametrize("name", IN_BENCHMARKS)
def test_a_sample_of_a_benchmark_gives_its_recorded_outcomes(name, on):
    try:
        some = benchmarks.SETS[name]()
    except EngineRoomError as error:
        pytest.skip(f"{error.problem}")
    assert len(some.statements) == IN_BENCHMARKS[name]
    numbers = range(1, len(some.statements) + 1)[SAMPLE]
    # How much of a trace was kept, and where a limit of time fell, is in some reasons.
    kept = [
        dataclasses.replace(each, reason="", statement=numbers.index(each.statement) + 1)
        for each in corpus.read()
        if each.set == name and each.statement in numbers
    ]
    sample = dataclasses.replace(some, statements=some.statements[SAMPLE])
    assert [dataclasses.replace(each, reason="") for each in corpus.measure(on, [sample])] == kept
