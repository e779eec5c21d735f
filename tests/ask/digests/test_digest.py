"""Where the time of a slow log went: counts, groups, times and forms of `engineroom digest`."""

from __future__ import annotations

import json
from collections import Counter
from unittest.mock import Mock

import pytest
from click.testing import CliRunner

from engineroom import progress
from engineroom.ask.digests import cli
from engineroom.ask.digests.counting import counted
from engineroom.ask.digests.slow_log import Event
from engineroom.errors import EngineRoomError


def event(day: int, who: str, database: str, seconds: float, statement: str) -> str:
    return (
        f"# Time: 2026-01-{day:02d}T10:00:00.5Z\n# User@Host: {who}[{who}] @ host{day} []  Id: 1\n"
        f"# Query_time: {seconds}  Lock_time: 0.5 Rows_sent: 2  Rows_examined: 100\nuse {database};\n{statement};\n"
    )


LOG = (
    event(1, "app", "shop", 95.1, "CALL nightly(17)")
    + event(2, "app", "shop", 60, "COMMIT")
    + event(2, "etl", "dw", 1, "SELECT id FROM acct WHERE bal > 5")
    + event(3, "etl", "dw", 2, "select id from acct where bal > -5")
    + "# Query_time: 1.2.3  Lock_time: 0 Rows_sent: 0  Rows_examined: 0\nSELECT 1;\n"
)


@pytest.fixture
def log(tmp_path):
    (tmp_path / "slow.log").write_text(LOG)
    return str(tmp_path / "slow.log")


def run(*arguments: str) -> str:
    return CliRunner().invoke(cli.digest, arguments, catch_exceptions=False).output


def test_the_json_has_counts_shares_times_and_rows(log):
    found = json.loads(run(log, "--format", "json"))
    assert (found["events"], found["log_s"], found["first_at"]) == (4, 158.1, "2026-01-01 10:00:00")
    assert found["skipped"] == {"an event without a Query_time in seconds": 1}
    assert [each["digest"] for each in found["groups"]] == [
        "call nightly",
        "commit",
        "select id from acct where bal > ?",
    ]
    assert found["groups"][2] == {
        "digest": "select id from acct where bal > ?",
        "count": 2,
        "share": round(3 / 158.1, 6),
        "log_s": 3.0,
        "p50_s": 1.0,
        "p95_s": 2.0,
        "max_s": 2.0,
        "lock_s": 1.0,
        "rows_sent": 4,
        "rows_examined": 200,
        "longest_statement": "select id from acct where bal > -5",
    }


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("user", {"app": 155.1, "etl": 3.0}),
        ("host", {"host1": 95.1, "host2": 61.0, "host3": 2.0}),
        ("db", {"shop": 155.1, "dw": 3.0}),
    ],
)
def test_time_is_counted_by_user_host_and_database(by, groups, log):
    found = json.loads(run(log, "--by", by, "--format", "json"))
    assert {each[by]: each["log_s"] for each in found["groups"]} == groups


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        (["--since", "2026-01-02"], 63),
        (["--until", "2026-01-02"], 95.1),
        (["--since", "2026-01-02T10:00:00", "--until", "2026-01-03 10:00:00"], 61),
        (["--since", "2026-01-03T09:59"], 2),
        (["--until", "2027-01-01"], 158.1),
    ],
)
def test_events_are_counted_from_a_time_and_until_one(times, seconds, log):
    assert json.loads(run(log, *times, "--format", "json"))["log_s"] == seconds


def test_the_text_has_a_line_per_digest_and_says_what_is_not_in_it(log):
    lines = run(log, log, "--top", "2").splitlines()
    assert lines[0].endswith("8 statements took 316.200 s, 2026-01-01 10:00:00 to 2026-01-03 10:00:00")
    cells = "#1 60.2% 190.200 s 2 95.100 s 95.100 s 95.100 s 1.000 s 200 4 50"
    assert " ".join(lines[3].split()) == cells
    assert lines[-2:] == [
        "Skipped or mended: an event without a Query_time in seconds, 2 times.",
        "1 further lines took 6.000 s; --top 3 shows all.",
    ]


def test_the_page_escapes_what_came_from_the_log(tmp_path):
    (tmp_path / "slow.log").write_text(
        event(1, "<b>", "d", 1, "SELECT `<script>` FROM t WHERE a = '\x1b[31m'")
    )
    page = run(str(tmp_path / "slow.log"), "--format", "html")
    assert "<script>" not in page
    assert "select `&lt;script&gt;` from t where a = ?" in page
    assert "\x1b" not in page


@pytest.mark.parametrize("text", ["", "SELECT 1;\n", "\0" * 5000, "# Time: x\n" * 50, LOG[:100]])
def test_a_file_that_is_no_slow_log_is_refused(text, tmp_path):
    (tmp_path / "no.log").write_text(text)
    with pytest.raises(EngineRoomError, match="holds no event of a slow log"):
        run(str(tmp_path / "no.log"))


@pytest.mark.parametrize("time", ["yesterday", "2026-13-01", "25:00", "", "20260101T99"])
def test_a_time_that_is_none_is_refused(time, log):
    assert "does not match the formats" in run(log, "--since", time)


def test_memory_is_bounded_by_counting_rare_digests_as_one():
    events = [
        Event(f"SELECT {name} FROM t", 1.0 + (name == "a")) for name in ["a", *map(chr, range(98, 118))] * 9
    ]
    found = counted(events, Counter(), most_held=12_000)
    assert found.groups[0].name == "select a from t"
    assert found.groups[0].log_s == 18
    assert found.rare.count + sum(each.count for each in found.groups) == len(events) == found.events


def test_a_bar_follows_the_bytes_and_is_drawn_after_two_seconds(log, monkeypatch):
    bars = []
    monkeypatch.setattr(progress, "bar", lambda **how: bars.append((how, Mock())) or bars[-1][1])
    run(log)
    ((how, bar),) = bars
    assert (how["total"], how["delay"]) == (len(LOG), 2)
    assert sum(call.args[0] for call in bar.update.call_args_list) == len(LOG)
    bar.close.assert_called_once()


@pytest.mark.parametrize(("limit", "said"), [("10", 10), ("1", 1), ("0", 1), ("x", 1), ("9" * 30, 1)])
def test_a_log_that_the_server_sampled_is_said_to_be_one(tmp_path, limit, said):
    head = "# Query_time: 1  Lock_time: 0 Rows_sent: 0  Rows_examined: 0\n"
    (tmp_path / "slow.log").write_text(
        f"{head}# Log_slow_rate_type: query  Log_slow_rate_limit: {limit}\nSET timestamp=1714979289.5;\nSELECT 1;\n"
    )
    run = CliRunner().invoke(cli.digest, [str(tmp_path / "slow.log")])
    assert ("wrote one of 10 (log_slow_rate_limit)" in run.output) == (said == 10)
    found = json.loads(
        CliRunner().invoke(cli.digest, [str(tmp_path / "slow.log"), "--format", "json"]).output
    )
    assert (found["one_of"], found["groups"][0]["digest"]) == (said, "select ?")
