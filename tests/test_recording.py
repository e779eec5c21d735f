"""`engineroom record`: what is chosen, where it is simulated, and what is said of a name that nobody has."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import os
import signal
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from engineroom import paths, recording, runs, servers
from engineroom.errors import EngineRoomError
from engineroom.ledger.claims import figures
from engineroom.ledger.rows import rows
from engineroom.ledger.verdicts import fragile, judge
from engineroom.machine import presets
from engineroom.recording import recipes, record
from engineroom.runs import Run
from engineroom.simulating.executors import HERE
from engineroom.simulating.experiment import Experiment, Together
from engineroom.simulating.variations import varied

MACHINES = paths.data() / "machine"


def measured(_point, given):
    return {"nanoseconds": given.machine["switch_ps"], "load": json.dumps(given.load)}


ONE_POINT = Experiment(
    figure="num-deg-3",
    says="made up",
    points={"threads": (1,), "series": ("mtr_5_7",)},
    measure=measured,
    load={
        "statements": 1,
        "away_ns": 100,
        "flush_every": 0,
        "dirty_percent": 80,
        "demands": {"a": 7},
        "holds": {"log": {"8.0": {"reserve_ns": 40}}, "is_measured": True},
    },
    machine="four_sockets_176",
    columns={},
)


@pytest.fixture
def given(empty_book, monkeypatch):
    """A book whose two recipes say by which arguments they were called."""
    calls = []
    (empty_book / "data" / "machine").symlink_to(MACHINES)

    class Counted(Experiment):
        def __call__(self, **arguments):
            calls.append(arguments)
            return super().__call__(**arguments)

    simulated = Counted(
        **{each.name: getattr(ONE_POINT, each.name) for each in dataclasses.fields(ONE_POINT)}
    )

    def measured():
        calls.append({})
        return [Run(f"num-deg-{n}", "kernel", ONE_POINT().table, {}) for n in (3, 4)]

    known = {("redo_log", "num-deg-3", "sim"): simulated, ("redo_log", "num-deg-3", "kernel"): measured}
    monkeypatch.setattr(recording, "recipes", lambda: known)
    also = {("redo_log", "num-deg-3", "kernel"): ("num-deg-4",)}
    monkeypatch.setattr(recording, "made_together", lambda: also)
    monkeypatch.setenv("ENGINEROOM_JOBS", "1")
    monkeypatch.setattr(recording, "_load", lambda: 0.0)
    return calls


def said(*arguments):
    done = CliRunner().invoke(record, arguments)
    if isinstance(done.exception, EngineRoomError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done.stdout


def test_what_can_be_recorded_is_listed_and_nothing_is_done(given):
    assert said("--list") == "num-deg-3 by sim (redo_log)\nnum-deg-3, num-deg-4 by kernel (redo_log)\n"
    assert given == []


def test_every_run_of_a_recipe_is_kept(given):
    assert "num-deg-3.kernel.1.csv, num-deg-4.kernel.1.csv" in said("redo_log", "--method", "kernel")
    assert given == [{}]


def test_a_figure_that_is_made_with_another_is_recorded_by_its_own_name(given):
    assert "num-deg-4.kernel.1.csv" in said("num-deg-4")
    assert given == [{}]


def test_servers_of_ones_own_are_measured_where_a_recipe_takes_them(given, monkeypatch):
    monkeypatch.setattr(
        recording,
        "recipes",
        lambda: {
            ("redo_log", "num-deg-3", "live"): lambda *, versions: (
                given.append(versions) or Run("num-deg-3", "live", ONE_POINT().table, {})
            )
        },
    )
    said("num-deg-3", "--server", "8.0.40", "--server", "8.4")
    assert given == [("8.0.40", "8.4")]


def test_a_recipe_with_servers_of_its_own_refuses_others(given):
    with pytest.raises(EngineRoomError, match=r"num-deg-3 by kernel \(redo_log\) has servers of its own"):
        said("num-deg-3", "--method", "kernel", "--server", "8.4")
    assert given == []


@pytest.mark.parametrize(("loads", "waited_s"), [([1.7, 1.6, 1.4], 2), ([9.0], recording.WAIT_S)])
def test_the_load_of_the_figure_before_is_waited_for(given, monkeypatch, loads, waited_s):
    """And a machine that others use is measured on all the same, with what is said of it."""
    seen, waits = iter(loads), []
    monkeypatch.setattr(recording, "_load", lambda: next(seen, loads[-1]))
    # Of this module alone: whoever waits for a child process sleeps, too.
    clock = SimpleNamespace(sleep=waits.append, monotonic=time.monotonic)
    monkeypatch.setattr(recording, "time", clock)
    said("redo_log")
    assert sum(waits) == waited_s
    assert len(given) == 2


def test_nothing_is_kept_of_a_recipe_that_makes_other_figures_than_it_says(given, monkeypatch):
    monkeypatch.setattr(recording, "made_together", dict)
    with pytest.raises(EngineRoomError, match=r"made num-deg-3, num-deg-4, and nothing was kept"):
        said("num-deg-3", "--method", "kernel")
    assert given == [{}]
    assert runs.latest("num-deg-3", "kernel") is None


@pytest.mark.live
@pytest.mark.parametrize("killed", ["keeper", "pid"])
def test_a_server_that_is_killed_while_a_figure_is_recorded_ends_in_a_message(given, monkeypatch, killed):  # noqa: ARG001
    def measured():
        with servers.start("9.7") as server, contextlib.closing(server.connect()) as connection:
            os.kill(int((server._instance.folder / killed).read_text()), signal.SIGKILL)
            cursor = connection.cursor()
            for _ in range(1000):
                cursor.execute("SELECT SLEEP(0.01)")
                cursor.fetchall()

    monkeypatch.setattr(recording, "recipes", lambda: {("redo_log", "num-deg-3", "live"): measured})
    with pytest.raises(EngineRoomError, match=r"MySQL 9\.7.* died or was stopped during a measurement"):
        said("num-deg-3")
    assert runs.latest("num-deg-3", "live") is None


def test_every_judged_row_of_the_ledger_can_be_recorded_by_its_name():
    names = {
        (figure, method)
        for (chapter, first, method) in recipes()
        for figure in (first, *recording.made_together().get((chapter, first, method), ()))
    }
    judged = {(row.figure, row.method) for row in rows() if row.method is not None}
    assert judged <= names


def test_a_simulated_recipe_has_an_executor_and_only_that(given):
    said("num-deg-3", "--method", "sim")
    assert given == [{"executor": HERE}]
    assert runs.latest("num-deg-3", "sim").table["nanoseconds"].nunique() == 1
    assert "varied" not in runs.latest("num-deg-3", "sim").tables


@pytest.fixture
def few_estimates(monkeypatch):
    """A machine of fewer numbers that nobody measured: each variation takes its time."""
    monkeypatch.setattr(presets.Preset, "uncertain", lambda _: ("pause_ps", "switch_ps", "wake_ps"))


@pytest.mark.usefixtures("few_estimates")
def test_estimates_of_the_machine_that_a_run_names_are_varied(given):
    said("num-deg-3", "--method", "sim", "--vary", "--jobs", "1")
    varied = runs.latest("num-deg-3", "sim").tables["varied"]
    usual = runs.latest("num-deg-3", "sim").table["nanoseconds"][0]
    by = varied.set_index(["parameter", "factor"])["nanoseconds"]
    assert (by["switch_ps", 0.5], by["switch_ps", 1.5]) == (0.5 * usual, 1.5 * usual)
    assert all(arguments["executor"] is HERE for arguments in given)


@pytest.mark.usefixtures("few_estimates")
def test_each_number_of_the_load_is_varied_where_it_can_be(given):
    """A half of one statement is one, nothing stays nothing, and a share is at most all."""
    said("num-deg-3", "--method", "sim", "--vary", "--jobs", "1")
    varied = runs.latest("num-deg-3", "sim").tables["varied"]
    rows = varied[varied["parameter"].str.startswith("load.")]
    found = {
        (name, factor): json.loads(load)[name.removeprefix("load.")]
        for name, factor, load in zip(rows["parameter"], rows["factor"], rows["load"], strict=True)
    }
    assert found == {
        ("load.statements", 1.5): 2,
        ("load.away_ns", 0.5): 50,
        ("load.away_ns", 1.5): 150,
        ("load.dirty_percent", 0.5): 40,
        ("load.dirty_percent", 1.5): 100,
        ("load.holds", 0.5): {"log": {"8.0": {"reserve_ns": 20}}, "is_measured": True},
        ("load.holds", 1.5): {"log": {"8.0": {"reserve_ns": 60}}, "is_measured": True},
    }
    assert not [arguments for arguments in given if "load" in arguments and arguments["machine"] is None]


def flushed(point, given):
    """Falls from three clients on, on two of the varied machines rises."""
    clients = point["concurrency"]
    rises = given.machine["pause_ps"] > 47_000 or given.machine["switch_ps"] < 1_000_000
    falls = {1: 2, 2: 5, 3: 9}.get(clients, 30 / clients) if point["series"] == "flushes" else 1
    return {"flushes_per_transaction": clients if rises else falls}


@pytest.mark.usefixtures("few_estimates")
def test_of_a_varied_machine_only_what_claims_read_is_simulated_and_the_verdicts_are_the_same():
    made = Experiment(
        figure="fig-7-06",
        says="made up",
        points={"concurrency": (1, 2, 3, 10, 50, 200), "series": ("flushes", "old_redo", "5.6")},
        measure=flushed,
        load={"statements": 1},
        machine="four_sockets_176",
        columns={},
    )
    run = recording._simulated(made, HERE, vary=True)
    whole = varied(made(executor=HERE), made, executor=HERE)
    one = run.tables["varied"].query("parameter == 'wake_ps' and factor == 0.5")
    assert len(whole.tables["varied"].query("parameter == 'wake_ps' and factor == 0.5")) == 18
    assert {*zip(one["series"], one["concurrency"], strict=True)} == {
        ("old_redo", 3),
        *(("flushes", n) for n in (1, 2, 3, 10, 50, 200)),
    }
    assert judge(run) == judge(whole)
    assert fragile(run) == fragile(whole)
    flips = fragile(run)
    assert {each.partition(":")[0] for each in flips} == {"pause_ps x 1.5", "switch_ps x 0.5"}


def test_every_point_is_varied_where_its_rows_are_called_otherwise():
    made = dataclasses.replace(ONE_POINT, points={"threads": (1,), "series": ("mtr_5_7", "other")})
    run = made(executor=HERE)
    claimed = recording._claimed(run.table["series"], made, {"num-deg-3": None})
    assert [
        claimed(point) for point in ({"threads": 1, "series": "mtr_5_7"}, {"threads": 1, "series": "other"})
    ] == [
        True,
        False,
    ]
    assert recording._claimed(run.table["series"], made, {"own-redo-throughput": None}) is None
    assert recording._claimed(["renamed"], made, {"num-deg-3": None}) is None


def test_every_simulated_figure_is_simulated_on_the_machine_that_was_compared():
    seen = {}
    known = recipes()
    recording._configuration(lambda **given: seen.update(given), known, executor=HERE)
    simulated = {figure for _, figure, by in known if by == "sim" and figure in figures()}
    assert {getattr(each.how, "whole", each.how).figure for each in seen["asked"]} == simulated
    assert seen["compared"].figure == "own-machine-real"


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        (["num-deg-33"], "did you mean num-deg-3 or num-deg-4?"),
        (["redo-log", "num-deg-3"], "did you mean redo_log?"),
        (["zzz"], "`engineroom record --list` shows what there is"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(given, asked, hint):
    with pytest.raises(EngineRoomError, match=f"nothing to record under '{asked[0]}'") as error:
        said(*asked)
    assert error.value.remedy.startswith(hint)
    assert given == []


def test_a_cluster_and_a_number_of_jobs_are_refused_before_anything_is_measured(given):
    with pytest.raises(EngineRoomError, match="both a cluster and a number of jobs"):
        said("--all", "--jobs", "2", "--executor", "tcp://127.0.0.1:1")
    with pytest.raises(EngineRoomError, match="nothing was chosen"):
        said()
    assert given == []


@pytest.mark.parametrize(("key", "how"), recipes().items(), ids=[" ".join(key) for key in recipes()])
def test_a_recipe_needs_no_argument_and_a_simulated_one_is_declared(key, how):
    parameters = inspect.signature(how).parameters.values()
    assert [p.name for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD] == []
    # What the book simulates for itself may be no grid of points, as the studies of others.
    declared = how.whole if isinstance(how, Together) else how
    is_declared = isinstance(declared, Experiment)
    assert is_declared or key[2] != "sim" or key[1].startswith("own-")
    if is_declared:
        assert key[2] == "sim"
        assert (declared.figure, declared.says[:1].isupper()) == (key[1], False)


def test_by_default_as_much_is_simulated_at_once_as_there_are_processors(monkeypatch):
    from engineroom.simulating.executors import jobs_by_default

    monkeypatch.delenv("ENGINEROOM_JOBS", raising=False)
    assert 1 <= jobs_by_default() <= (os.cpu_count() or 1)
