"""Every generation runs here and answers; its numbers come with their provenance."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import mysql.connector
import pytest
from click.testing import CliRunner

from engineroom import servers
from engineroom.errors import EngineRoomError
from engineroom.servers import Server, lifecycle, session_status
from engineroom.servers.catalogue import entry_of, release, resolve
from engineroom.servers.cli import server as command
from engineroom.servers.providers import on_path
from engineroom.servers.server import CHARSET

pytestmark = pytest.mark.live

RELEASES = {"5.6": "5.6.24", "5.7": "5.7.22", "8.0.15": "8.0.15", "8.0.31": "8.0.31", "9.7": "9.7."}


@pytest.fixture(scope="module", params=RELEASES)
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    """One private server of each generation."""
    if "unpack" not in servers.runnable(request.param):
        pytest.skip(f"{request.param} cannot be unpacked here")
    with servers.start(request.param, provider="unpack", options={"join_buffer_size": 65536}) as running:
        yield running


def test_it_is_the_release_that_the_catalogue_names(server: Server):
    entry = entry_of(server.version)
    assert entry is not None
    assert server.version.startswith(RELEASES[entry.name])
    assert server.query("SELECT VERSION()")[0][0].startswith(server.version)


def test_a_readers_option_takes_effect(server: Server):
    assert server.query("SELECT @@join_buffer_size") == [(65536,)]


def test_it_listens_on_loopback_and_on_a_private_socket_only(server: Server):
    variables = server.variables()
    assert variables["bind_address"] == "127.0.0.1"
    assert variables["socket"] == server.socket
    assert server.host == "127.0.0.1"


def test_a_foreign_statement_reads_and_writes_no_file(server: Server, tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("mine")
    secret.chmod(0o644)
    assert server.query(f"SELECT LOAD_FILE('{secret}')") == [(None,)]
    with pytest.raises(mysql.connector.Error, match="secure-file-priv"):
        server.query(f"SELECT 1 INTO OUTFILE '{tmp_path}/written'")
    assert not (tmp_path / "written").exists()


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_another_program_can_run_a_private_server(nothing_left: Callable[[], None]):
    with servers.start(
        "5.7", provider="unpack", under=lambda folder: ["env", f"ENGINEROOM_UNDER={folder}"]
    ) as server:
        around = Path(f"/proc/{server.pid}/environ").read_text()
        folder = around.partition("ENGINEROOM_UNDER=")[2].partition("\0")[0]
        assert Path(folder).parent.joinpath("my.cnf").is_file()
    nothing_left()


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_the_x_protocol_listens_on_loopback_only(nothing_left: Callable[[], None]):
    with servers.start("9.7", provider="unpack", options={"mysqlx": "ON"}) as server:
        variables = server.variables()
        assert variables["mysqlx_bind_address"] == "127.0.0.1"
        assert Path(variables["mysqlx_socket"]).parent == Path(server.socket or "").parent
    nothing_left()


def test_root_gets_in_over_tcp_with_the_password_and_nobody_without(server: Server):
    # TLS where the login needs it; what 8.0.15 offers is too old for the client to like.
    plain = {"ssl_disabled": release(server.version) < (8, 0, 31)}
    where = {**plain, "host": server.host, "port": server.port, "user": "root", **CHARSET}
    with mysql.connector.connect(**where, password=server.password) as connection:
        assert connection.is_connected()
    with pytest.raises(mysql.connector.Error):
        mysql.connector.connect(**where, password="")
    assert server.query("SELECT COUNT(*) FROM mysql.user WHERE user = ''") == [(0,)]


def test_cpu_seconds_move_with_a_query(server: Server):
    before = server.cpu_seconds()
    server.query("SELECT BENCHMARK(2000000, 1 + 1)")
    after = server.cpu_seconds()
    assert before is not None
    assert after is not None
    assert after > before


def test_counters_move_with_a_query(server: Server):
    before = server.status()["Com_select"]
    server.query("SELECT 1")
    assert server.status()["Com_select"] > before
    with server.connect() as connection, connection.cursor() as cursor:
        mine = session_status(connection)["Com_select"]
        server.query("SELECT 1")  # another session's
        cursor.execute("SELECT 1")
        cursor.fetchall()
        assert session_status(connection)["Com_select"] == mine + 1


def test_a_connection_speaks_the_same_charset_on_every_generation(server: Server):
    with server.connect() as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT @@collation_connection, @@autocommit, '\N{SNOWMAN}'")
        assert cursor.fetchall() == [("utf8mb4_general_ci", 1, "\N{SNOWMAN}")]


def test_execute_runs_statements_in_order_on_one_connection(server: Server):
    server.execute(
        "CREATE DATABASE IF NOT EXISTS t", "USE t", "CREATE TABLE n (i INT)", "INSERT INTO n VALUES (1), (2)"
    )
    assert server.query("SELECT SUM(i) FROM n", database="t") == [(3,)]
    server.execute("DROP DATABASE t")


def test_provenance_is_complete_and_plain_json(server: Server):
    provenance = json.loads(json.dumps(server.provenance()))
    assert provenance["server_version"].startswith(server.version)
    assert provenance["provider"] == "unpack"
    assert provenance["settings"]["innodb_buffer_pool_size"] == "128M"
    assert provenance["status"]["Uptime"] >= 0
    for name in ("build", "cores", "cpu", "kernel", "storage", "load", "steal_s", "date", "command"):
        assert name in provenance


def test_variables_that_differ_are_those_that_were_set(server: Server):
    differing = server.variables_differing()
    assert differing is not None
    assert differing["join_buffer_size"] == "65536"
    assert "sort_buffer_size" not in differing
    assert "datadir" not in differing
    server.execute("SET GLOBAL sort_buffer_size = 1048576")
    try:
        assert (server.variables_differing() or {})["sort_buffer_size"] == "1048576"
    finally:
        server.execute("SET GLOBAL sort_buffer_size = DEFAULT")


@pytest.mark.parametrize(
    ("feature", "statement"),
    [
        ("explain_tree", "EXPLAIN FORMAT=TREE SELECT 1"),
        ("explain_analyze", "EXPLAIN ANALYZE SELECT 1"),
        ("window_functions", "SELECT ROW_NUMBER() OVER ()"),
        ("common_table_expressions", "WITH one AS (SELECT 1) SELECT * FROM one"),
        ("data_locks", "SELECT COUNT(*) FROM performance_schema.data_locks"),
        ("redo_log_capacity", "SELECT @@innodb_redo_log_capacity"),
        ("log_writer_threads", "SELECT @@innodb_log_writer_threads"),
        ("hypergraph_optimizer", "SET SESSION optimizer_switch = 'hypergraph_optimizer=on'"),
        ("binlog_compression", "SELECT @@binlog_transaction_compression"),
    ],
)
def test_a_feature_is_there_when_the_table_says_so(server: Server, feature: str, statement: str):
    try:
        server.execute(statement)
        works = True
    except mysql.connector.Error:
        works = False
    assert server.supports(feature) == works


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_two_private_servers_do_not_share_anything(nothing_left: Callable[[], None]):
    with servers.start("5.7", provider="unpack") as one, servers.start("5.7", provider="unpack") as other:
        other.execute("CREATE DATABASE only_here")
        assert (one.port, one.socket, one.password) != (other.port, other.socket, other.password)
        assert one.query("SHOW DATABASES LIKE 'only_here'") == []
    nothing_left()


def test_a_version_that_the_archive_does_not_have_is_refused():
    with pytest.raises(EngineRoomError, match=r"the archive has 5\.7\.22"):
        servers.start("5.7.44")


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_a_shared_server_is_one_for_all_until_it_is_stopped(nothing_left: Callable[[], None]):
    def engineroom(*words: str) -> str:
        result = CliRunner().invoke(command, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    try:
        assert "no server runs" in engineroom("status")
        assert "MySQL 5.7.22 by unpack answers" in engineroom("start", "5.7", "--provider", "unpack")
        assert engineroom("start", "5.7") == engineroom("start", "5.7")
        assert engineroom("sql", "5.7", "select version(), null") == "version()\tNULL\n5.7.22\tNULL\n"
        with servers.start("5.7", shared=True) as same:
            pid = same.pid
        (row,) = json.loads(engineroom("status", "--format", "json"))
        assert (row["version"], row["kind"], row["alive"], row["pid"]) == ("5.7.22", "shared", True, pid)

        (named,) = re.findall(r"5\.7:\d+", engineroom("start", "5.7", "-o", "join_buffer_size=65536"))
        assert len(lifecycle.running()) == 2
        several = CliRunner().invoke(command, ["sql", "5.7", "select 1"]).exception
        assert named.replace("5.7:", "5.7.22:") + "  join_buffer_size=65536" in str(several)
        assert engineroom("sql", named, "select @@join_buffer_size").endswith("65536\n")
    finally:
        stopped = engineroom("stop", "--all")
    assert stopped.count("MySQL 5.7.22 stopped") == 2
    assert "no such server was running" in engineroom("stop", "5.7")
    nothing_left()


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_a_dsn_serves_the_series_that_answers_there(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    with servers.start("5.7", provider="unpack") as own:
        address = f"mysql://root:{own.password}@127.0.0.1:{own.port}"
        monkeypatch.setenv("ENGINEROOM_DSN_5_7", address)
        assert servers.runnable("5.7")[0] == "dsn"
        with servers.start("5.7") as server:
            assert (server.provider, server.version, server.pid) == ("dsn", "5.7.22", None)
            assert server.cpu_seconds() is None
            assert server.variables_differing() is None
        assert own.alive(), "a reader's own server is left alone"

        with pytest.raises(EngineRoomError, match="options cannot be set on a server of your own"):
            servers.start("5.7", provider="dsn", options={"join_buffer_size": 1024})

        monkeypatch.delenv("ENGINEROOM_DSN_5_7")
        monkeypatch.setenv("ENGINEROOM_DSN", address)
        with pytest.raises(EngineRoomError, match=r"the server there is 5\.7\.22"):
            servers.start("9.7", provider="dsn")
    nothing_left()


@pytest.mark.usefixtures("sockets")
def test_a_mysqld_on_path_is_taken_before_an_unpacked_one(
    filled_cache: Path, monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    monkeypatch.setenv("PATH", f"{filled_cache}/servers/5.7/bin:{os.environ['PATH']}")
    if "lacks the library" in (refused := on_path.refusal(resolve("5.7")) or ""):
        pytest.skip(refused)  # the unpacked server brings its own, one on PATH has the system's
    with servers.start("5.7") as server:
        assert (server.provider, server.version) == ("on_path", "5.7.22")
        assert server.query("SELECT 1") == [(1,)]
    nothing_left()


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_after_the_first_run_no_network_is_needed(
    monkeypatch: pytest.MonkeyPatch, nothing_left: Callable[[], None]
):
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with servers.start("9.7", provider="unpack") as server:
        assert server.query("SELECT 1") == [(1,)]
    nothing_left()


@pytest.mark.usefixtures("filled_cache", "sockets")
def test_an_option_that_is_fixed_with_the_datadir_gets_a_datadir_of_its_own(nothing_left: Callable[[], None]):
    with servers.start("5.7", provider="unpack", options={"innodb_page_size": "4k"}) as server:
        assert server.query("SELECT @@innodb_page_size") == [(4096,)]
    nothing_left()


@pytest.mark.usefixtures("filled_cache", "sockets")
@pytest.mark.parametrize("version", ["5.7", "9.7"])
def test_a_reader_can_switch_the_binary_log_on(version: str, nothing_left: Callable[[], None]):
    with servers.start(version, provider="unpack", options={"log_bin": "binlog", "server_id": 1}) as server:
        assert server.query("SELECT @@log_bin") == [(1,)]
    nothing_left()
