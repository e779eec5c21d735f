from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from engineroom import chapters, runs
from engineroom.errors import EngineRoomError
from engineroom.ledger import exchange, history, judging, page
from engineroom.ledger.claims import figures
from engineroom.ledger.cli import ledger
from engineroom.ledger.rows import RESCHEDULED, TOKENS, _kept, _made_of, keep, rows
from engineroom.ledger.verdicts import judge
from engineroom.runs import Run

KEYS = {
    "fragile",
    "varied",
    "rescheduled",
    "protocols",
    "reason",
    "repeats",
    "stability",
    "figure",
    "chapter",
    "method",
    "verdict",
    "claims_held",
    "claims_total",
    "origin",
    "recorded_at",
}


def made_up(method: str = "live", *, hash_s: float = 1.0, figure: str = "fig-7-23") -> Run:
    table = pd.DataFrame(
        [
            ("9.7.4", "index_nested_loop", 3.0, 0),
            ("9.7.4", "hash_join", hash_s, 0),
            ("9.7.4", "reversed_order_without_hash", 2.0, 0),
        ],
        columns=["server", "series", "server_cpu_s", "repeat"],
    )
    about = {
        "cores": 2,
        "socket": "/tmp/x/s",
        "servers": {"9.7.4": {"datadir": "/home/ann/d", "build": "a|b"}},
    }
    return Run(figure, method, table, about, summary="min")


def ask(*arguments: str) -> str:
    result = CliRunner().invoke(ledger, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_every_figure_is_open_or_context_before_any_run(empty_book: Path) -> None:  # noqa: ARG001
    found = rows()
    assert [row.figure for row in found] == list(figures())
    assert {row.verdict for row in found} == {"open", "context"}
    assert {(row.method, row.origin, row.recorded_at, row.claims_held) for row in found} == {
        (None, None, None, 0)
    }
    assert [row.figure for row in found if row.verdict == "context"] == ["fig-7-14", "fig-7-15", "fig-rv-a"]


def test_each_method_has_its_verdict_and_the_newest_run_counts(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    runs.save(made_up(hash_s=1.0), chapter="hash_join")
    runs.save(made_up("kernel", hash_s=9.0), chapter="hash_join")
    found = {row.method: row for row in rows(chapter="hash_join") if row.figure == "fig-7-23"}
    assert {method: row.verdict for method, row in found.items()} == {
        "live": "reproduced",
        "kernel": "contradicted",
    }
    assert (found["live"].claims_held, found["live"].claims_total, found["live"].origin) == (4, 4, "recorded")
    runs.withdraw("fig-7-23", "live", 2, reason="test")
    assert next(row.verdict for row in rows() if row.method == "live") == "contradicted"


def test_kept_rows_are_shown_until_a_recording_is_added_or_withdrawn(empty_book: Path) -> None:
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    file = keep()
    assert file == empty_book / "data" / "recorded" / "ledger.json"
    file.write_text(file.read_text().replace("contradicted", "partly"))
    assert [row.verdict for row in rows() if row.method] == ["partly"], "without judging"
    runs.save(replace(made_up(), figure="own-spill"), chapter="hash_join")
    assert [row.verdict for row in rows() if row.method] == ["partly"], "no verdict is made of it"
    runs.save(made_up(hash_s=1.0), chapter="hash_join")
    assert [row.verdict for row in rows() if row.method] == ["reproduced"]
    ask("withdraw", "fig-7-23", "2", "--reason", "test")
    assert "contradicted" in file.read_text()


def test_the_kept_rows_of_the_book_are_what_the_recordings_give() -> None:
    kept = rows()
    assert kept == judging.rows()
    assert _kept(_made_of()) == kept, "keep them again: engineroom ledger judge"


def test_all_verdicts_are_shown_without_the_packages_that_measure_judge_or_draw() -> None:
    seen = loaded("engineroom.ledger.cli", "engineroom.ledger.rows").split()
    assert not {"pandas", "numpy", "matplotlib", "engineroom.runs", "engineroom._native"} & set(seen)


FIGURES = [each.module("figures") for each in chapters.book().chapters]


@pytest.mark.parametrize("module", ["engineroom.ledger.page", "engineroom.runs", *FIGURES])
def test_what_is_made_of_runs_loads_nothing_that_makes_them(module: str) -> None:
    makers = r"engineroom\.(servers\.(providers|lifecycle)|simulating|measuring|workloads|chapters\.\w+\.experiments)\b"
    assert not re.findall(rf"^{makers}.*", loaded(module), re.MULTILINE)
    assert module in FIGURES or "\nmatplotlib\n" not in loaded(module)


def loaded(*modules: str) -> str:
    """The names of all modules, a line each, of a process that imports these."""
    code = f"import sys, {', '.join(modules)}; print('', *sys.modules, sep='\\n')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_json_is_a_list_of_rows_with_the_agreed_keys(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    held = json.loads(ask("--format", "json"))
    assert len(held) == 48
    assert all(set(row) == KEYS for row in held)
    (row,) = json.loads(ask("--format", "json", "--figure", "fig-7-23"))
    assert (row["method"], row["verdict"], row["origin"]) == ("live", "reproduced", "recorded")
    assert row["recorded_at"].startswith("20")
    assert {row["chapter"] for row in json.loads(ask("--format", "json", "--chapter", "cats"))} == {"cats"}


def test_the_table_for_people_is_aligned_and_plain_off_a_terminal(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    output = ask("--chapter", "hash_join")
    assert "\x1b" not in output
    header, *lines = output.splitlines()[:3]
    column = header.index("verdict")
    assert [line[column:].split()[:2] for line in lines] == [["○", "open"], ["✓", "reproduced"]]


def test_a_figure_shows_each_claim_with_ours_and_published(empty_book: Path) -> None:  # noqa: ARG001
    assert "No run yet" in ask("--figure", "fig-7-23")
    assert "no claim that could be tested" in ask("--figure", "fig-7-14")
    runs.save(made_up(), chapter="hash_join")
    lines = ask("--figure", "fig-7-23").splitlines()
    (magnitude,) = [line for line in lines if " magnitude " in line]
    assert magnitude.split()[:5] == ["index-over-hash", "magnitude", "3", "3.131", "held"]


def test_a_run_can_be_exported_and_judged_again_elsewhere(empty_book: Path, tmp_path: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    file = tmp_path / "mine.json"
    assert "Wrote run 1 of fig-7-23 by live to mine.json" in ask("export", "fig-7-23", "-o", str(file))
    text = file.read_text()
    for private in ("ann", "/tmp", "socket", "/home"):
        assert private not in text
    held = json.loads(text)
    assert (held["verdict"], held["claims_held"], held["provenance"]["cores"]) == ("reproduced", 4, 2)
    assert "reproduced (4 of 4 claims held)" in ask("read", str(file))
    # The verdict in the file is not taken on trust.
    held["table"]["server_cpu_s"] = [1.0, 3.0, 2.0]
    file.write_text(json.dumps(held))
    assert "contradicted" in ask("read", str(file))


def test_an_export_without_a_run_says_what_to_do(empty_book: Path, tmp_path: Path) -> None:  # noqa: ARG001
    with pytest.raises(EngineRoomError, match="engineroom record"):
        exchange.export("fig-7-23", "live", tmp_path / "x.json")
    with pytest.raises(EngineRoomError, match="no figure of the sources"):
        ask("export", "fig-7-99", "-o", str(tmp_path / "x.json"))
    runs.save(made_up(), chapter="hash_join")
    with pytest.raises(EngineRoomError, match=r"(?s)absent/x.json cannot be written.*a folder that exists"):
        ask("export", "fig-7-23", "-o", str(tmp_path / "absent" / "x.json"))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "another"}', "\x00"])
def test_a_file_that_is_no_export_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(EngineRoomError, match=r"x\.json"):
        exchange.load(file)


def test_withdrawing_by_command_needs_a_reason(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    assert CliRunner().invoke(ledger, ["withdraw", "fig-7-23", "1"]).exit_code != 0
    assert "no longer counts" in ask("withdraw", "fig-7-23", "1", "--reason", "index missing")
    assert runs.latest("fig-7-23", "live") is None


def test_the_page_has_every_figure_once_and_a_sign_beside_each_verdict(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    lines = page.markdown().splitlines()
    for id in figures():
        assert lines.count(f"* - {id}") == 1
    assert lines[lines.index("* - fig-7-23") + 1].startswith(
        "  - **✓ reproduced** by live, 4 of 4 claims held (recorded 20"
    )
    assert lines[lines.index("* - fig-7-22") + 1] == "  - ○ open, 1 claim to test"
    assert lines[lines.index("* - fig-7-14") + 1] == "  - · context"
    assert len(set(TOKENS.values())) == len(TOKENS)


def test_the_page_says_how_many_runs_there_are(empty_book: Path) -> None:  # noqa: ARG001
    for _ in range(3):
        runs.save(made_up(), chapter="hash_join")
    runs.withdraw("fig-7-23", "live", 3, reason="test")
    assert ", newest of 3, 1 withdrawn)" in page.markdown()


def test_the_page_links_a_figure_only_to_a_lab_cell_that_exists(empty_book: Path) -> None:
    assert "](#" not in page.markdown()
    (empty_book / "notebooks").mkdir()
    labels = [f"({each.id})=\n" for each in figures().values()]
    (empty_book / "notebooks" / "elsewhere.md").write_text("".join(labels))
    assert labels
    assert "](#" not in page.markdown()  # the lab is not a page of the book
    (empty_book / "notebooks" / "hash_join.md").write_text("(fig-7-22)=\n")
    assert "* - [fig-7-22](#fig-7-22)\n" in page.markdown()
    assert "* - fig-7-23\n" in page.markdown()


def test_the_page_counts_what_it_lists(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(), chapter="hash_join")
    counts = page.summary()
    assert (counts["figures"], counts["decided"], counts["open"], counts["reproduced"]) == (48, 1, 44, 1)


def test_the_page_shows_the_claims_of_figures_that_have_a_run(empty_book: Path) -> None:  # noqa: ARG001
    assert page.claims_markdown() == "No figure has a run yet.\n"
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    text = page.claims_markdown("fig-7-23")
    assert text.startswith("**fig-7-23 by live, recorded 20")
    assert (
        "* - index nested loop / hash join, each on its best server (direction)\n  - 3.131\n  - 0.333\n  - not held\n"
        in text
    )
    assert page.claims_markdown() == text


def test_a_claim_that_reads_a_point_which_had_not_settled_says_so(empty_book: Path) -> None:  # noqa: ARG001
    run = made_up(hash_s=1.0)
    marked = run.table.assign(is_settled=[1, 0, 0], half_width_percent=[1.0, 12.4, 88.0])
    text = claims_of(run.with_table(marked))
    assert "\n  - 3.131\n  - 3 (not settled, ±12 %)\n" in text  # the third row's series is not read
    assert "not settled" not in claims_of(run.with_table(marked.assign(is_settled=1)))
    assert "not settled" not in claims_of(run)


def claims_of(run: Run) -> str:
    return page._claims_table(run, judge(run))


def test_a_run_on_a_busy_machine_is_kept_and_decides_nothing(empty_book: Path) -> None:  # noqa: ARG001
    quiet, busy = {"load_before": 0.3, "steal_percent": 0.0}, {"load_before": 4.9, "steal_percent": 0.4}
    runs.save(replace(made_up(hash_s=9.0), provenance={"during": busy}), chapter="hash_join")
    (row,) = (row for row in rows() if row.method is not None)
    assert (row.verdict, row.stability) == ("not_attributable", None)
    assert row.reason == "the machine was busy: load 4.9 before it, of at most 1.5"
    runs.save(replace(made_up(hash_s=1.0), provenance={"during": quiet}), chapter="hash_join")
    runs.save(replace(made_up(hash_s=9.0), provenance={"during": busy}), chapter="hash_join")
    (row,) = (row for row in rows() if row.method is not None)
    assert (row.verdict, row.reason) == ("reproduced", None)
    (only,) = row.protocols
    assert [(each["n"], each["verdict"]) for each in only["recordings"]] == [
        (1, "contradicted"),
        (2, "reproduced"),
        (3, "contradicted"),
    ]
    assert [each["set_aside"] is None for each in only["recordings"]] == [False, True, False]


def test_each_protocol_has_its_recordings_and_the_withdrawn_ones_keep_their_verdict(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    runs.withdraw("fig-7-23", "live", 1, reason="the index was missing")
    runs.save(replace(made_up(), summary="median"), chapter="hash_join")
    runs.save(replace(made_up(), summary="median"), chapter="hash_join")
    (row,) = (row for row in rows() if row.method is not None)
    first, second = row.protocols
    assert first["recordings"] == [
        {"n": 1, "verdict": "contradicted", "set_aside": "withdrawn: the index was missing"}
    ]
    assert [each["n"] for each in second["recordings"]] == [2, 3]
    assert [each.changes for each in history.recordings("fig-7-23", "live")] == [
        (),
        ("summary min to median",),
        (),
    ]
    assert "changed with run 2: summary min to median" in ask("protocols", "fig-7-23")
    with pytest.raises(EngineRoomError, match="engineroom record fig-7-22 --method live"):
        ask("protocols", "fig-7-22")


def test_export_never_takes_a_withdrawn_run_unless_it_is_asked_for_by_number(
    empty_book: Path,  # noqa: ARG001
    tmp_path: Path,
) -> None:
    for hash_s in (1.0, 9.0):
        runs.save(made_up(hash_s=hash_s), chapter="hash_join")
    runs.withdraw("fig-7-23", "live", 2, reason="test")
    assert exchange.export("fig-7-23", "live", tmp_path / "x.json").n == 1
    assert exchange.export("fig-7-23", "live", tmp_path / "x.json", n=2).n == 2
    runs.withdraw("fig-7-23", "live", 1, reason="test")
    with pytest.raises(EngineRoomError, match=r"no recorded run of fig-7-23 by live \(there are: 1, 2\)"):
        exchange.export("fig-7-23", "live", tmp_path / "x.json")


def test_a_chapter_shows_its_verdicts_with_their_stability_and_protocols(empty_book: Path) -> None:  # noqa: ARG001
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    runs.save(replace(made_up(), summary="median"), chapter="hash_join")
    lines = page.verdicts_markdown("hash_join").splitlines()
    at = lines.index("* - fig-7-23 by live")
    assert lines[at + 1 : at + 4] == [
        "  - ✓ reproduced, 4 of 4 claims",
        "  - a single repeat, nothing to resample",
        "  - 2: contradicted, then reproduced",
    ]
    assert "no run" not in "".join(lines)


def test_a_chapter_says_where_the_scheduling_held_against_threads_turns_a_verdict(empty_book: Path) -> None:  # noqa: ARG001
    run = made_up("sim")
    runs.save(run, chapter="hash_join")
    said = "with [the scheduler that was compared with real threads](machine-real) (one seed): fig-7-23 ✗ contradicted."
    assert said not in page.verdicts_markdown("hash_join")
    for hash_s, count in ((1.0, 0), (9.0, 1)):
        table = made_up("sim", hash_s=hash_s).table
        other = replace(run, figure=RESCHEDULED, tables={run.figure: table})
        runs.save(other, chapter="machine")
        assert page.verdicts_markdown("hash_join").count(said) == count


def test_a_chapter_says_what_was_changed_where_a_verdict_was_another(empty_book: Path) -> None:  # noqa: ARG001
    assert page.changes_markdown("hash_join") == "- No verdict of this chapter was ever another one.\n"
    runs.save(made_up(hash_s=9.0), chapter="hash_join")
    runs.save(replace(made_up(), summary="median"), chapter="hash_join")
    for summary in ("min", "median"):
        runs.save(replace(made_up("kernel"), summary=summary), chapter="hash_join")
    assert page.changes_markdown("hash_join").splitlines() == [
        "- **fig-7-23 by live**: recording 1 contradicted; recording 2 reproduced (changed: summary min to median).",
        "- 1 other has had several protocols, and the same verdict under each.",
    ]


def test_the_ledger_names_a_fragile_verdict_and_why_a_recording_does_not_count(empty_book: Path) -> None:  # noqa: ARG001
    scattered = pd.concat(
        made_up(hash_s=hash_s).table.assign(repeat=repeat) for repeat, hash_s in enumerate((1.0, 4.0, 6.0))
    )
    runs.save(made_up().with_table(scattered), chapter="hash_join")
    (row,) = (row for row in rows() if row.method is not None)
    assert row.is_fragile
    assert f"stability {row.stability:.2f}, **fragile**" in page.markdown()
    runs.withdraw("fig-7-23", "live", 1, reason="x_y")
    runs.save(made_up(), chapter="hash_join")
    assert "  - withdrawn: x\\_y\n" in page.claims_markdown()


def test_a_simulated_verdict_that_was_never_varied_says_so(empty_book: Path) -> None:  # noqa: ARG001
    three = pd.concat(made_up("sim").table.assign(repeat=repeat) for repeat in range(3))
    runs.save(made_up().with_table(three), chapter="hash_join")
    runs.save(made_up("sim").with_table(three), chapter="hash_join")
    found = {row["method"]: row for row in json.loads(ask("--format", "json", "--figure", "fig-7-23"))}
    assert {method: row["varied"] for method, row in found.items()} == {"live": None, "sim": 0}
    assert page.markdown().count("stability 1.00, not varied; protocols") == 1
    assert page.verdicts_markdown("hash_join").count("  - 1.00, not varied\n") == 1
    factors = [three.assign(parameter="rmw_ps", factor=factor) for factor in (0.5, 1.5)]
    varied = replace(made_up("sim").with_table(three), tables={"varied": pd.concat(factors)})
    runs.save(varied, chapter="hash_join")
    assert [row.varied for row in rows() if row.method == "sim"] == [2]
    assert "not varied" not in page.markdown()
    assert "the same on every varied machine" in page.markdown()
