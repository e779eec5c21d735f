"""Measure MySQL servers among growing crowds on this computer. Servers and SysBench lie beside this file; nothing is installed.

It needs Linux on x86-64 and Python 3.8 or newer, neither root nor a network. Nothing listens but a socket in a private folder. Whatever is
started ends with this command and its data goes, also on kill -9. Results appear whole, in one folder, at the end.
"""

# `engineroom kit make` packs this file under the name `run`. It uses the standard library alone.

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import hashlib
import json
import math
import os
import platform
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import NoReturn

    Row = dict[str, Any]

KIT = Path(__file__).resolve().parent
FORMAT = "engineroom-crowd-1"
TABLES = 10
UNIFORM, HOT = "uniform", "hot rows"
USUAL, TIMED = "usual", "latches instrumented"
# SysBench's script, what it is told, and the counter of its transactions.
LOADS = {
    UNIFORM: ("oltp_read_write", [f"--tables={TABLES}", "--rand-type=uniform"], "Com_commit"),
    HOT: ("oltp_update_non_index", ["--tables=1", "--rand-type=pareto"], "Com_update"),
}
WARM_S, SLACK_S = 1.0, 3.0
CROWDS = (0.5, 1, 2, 4, 8, 16)  # clients per processor, beside a single client
MOST_LATCHES = 20
ROWS, LATCHES = "crowd.csv", "crowd.latches.csv"
# What the book's recording was made with and says, beside the sizes that `settings` adds.
RECORDED = """
    innodb_flush_log_at_trx_commit=1 transaction_isolation=READ-COMMITTED innodb_stats_auto_recalc=OFF innodb_flush_method=fsync
    innodb_use_native_aio=OFF innodb_io_capacity=2000 innodb_io_capacity_max=8000 character_set_server=utf8mb4 performance_schema=ON
    skip_log_bin=True
"""
OURS = """
    skip_networking=True secure_file_priv=NULL back_log=1500 thread_cache_size=300 table_open_cache=10000 open_files_limit=30000
    max_prepared_stmt_count=1000000 default_time_zone=+00:00 event_scheduler=OFF explicit_defaults_for_timestamp=ON loose_mysqlx=OFF
    innodb_buffer_pool_dump_at_shutdown=OFF innodb_buffer_pool_load_at_startup=OFF loose_auto_generate_certs=OFF
    loose_sha256_password_auto_generate_rsa_keys=OFF loose_caching_sha2_password_auto_generate_rsa_keys=OFF
"""
WAITS = (
    "SELECT event_name, count_star, sum_timer_wait FROM performance_schema.events_waits_summary_global_by_event_name WHERE "
    "(event_name LIKE 'wait/synch/%' AND event_name NOT LIKE 'wait/synch/cond/%') OR event_name LIKE 'wait/io/file/innodb/innodb_log%'"
)
INSTRUMENTS = (
    "UPDATE performance_schema.setup_instruments SET enabled = 'YES', timed = 'YES' "
    "WHERE name LIKE 'wait/synch/%/innodb/%' OR name LIKE 'wait/synch/%/sql/%'"
)
DEADLOCKS = "SELECT name, count FROM information_schema.innodb_metrics WHERE name = 'lock_deadlocks'"
HZ = os.sysconf("SC_CLK_TCK")
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class FailedError(Exception):
    """A server or SysBench did not do what it was asked; the others are measured all the same."""


def settings(version: str, megabytes: int) -> dict[str, str]:
    """A server's settings, its buffer pool and its redo log having `megabytes` each."""

    def size(n: int) -> str:
        return f"{n}M" if n % 1024 else f"{n // 1024}G"

    sized = {"innodb_buffer_pool_size": size(megabytes), "innodb_redo_log_capacity": size(megabytes)}
    if version.startswith("5."):
        del sized["innodb_redo_log_capacity"]
        sized.update(innodb_log_file_size=size(megabytes // 2), innodb_log_files_in_group="2")
    return {**pairs(RECORDED), **sized}


def pairs(text: str) -> dict[str, str]:
    return dict(each.split("=") for each in text.split())


def command_of(libraries: Path, program: Path) -> list[str]:
    """A program under the loader and the C library that it was packed with, whatever this computer has."""
    loader = next(libraries.glob("ld-linux*"))
    return [str(loader), "--library-path", str(libraries), str(program)]


def begun(command: Sequence[str], processors: set[int], out: Path) -> subprocess.Popen[bytes]:
    """A process on these processors, which the kernel kills when this one is gone."""

    def settle() -> None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        os.sched_setaffinity(0, processors)

    environment = {"PATH": os.defpath, "LC_ALL": "C", "HOME": str(out.parent)}
    environment.update(LUA_PATH=f"{KIT}/sysbench/share/?.lua", MARIADB_PLUGIN_DIR=f"{KIT}/sysbench/plugin")
    with out.open("wb") as file:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=environment,
            start_new_session=True,
            preexec_fn=settle,  # noqa: PLW1509 (this process has one thread)
        )


def finish(command: Sequence[str], processors: set[int], out: Path, *, until: float) -> None:
    """Run a command to its end."""
    process = begun(command, processors, out)
    try:
        code = process.wait(max(1.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise FailedError(f"{Path(command[3]).name} took more than its time") from None
    finally:
        end(process)
    if code:
        raise FailedError(f"{Path(command[3]).name} ended with {code}: {tail(out)}")


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def read(path: str | Path) -> str:
    with contextlib.suppress(OSError):
        return Path(path).read_text(errors="replace").strip()
    return ""


def tail(file: Path) -> str:
    return " / ".join(read(file).splitlines()[-4:])[-800:] or "it said nothing"


class Session:
    """MySQL's text protocol as far as it is needed here: an account without a password, over a socket."""

    def __init__(self, path: str) -> None:
        self._number = 0
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(60)
        self._socket.connect(path)
        self._file = self._socket.makefile("rb")
        way = self._packet().rstrip(b"\0").rpartition(b"\0")[2]
        flags = (
            0x1 | 0x200 | 0x2000 | 0x8000 | 0x80000
        )  # 4.1, transactions, secure connection, ways to log in
        self._send(struct.pack("<IIB23x", flags, 2**24 - 1, 45) + b"root\0\0" + way + b"\0")
        while self._packet()[:1] != b"\0":  # it asks for another way to log in: no password there either
            self._send(b"")

    def ask(self, sql: str) -> list[list[str]]:
        """The rows of a statement, each value as text."""
        self._number = 0
        self._send(b"\x03" + sql.encode())
        if self._packet()[:1] == b"\0":
            return []
        while not self._is_end(self._packet()):
            pass
        rows: list[list[str]] = []
        while True:
            packet = self._packet()
            if self._is_end(packet):
                return rows
            rows.append(list(cells(packet)))

    @staticmethod
    def _is_end(packet: bytes) -> bool:
        return packet[:1] == b"\xfe" and len(packet) < 9

    def _send(self, body: bytes) -> None:
        self._socket.sendall(struct.pack("<I", len(body))[:3] + bytes([self._number]) + body)

    def _packet(self) -> bytes:
        head = self._file.read(4)
        if len(head) < 4:
            raise FailedError("the server closed the connection")
        self._number = (head[3] + 1) % 256
        body = self._file.read(int.from_bytes(head[:3], "little"))
        if body[:1] == b"\xff":
            raise FailedError(f"the server says: {body[3:].decode(errors='replace')}")
        return body


def cells(packet: bytes) -> Iterator[str]:
    """The values of a row: each has its length before it, NULL is the byte 251."""
    at = 0
    while at < len(packet):
        size, at = packet[at], at + 1
        if size > 251:
            wide = {252: 2, 253: 3, 254: 8}[size]
            size, at = int.from_bytes(packet[at : at + wide], "little"), at + wide
        elif size == 251:
            size = 0
        yield packet[at : at + size].decode(errors="replace")
        at += size


class Server:
    """A server with its tables, on processors of its own, and the clients that are sent to it."""

    def __init__(self, version: str, plan: argparse.Namespace, folder: Path) -> None:
        self.version, self.plan, self.folder = version, plan, folder
        self.home = KIT / "servers" / version
        self.process: subprocess.Popen[bytes] | None = None
        self.seed = 100

    def start(self, until: float) -> None:
        """Initialise, start, fill the tables and read them once."""
        for name in ("data", "tmp"):
            (self.folder / name).mkdir(mode=0o700, parents=True)
        own = self.home / "lib"
        libraries = own if own.is_dir() else KIT / "lib"
        command = [*command_of(libraries, self.home / "bin" / "mysqld"), *self._options()]
        finish([*command, "--initialize-insecure"], self.plan.server, self.folder / "log", until=until)
        self.process = begun(command, self.plan.server, self.folder / "log")
        while True:
            try:
                self.session = Session(f"{self.folder}/s")
                break
            except (OSError, FailedError) as error:
                if self.process.poll() is not None or time.monotonic() > until:
                    raise FailedError(f"it does not answer ({error}): {tail(self.folder / 'err')}") from None
            time.sleep(0.05)
        self.session.ask("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
        self.session.ask("CREATE DATABASE sbtest")
        prepare = [*self._sysbench(UNIFORM), f"--threads={TABLES}", "prepare"]
        finish(prepare, self.plan.server | self.plan.clients, self.folder / "sysbench", until=until)
        for n in range(1, TABLES + 1):
            self.session.ask(f"ANALYZE TABLE sbtest.sbtest{n}")
            self.session.ask(f"SELECT COUNT(*), SUM(LENGTH(pad)) FROM sbtest.sbtest{n}")
            self.session.ask(f"SELECT COUNT(k) FROM sbtest.sbtest{n} FORCE INDEX (k_{n})")
        self.session.ask("SET GLOBAL innodb_flush_log_at_trx_commit = 1")

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def point(self, load: str, clients: int, setting: str) -> tuple[Row, list[Row]]:
        """So many clients: what counters moved between two looks, and for which latches was waited."""
        if setting == TIMED:
            self.session.ask(INSTRUMENTS)
        out = self.folder / "sysbench"
        self.seed += 1
        told = f"--threads={clients} --rand-seed={self.seed} --percentile=95 --mysql-ignore-errors=all"
        lasts = f"--time={math.ceil(WARM_S + self.plan.seconds + 0.5)}"
        client = begun([*self._sysbench(load), *told.split(), lasts, "run"], self.plan.clients, out)
        try:
            began = time.monotonic()
            while "Threads started!" not in read(out):
                if client.poll() is not None or time.monotonic() > began + 60:
                    raise FailedError(f"sysbench did not start: {tail(out)}")
                time.sleep(0.02)
            time.sleep(WARM_S)
            before = self._look(client.pid, setting)
            time.sleep(self.plan.seconds)
            after = self._look(client.pid, setting)
            if client.poll() is not None:
                raise FailedError(f"sysbench ended before its time: {tail(out)}")
            client.wait(60)
        except subprocess.TimeoutExpired:
            raise FailedError("sysbench did not end a minute after its time") from None
        finally:
            end(client)
        p95 = re.search(r"95th percentile:\s+([\d.]+)", read(out))
        of = {"clients": clients, "series": self.version, "load": load, "setting": setting}
        row, waits = compared(of, before, after)
        return {**row, "p95_ms": float(p95[1]) if p95 else None}, waits

    def _options(self) -> list[str]:
        folder, share = self.folder, f"{self.home}/share"
        most = max(1200, 2 * max(self.plan.crowds))
        given = {
            **settings(self.version, self.plan.megabytes), **pairs(OURS), **({"user": "root"} if os.geteuid() == 0 else {}),
            "datadir": f"{folder}/data", "tmpdir": f"{folder}/tmp", "socket": f"{folder}/s", "pid_file": f"{folder}/pid",
            "lc_messages_dir": share, "character_sets_dir": f"{share}/charsets", "plugin_dir": f"{self.home}/plugin",
            "max_connections": str(most),
        }  # fmt: skip
        return ["--no-defaults", *(f"--{name}={value}".replace("=True", "") for name, value in given.items())]

    def _sysbench(self, load: str) -> list[str]:
        script, options, _ = LOADS[load]
        account = f"--mysql-socket={self.folder}/s --mysql-user=root --mysql-password= --mysql-db=sbtest"
        program = command_of(KIT / "lib", KIT / "sysbench" / "bin" / "sysbench")
        words = [f"{KIT}/sysbench/share/{script}.lua", *account.split(), f"--table-size={self.plan.rows}"]
        return [*program, *words, *options]

    def _look(self, client: int, setting: str) -> Row:
        assert self.process is not None
        waits = WAITS if setting == TIMED else "DO 0"
        counted = self.session.ask("SHOW GLOBAL STATUS") + self.session.ask(DEADLOCKS)
        return {
            "at": time.monotonic(),
            "status": {row[0]: row[1] for row in counted},
            "waits": {name: (int(n), int(ps)) for name, n, ps in self.session.ask(waits)},
            "server_s": cpu_s(self.process.pid),
            "client_s": cpu_s(client),
            "switches": slices(self.process.pid),
            "machine": jiffies(),
        }


def compared(of: Row, a: Row, b: Row) -> tuple[Row, list[Row]]:
    """A point's row, from what was seen before and after its window, and its rows of latches."""
    seconds = b["at"] - a["at"]

    def moved(name: str) -> int:
        return int(b["status"].get(name, 0)) - int(a["status"].get(name, 0))

    done = moved(LOADS[of["load"]][2])
    if done <= 0:
        raise FailedError(f"no transaction in {seconds:.1f} s")
    server, client = ((b[name] - a[name]) / seconds for name in ("server_s", "client_s"))
    machine = use(a["machine"], b["machine"], seconds)
    row = {
        **of, "tps": round(done / seconds, 1), "server_cpus": round(server, 2), "client_cpus": round(client, 2),
        "cpu_us": round(1e6 * server * seconds / done, 1), "switches": round((b["switches"] - a["switches"]) / done, 2),
        "fsyncs": round(moved("Innodb_os_log_fsyncs") / done, 3), "redo_bytes": round(moved("Innodb_os_log_written") / done),
        "row_lock_waits": round(moved("Innodb_row_lock_waits") / done, 4),
        "row_lock_ms": round(moved("Innodb_row_lock_time") / done, 4),
        "deadlocks_per_1000": round(1000 * moved("lock_deadlocks") / done, 2),
        "pages_flushed_per_s": round(moved("Innodb_buffer_pool_pages_flushed") / seconds),
        "steal_percent": machine["steal_percent"], "other_cpus": round(max(0.0, machine["busy_cpus"] - server - client), 2),
        "server": of["series"], "repeat": 0,
    }  # fmt: skip
    waits = []
    for name, (n, ps) in b["waits"].items():
        before_n, before_ps = a["waits"].get(name, (0, 0))
        per = {"acquisitions": (n - before_n) / done, "wait_us": (ps - before_ps) / 1e6 / done}
        waiting = {
            "clients_waiting": round((ps - before_ps) / 1e12 / seconds, 3),
            "tps": round(done / seconds),
        }
        waits.append(
            {**of, "latch": name.rpartition("/")[2], **{k: round(v, 3) for k, v in per.items()}, **waiting}
        )
    waits.sort(key=lambda each: -each["wait_us"])
    return row, [each for each in waits[:MOST_LATCHES] if each["wait_us"] > 0]


def cpu_s(pid: int) -> float:
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / HZ


def slices(pid: int) -> int:
    """How often threads of a process were given a processor."""
    found = [read(file).split() for file in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(each[2]) for each in found if len(each) > 2)


def jiffies() -> list[int]:
    return [int(each) for each in read("/proc/stat").split(None, 9)[1:9]]


def use(a: Sequence[int], b: Sequence[int], seconds: float) -> dict[str, float]:
    """Processors that were busy, and the share of time that a hypervisor withheld."""
    spent = [after - before for before, after in zip(a, b)]  # noqa: B905 (Python 3.8)
    busy = sum(spent) - spent[3] - spent[4] - spent[7]
    return {"busy_cpus": busy / HZ / seconds, "steal_percent": round(100 * spent[7] / max(1, sum(spent)), 2)}


def core_of(processor: int) -> str:
    return read(f"/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list") or str(processor)


def split(processors: Sequence[int], core_of: Callable[[int], str]) -> tuple[set[int], set[int]]:
    """Whole cores for the server and for the clients, who get a quarter of the processors; one core is for both."""
    cores: dict[str, set[int]] = {}
    for each in processors:
        cores.setdefault(core_of(each), set()).add(each)
    clients: set[int] = set()
    for core in list(cores.values())[:0:-1]:
        if len(clients) < max(1, len(processors) // 4):
            clients |= core
    return set(processors) - clients, clients or set(processors)


def file_system(folder: Path) -> str:
    mounts = [line.split()[1:3] for line in read("/proc/mounts").splitlines()]
    over = [(len(at), kind) for at, kind in mounts if f"{folder}/".startswith(at.rstrip("/") + "/")]
    return max(over)[1] if over else "unknown"


def memory_bytes(name: str) -> int:
    found = re.search(name + r":\s+(\d+)", read("/proc/meminfo"))
    return int(found[1]) * 1024 if found else 0


def free_memory() -> int:
    """What is to be had, also where a group of processes may have no more."""
    free, most, used = (
        memory_bytes("MemAvailable"),
        *map(read, ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current")),
    )
    return min(free, int(most) - int(used)) if most.isdecimal() and used.isdecimal() else free


def provenance(plan: argparse.Namespace, processors: Sequence[int], data: Path) -> Row:
    """The machine and the moment, before anything is started; nothing that names it or its people."""
    before, began = jiffies(), time.monotonic()
    time.sleep(1)
    model = re.search(r"model name\s*:\s*(.*)", read("/proc/cpuinfo"))
    caches = sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"))
    return {
        "cores": len(processors), "cpu": model[1] if model else None,
        "caches": [f"L{read(each / 'level')} {read(each / 'type').lower()} {read(each / 'size')}" for each in caches],
        "threads_per_core": len(processors) / len({core_of(each) for each in processors}),
        "nodes": [read(each) for each in sorted(Path("/sys/devices/system/node").glob("node*/cpulist"))],
        "server_processors": sorted(plan.server), "client_processors": sorted(plan.clients),
        "processor_quota": read("/sys/fs/cgroup/cpu.max") or None, "memory_bytes": memory_bytes("MemTotal"),
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}", "storage": file_system(data),
        "load": [float(each) for each in read("/proc/loadavg").split()[:3]],
        "before": use(before, jiffies(), time.monotonic() - began),
        "python": platform.python_version(), "date": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
        "command": "./run of a kit", "seed": 101,
        "options": {name: getattr(plan, name) for name in ("servers", "seconds", "minutes", "most", "rows", "megabytes")},
    }  # fmt: skip


def refuse(problem: str, remedy: str) -> NoReturn:
    sys.exit(f"run: {problem}\n  What to do: {remedy}")


def place(asked: Path | None, data_bytes: int, needed: int) -> Path:
    """Where data lies: in memory if there is room, as in the book, where an fsync takes no time; else on the disk of the kit."""
    free, found = free_memory(), []
    if free < needed:
        said = f"{free / 1e9:.1f} GB of memory are free, {needed / 1e9:.1f} are needed"
        refuse(said, "end other programs, or try --megabytes 512")
    for each in [asked] if asked else [Path("/dev/shm"), KIT]:
        if not os.access(each, os.W_OK | os.X_OK):
            found.append(f"{each} cannot be written")
            continue
        room = shutil.disk_usage(each).free
        if file_system(each.resolve()) == "tmpfs":
            room = min(room, free - needed)
        if room >= data_bytes:
            return each.resolve()
        found.append(f"{each} has {max(0, room) / 1e9:.1f} GB")
    refuse(
        f"data needs {data_bytes / 1e9:.1f} GB of room: {'; '.join(found)}", "name a folder: --data FOLDER"
    )


@contextlib.contextmanager
def kept(*folders: Path) -> Iterator[None]:
    """A process that removes these folders as soon as this one is gone, however it ends."""
    reading, writing = os.pipe()
    keeper = os.fork()
    if not keeper:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(writing)
        os.read(reading, 1)
        for _ in range(300):  # what still writes there is being killed
            for each in folders:
                shutil.rmtree(each, ignore_errors=True)
            if not any(each.exists() for each in folders):
                break
            time.sleep(0.1)
        os._exit(0)
    os.close(reading)
    try:
        yield
    finally:
        os.close(writing)
        os.waitpid(keeper, 0)


def chosen(words: Sequence[str], versions: Sequence[str]) -> argparse.Namespace:
    """The options, checked."""
    numbers = (
        ("seconds", float, 8.0, 0.5, 600, "length of each measurement"),
        ("minutes", float, 10.0, 0.1, 600, "the whole takes at most so long"),
        ("most", float, 4.0, 0.5, 16, "clients per processor, at most"),
        ("rows", int, 100_000, 100, 10**7, "rows of each of the ten tables"),
        ("megabytes", int, 2048, 64, 2**20, "size of the buffer pool and of the redo log, each"),
    )
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="run", description=__doc__, formatter_class=form)
    parser.add_argument(
        "--servers", default=",".join(versions), help="with commas; here: " + ", ".join(versions)
    )
    for name, kind, usual, least, most, said in numbers:
        parser.add_argument(
            f"--{name}", type=kind, default=usual, help=f"{said} ({usual}; {least} to {most})"
        )
    parser.add_argument("--data", type=Path, help="folder for the servers' data: in memory, if there is room")
    parser.add_argument(
        "--out", type=Path, default=Path(), help="folder in which the folder of results appears"
    )
    plan = parser.parse_args(words)
    plan.servers = plan.servers.split(",")
    for each in plan.servers:
        if each not in versions:
            parser.error(f"--servers: {each!r} is not in this kit, which has {', '.join(versions)}")
    for name, _, _, least, most, _ in numbers:
        if not least <= getattr(plan, name) <= most:
            parser.error(f"--{name}: {getattr(plan, name)} is not from {least} to {most}")
    return plan


def measure(
    plan: argparse.Namespace, scratch: Path, deadline: float, say: Callable[[str], None]
) -> tuple[list[Row], list[Row], dict[str, str]]:
    """Each server in turn, within an equal share of the time that is left: rows, latches, and what was left out and why."""
    rows: list[Row] = []
    latches: list[Row] = []
    left_out: dict[str, str] = {}
    points = [(load, n, USUAL) for n in plan.crowds for load in LOADS]
    points += [(load, max(plan.crowds), TIMED) for load in LOADS]
    for at, version in enumerate(plan.servers):
        until = time.monotonic() + (deadline - time.monotonic()) / (len(plan.servers) - at)
        server = Server(version, plan, scratch / version)
        say(f"{version} is initialised and filled: {TABLES} tables of {plan.rows:,} rows")
        what = version
        try:
            server.start(until)
            for load, clients, setting in points:
                what = f"{version}, {load}, {clients} client{'s'[: clients > 1]}" + f", {setting}" * (
                    setting == TIMED
                )
                try:
                    if time.monotonic() + WARM_S + plan.seconds + SLACK_S > until:
                        raise FailedError("its time was used up")
                    row, waits = server.point(load, clients, setting)
                except FailedError as error:
                    left_out[what] = str(error)
                    say(f"{what}: left out, {error}")
                    continue
                rows.append(row)
                latches += waits
                say(f"{what}: {row['tps']:,.0f} per second, {row['server_cpus']:.1f} CPUs" + longest(waits))
        except (FailedError, OSError, subprocess.SubprocessError) as error:
            left_out[what] = str(error)
            say(f"{what}: {error}; nothing more of {version}")
        finally:
            server.stop()
    return rows, latches, left_out


def longest(waits: Sequence[Row]) -> str:
    return f"; {waits[0]['clients_waiting']:.1f} threads wait for {waits[0]['latch']}" if waits else ""


def write(folder: Path, rows: list[Row], latches: list[Row], about: Row, said: Sequence[str]) -> None:
    """The folder of results: two tables, what was said, and provenance with the sums of the tables."""
    for name, table in ((ROWS, rows), (LATCHES, latches)):
        with (folder / name).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(table[0]) if table else [], lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
    (folder / "log.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
    sums = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (ROWS, LATCHES)}
    held = {"format": FORMAT, "sums": sums, "provenance": about}
    (folder / "crowd.json").write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    folder.chmod(0o755)


def main(words: Sequence[str]) -> None:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        here = f"{platform.system()} on {platform.machine()}"
        refuse(f"the servers are for Linux on x86_64, this is {here}", "take the kit to such a computer")
    kit = json.loads(read(KIT / "kit.json"))
    plan = chosen(words, kit["servers"])
    began = time.monotonic()
    most_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    processors = sorted(os.sched_getaffinity(0))
    plan.server, plan.clients = split(processors, core_of)
    plan.crowds = sorted({1, *(max(1, int(len(processors) * each)) for each in CROWDS if each <= plan.most)})
    needed = (plan.megabytes + 500 + 2 * max(plan.crowds)) * 2**20
    base = place(plan.data, (plan.megabytes + 700) * 2**20 + TABLES * plan.rows * 500, needed)
    if len(os.fsencode(base)) > 70:  # with the rest, the path of a socket has 108 bytes at most
        refuse(f"the path {base} is too long for a socket in it", "name another folder: --data FOLDER")
    if not os.access(plan.out, os.W_OK | os.X_OK):
        refuse(f"{plan.out} cannot be written", "name a folder for the results: --out FOLDER")
    said: list[str] = []

    def say(text: str) -> None:
        said.append(f"[{time.monotonic() - began:4.0f} s] {text}")
        print(said[-1], flush=True)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    scratch = Path(tempfile.mkdtemp(prefix="er-kit-", dir=base))
    results = Path(tempfile.mkdtemp(prefix=".crowd-", dir=plan.out))
    with kept(scratch, results):
        about = {"kit": kit["engineroom"], **provenance(plan, processors, scratch)}
        shares = f"{len(plan.server)} for the server, {len(plan.clients)} for the clients"
        say(
            f"{len(processors)} processors: {shares}; data on {about['storage']}; at most {plan.minutes:g} minutes"
        )
        before = jiffies()
        rows, latches, about["left_out"] = measure(plan, scratch, began + 60 * plan.minutes, say)
        wall_s = time.monotonic() - began
        steal = use(before, jiffies(), wall_s)["steal_percent"]
        about["during"] = {
            "wall_s": round(wall_s, 1),
            "load_before": about["load"][0],
            "steal_percent": steal,
        }
        about["servers"] = {
            version: {
                "server_version": version,
                "provider": "unpack",
                "settings": settings(version, plan.megabytes),
            }
            for version in dict.fromkeys(row["series"] for row in rows)
        }
        if not rows:
            refuse("nothing could be measured: see above", "give --minutes more, or name fewer --servers")
        write(results, rows, latches, about, said)
        name = f"crowd-{len(processors)}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"
        results.rename(plan.out / name)
    print(f"{len(rows)} measurements are in {plan.out / name}; where the book is: engineroom kit read {name}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("run: stopped; nothing is kept")
