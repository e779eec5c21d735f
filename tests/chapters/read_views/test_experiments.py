"""The read views' experiments: small runs of each, and live servers against the kernel."""

from __future__ import annotations

import pytest

from engineroom.chapters.read_views.experiments import histories, isolation, live, simulated, statements
from engineroom.errors import EngineRoomError


def test_histories_are_clean_without_a_mistake_and_name_what_a_mistake_does() -> None:
    rows = histories.histories_kernel(runs=20).table.set_index(["series", "mistake"])
    assert set(rows.xs("none", level="mistake").index) == set(histories.DESIGNS)
    assert (rows.xs("none", level="mistake")["failures"] == 0).all()
    assert rows.loc[("9.7", "reuses_stale"), "wrong_reads"] > 0
    assert rows.loc[("5.7", "purge_clones_newest"), "purge_too_far"] > 0


# Live on each server.
UPDATES = {
    "5.6": {False: (4, 0, 0), True: (6, 0, 0)},
    "5.7": {False: (4, 0, 0), True: (6, 0, 0)},
    "8.0.15": {False: (3, 0, 0), True: (4, 0, 0)},
    "8.0.31": {False: (2, 2, 2), True: (3, 2, 2)},
    "9.7": {False: (2, 2, 2), True: (3, 2, 2)},
}


@pytest.mark.parametrize("version", UPDATES)
@pytest.mark.parametrize("has_binlog", [False, True])
def test_the_kernel_takes_the_latches_of_an_update_as_often_as_the_server(
    version: str, has_binlog: bool
) -> None:
    seen = statements.by_kernel(version, "update", level="REPEATABLE READ", has_binlog=has_binlog)
    assert tuple(seen[name] for name in statements.LATCHES) == UPDATES[version][has_binlog]


@pytest.mark.live
@pytest.mark.parametrize("version", statements.VERSIONS)
def test_every_statement_takes_as_many_latches_on_the_server_as_in_the_kernel(version: str) -> None:
    run = statements.statements_live(versions=(version,), repetitions=50)
    assert len(run.table) == 2 * 2 * 7
    for name in statements.LATCHES:
        assert run.table[name].tolist() == run.table[f"kernel_{name}"].tolist(), name


@pytest.mark.parametrize("anomaly", isolation.ANOMALIES, ids=lambda each: each.name)
def test_each_level_rules_out_what_it_is_known_for(anomaly: isolation.Anomaly) -> None:
    allowed = {
        "dirty read": 1,
        "fuzzy read": 2,
        "phantom": 2,
        "lost update": 3,
        "write skew": 3,
        "read-only anomaly": 3,
    }[anomaly.name]
    seen = [isolation.by_kernel(anomaly, level) == isolation.SEEN for level in isolation.LEVELS]
    assert seen == [at < allowed for at in range(len(isolation.LEVELS))]


@pytest.mark.live
def test_servers_show_the_anomalies_that_the_kernel_shows() -> None:
    table = isolation.anomalies_live(versions=("5.7", "9.7")).table
    of = table.pivot(index=["level", "anomaly"], columns="series", values="outcome")
    assert (of["5.7"] == of["kernel"]).all()
    assert (of["9.7"] == of["kernel"]).all()


@pytest.mark.live
@pytest.mark.slow
def test_purge_pays_for_the_views_of_idle_sessions() -> None:
    run = live.idle_sessions_live(idle=(0, 400), repeats=1, seconds=0.3, versions=("5.7",))
    assert run.table["idle_sessions"].tolist() == [0, 400]
    assert (run.table["batches"] > 0).all()


def test_more_sessions_than_a_user_may_have_files_are_refused_before_a_server_starts() -> None:
    with pytest.raises(EngineRoomError, match="open files, and this user may have") as error:
        live.idle_sessions_live(idle=(2**40,))
    assert "nofile" in error.value.remedy


def test_a_list_of_kept_views_grows_with_the_sessions() -> None:
    run = simulated.list_length_sim(sessions=(200,), seeds=(1,), first_ms=20, longest_ms=20, warmup_ms=200)
    of = run.table.set_index("series")["views"]
    # Every fifth session wrote last, which takes its view out of the list; some have not read yet.
    assert of["kept"] > 100
    assert of["closed"] > 90
    assert of["removed_at_once"] < 50


def test_response_and_throughput_have_the_columns_of_their_claims() -> None:
    window = {"first_ms": 2, "longest_ms": 2, "warmup_ms": 1}
    response = simulated.walk_sim(sessions=(50,), walk_ns=(20,), seeds=(1,), **window)
    assert set(response.table["series"]) == {"kept", "removed_at_once"}
    busy = simulated.read_only_sim(series=("kept", "before_5_7"), seeds=(1,), **window)
    assert (busy.table["relative_throughput"] > 0).all()
