"""Make the kit: unpacked servers, SysBench, what both need of this machine, and the program that measures, in one packed file."""

from __future__ import annotations

import io
import itertools
import json
import lzma
import os
import re
import shutil
import subprocess
import tarfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import engineroom
from engineroom import progress
from engineroom.ask.kit import runner
from engineroom.errors import EngineRoomError, refuse_unwritable
from engineroom.servers.catalogue import resolve
from engineroom.servers.local import Installed
from engineroom.servers.providers import unpack
from engineroom.workloads import sysbench

__all__ = ["LARGEST_BYTES", "RECORDED", "here", "make"]

LARGEST_BYTES = 64 * 10**6
RECORDED = ("5.7.22", "8.0.31", "9.7")  # the servers of the recording that the results are shown beside
TOP = "engineroom-kit"
COMMON = "SysBench and libraries"
# Of a server the rest is for other languages, clients and installations.
SHARES, PLUGIN = ("english", "charsets"), "component_reference_cache.so"
LICENCES = ("LICENSE", "COPYING")
_FILTERS = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 2**25}]

Members = dict[str, Path | bytes]  # by the place in the kit


def here(versions: Sequence[str] = ()) -> list[Installed]:
    """The servers of these versions, or those of the recording that this machine can have, fetched where they are lacking."""
    requests = [resolve(version) for version in versions or RECORDED]
    known = [resolve(version).entry for version in RECORDED]
    if other := [each.name for each in requests if each.entry not in known]:
        raise EngineRoomError(
            f"{other[0]} is not of the book's recording, beside which results are shown",
            remedy=f"choose from {', '.join(RECORDED)}",
        )
    having = [each for each in requests if versions or unpack.refusal(each) is None]
    if not having:
        raise EngineRoomError(
            f"this machine can unpack none of {', '.join(RECORDED)}",
            remedy="`engineroom doctor` says what is missing",
        )
    return [unpack.install(each) for each in having]


def make(file: Path, servers: Sequence[Installed]) -> dict[str, int]:
    """Write the kit; the packed bytes of each of its parts. EngineRoomError, and no file, where they are more than 64 MB."""
    if file.exists() and not file.is_file():  # a whole kit takes its file's place, and would take a device's
        raise EngineRoomError(f"{file} is no file", remedy="name a file that may be made or replaced")
    refuse_unwritable(file)
    common = _common()
    parts = {COMMON: common}
    for each in servers:
        parts[each.version] = _server(each, common)
    about = {"engineroom": engineroom.__version__, "servers": [each.version for each in servers]}
    common["kit.json"] = json.dumps(about, indent=1).encode() + b"\n"
    common["run"] = b"#!/usr/bin/env python3\n" + Path(runner.__file__).read_bytes()
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        sizes = _write(partial, parts)
        _refuse_too_large(sizes)
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)
    return sizes


def _common() -> Members:
    sysbench.require()
    program = Path(shutil.which("sysbench") or "").resolve()
    scripts = sorted((program.parents[1] / "share" / "sysbench").glob("*.lua"))
    if not scripts:
        raise EngineRoomError(
            f"no Lua scripts lie beside {program}",
            remedy="install sysbench as a package: apt-get install sysbench",
        )
    members: Members = {"sysbench/bin/sysbench": program}
    members |= {f"sysbench/share/{each.name}": each for each in scripts}
    _add_libraries(members, "lib", ["ldd", str(program)])
    client = members.get("lib/libmariadb.so.3")
    # MariaDB's client loads the way in which newer servers let somebody in; MySQL's has it.
    for plugin in client.parent.glob("*/plugin/caching_sha2_password.so") if isinstance(client, Path) else ():
        members["sysbench/plugin/caching_sha2_password.so"] = plugin
        _add_libraries(members, "lib", ["ldd", str(plugin)])
    return members


def _server(server: Installed, common: Members) -> Members:
    """A server without what it does not need to run. Libraries of this machine are common; a loader of its own has its own."""
    top, mysqld = f"servers/{server.version}", Path(server.command[-1])
    members: Members = {f"{top}/bin/mysqld": mysqld}
    tree = server.share.parent
    for folder in SHARES:
        files = (path for path in (server.share / folder).rglob("*") if path.is_file())
        members |= {f"{top}/share/{path.relative_to(server.share)}": path for path in sorted(files)}
    plugins = Path(server.options.get("plugin_dir", tree / "lib" / "plugin"))
    members[f"{top}/plugin/README"] = (
        b"What the server loads by itself; where nothing else lies here, it loads nothing.\n"
    )
    if (plugins / PLUGIN).is_file():
        members[f"{top}/plugin/{PLUGIN}"] = plugins / PLUGIN
    members |= {f"{top}/{name}": tree / name for name in LICENCES if (tree / name).is_file()}
    if len(server.command) > 1:
        loader = [*server.command[:-1], "--list", str(mysqld)]
        _add_libraries(members, f"{top}/lib", loader, loader=Path(server.command[0]))
    else:
        _add_libraries(common, "lib", ["ldd", str(mysqld)], environment=server.environment)
    return members


def _add_libraries(
    members: Members,
    folder: str,
    lister: Sequence[str],
    *,
    loader: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> None:
    """All that a program loads before it begins, the loader too, as the loader itself tells."""
    done = subprocess.run(
        lister, env={**os.environ, **(environment or {})}, capture_output=True, text=True, check=False
    )
    found = dict(re.findall(r"^\s*(\S+) => (/.*) \(0x", done.stdout, re.MULTILINE))
    lacking = re.findall(r"^\s*(\S+) => not found", done.stdout, re.MULTILINE)
    if loader is None and (said := re.search(r"^\s*(/\S*/ld-linux\S*) \(0x", done.stdout, re.MULTILINE)):
        loader = Path(said[1])
    if done.returncode or lacking or loader is None:
        why = f"it lacks {', '.join(lacking)}" if lacking else (done.stderr or done.stdout).strip()[-200:]
        raise EngineRoomError(
            f"the libraries of {Path(lister[-1]).name} cannot be told: {why}",
            remedy="`engineroom doctor` says what is missing",
        )
    for name, path in found.items():
        if not Path(name).name.startswith("ld-linux"):
            members[f"{folder}/{Path(name).name}"] = Path(path)
    members[f"{folder}/{loader.name}"] = loader


def _write(file: Path, parts: Mapping[str, Members]) -> dict[str, int]:
    """One archive of tar in as many packed streams as there are parts, so that each part's size is known."""
    sizes = {}
    total = sum(
        len(each) if isinstance(each, bytes) else each.stat().st_size
        for part in parts.values()
        for each in part.values()
    )
    with file.open("wb") as out, progress.bar(total=total, desc="Packing", unit="B", unit_scale=True) as bar:
        archive = None
        for part, members in parts.items():
            begin = out.tell()
            with lzma.LZMAFile(out, "w", format=lzma.FORMAT_XZ, filters=_FILTERS) as packed:
                if archive is None:
                    archive = tarfile.TarFile(fileobj=packed, mode="w")
                archive.fileobj = packed
                for info, data in _entries(members):
                    archive.addfile(info, data)
                    bar.update(info.size)
                if part == list(parts)[-1]:
                    archive.close()
            sizes[part] = out.tell() - begin
    return sizes


def _entries(members: Members) -> Iterator[tuple[tarfile.TarInfo, io.BufferedIOBase]]:
    """Files alone, links followed, all of nobody's; programs may be run."""
    for name, held in members.items():
        data = held if isinstance(held, bytes) else held.read_bytes()
        info = tarfile.TarInfo(f"{TOP}/{name}")
        info.size, info.mtime = len(data), int(time.time())
        info.mode = 0o755 if name == "run" or "/bin/" in name or "/ld-linux" in name else 0o644
        yield info, io.BytesIO(data)


def _refuse_too_large(sizes: Mapping[str, int]) -> None:
    if sum(sizes.values()) <= LARGEST_BYTES:
        return
    servers = [name for name in sizes if name != COMMON]
    fitting = (
        some
        for n in range(len(servers) - 1, 0, -1)
        for some in itertools.combinations(reversed(servers), n)
        if sizes[COMMON] + sum(sizes[each] for each in some) <= LARGEST_BYTES
    )
    some = next(fitting, ())
    said = ", ".join(f"{name} {size / 1e6:.1f}" for name, size in sizes.items())
    raise EngineRoomError(
        f"the kit would have {sum(sizes.values()) / 1e6:.1f} MB, and at most {LARGEST_BYTES / 1e6:.0f} travel: {said}",
        remedy=f"leave a server out: --servers {','.join(reversed(some))}"
        if some
        else "no server fits; report it with this message",
    )
