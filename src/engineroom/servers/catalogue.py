"""The catalogue of server generations, read from `data/servers.toml`."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from engineroom import forms, paths
from engineroom.errors import EngineRoomError

__all__ = [
    "Entry",
    "Request",
    "Unpack",
    "called",
    "catalogue",
    "entry_of",
    "features",
    "measured",
    "plain_release",
    "release",
    "resolve",
    "series_of",
]

Setting = str | int | bool

# What makes a server private. A reader who needs another value starts a server by hand and names it as a DSN.
OURS = frozenset(
    {
        "basedir",
        "bind_address",
        "datadir",
        "init_file",
        "mysqlx_bind_address",
        "mysqlx_socket",
        "pid_file",
        "socket",
        "user",
    }
)


@dataclass(frozen=True, kw_only=True)
class Unpack:
    """An archive, or a Debian package, that holds a `mysqld` which runs without being installed."""

    kind: str
    series: str = ""  # the series that it is for; the catalogue knows
    version: str | None = None
    group: str = ""
    name: str = ""
    package_version: str = ""
    sha256: str = ""
    classifier: str = ""
    member: str = ""  # the archive within the archive
    suite: str = ""
    package: str = ""
    skip: tuple[str, ...] = ()  # packages by name, and files by path
    download_megabytes: int
    disk_megabytes: int
    mysqld: str
    share: str
    debug: str = ""  # a debug build beside `mysqld`
    on_demand: bool = False  # too large to be fetched unasked


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One server that the book measures: `name` is a series ("5.7") or, of a series with several, a release ("8.0.31")."""

    name: str
    note: str
    image: str
    settings: Mapping[str, Setting]
    initialise_options: tuple[str, ...]
    unpack: Unpack | None
    product: str = "MySQL"

    @property
    def series(self) -> str:
        return series_of(self.name)

    @property
    def is_on_demand(self) -> bool:
        return self.unpack is not None and self.unpack.on_demand


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a reader asked for: a series, perhaps an exact release, options, perhaps the debug build."""

    entry: Entry
    exact: str | None
    options: Mapping[str, Setting]
    shared: bool = False
    debug: bool = False
    confined: bool = False  # the process writes into its own folder alone, where the kernel has Landlock

    @property
    def name(self) -> str:
        return self.exact or self.entry.series

    def accepts(self, version: str) -> bool:
        """Whether a server of this release is what was asked for."""
        if self.exact:
            return release(version) == release(self.exact)
        return series_of(version) == self.entry.series

    def settings(self) -> dict[str, Setting]:
        """The book's settings with the reader's options over them, in the order in which the server reads them."""
        return {**self.entry.settings, **self.options}


def release(version: str) -> tuple[int, ...]:
    """`8.0.15-log` as `(8, 0, 15)`."""
    found = re.match(r"\d{1,9}(\.\d{1,9})*", version)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def plain_release(version: str) -> str:
    """`8.0.15-log` as `8.0.15`."""
    return ".".join(map(str, release(version)))


def series_of(version: str) -> str:
    """`8.0.15-log` as `8.0`."""
    return ".".join(map(str, release(version)[:2]))


class _Generation(TypedDict):
    note: str
    product: NotRequired[str]
    image: NotRequired[str]
    settings: NotRequired[dict[str, Setting]]
    unpack: NotRequired[Unpack]


class _Initialise(TypedDict):
    options: list[str]


class _Document(TypedDict):
    settings: dict[str, Setting]
    initialise: _Initialise
    features: dict[str, str]
    servers: dict[str, _Generation]


@functools.cache
def _document() -> Any:
    """data/servers.toml, read once; EngineRoomError names the line or the place that is wrong."""
    remedy = "mend data/servers.toml; `git diff` shows what changed in it"
    try:
        with (paths.data() / "servers.toml").open("rb") as file:
            held = tomllib.load(file)
    except (OSError, ValueError) as error:  # TOML's and UTF-8's are ValueErrors
        raise EngineRoomError(f"servers.toml cannot be read: {error}", remedy=remedy) from error
    return forms.require(_Document, held, file="servers.toml", remedy=remedy)


@functools.cache
def catalogue() -> dict[str, Entry]:
    """Every server by name, oldest first."""
    document = _document()
    entries = {}
    for name, row in document["servers"].items():
        unpack = dict(row["unpack"]) if "unpack" in row else None
        if unpack:
            unpack["skip"] = tuple(unpack.get("skip", ()))
        entries[name] = Entry(
            name=name,
            note=row["note"],
            product=row.get("product", "MySQL"),
            image=row.get("image", f"mysql:{name}"),
            settings={**document["settings"], **row.get("settings", {})},
            initialise_options=tuple(document["initialise"]["options"]),
            unpack=Unpack(**{**unpack, "series": series_of(name)}) if unpack else None,
        )
    return entries


def measured(since: str = "5.6") -> tuple[str, ...]:
    """The servers from `since` on that live experiments start, by name, oldest first: those that every reader can have unasked."""
    return tuple(
        name
        for name, entry in catalogue().items()
        if entry.unpack and not entry.is_on_demand and release(name) >= release(since)
    )


def features() -> Mapping[str, str]:
    """Each feature that a chapter may ask for, with the first release that has it."""
    table: Mapping[str, str] = _document()["features"]
    return table


def entry_of(version: str) -> Entry | None:
    """What the book knows of a release: of a series with several servers that release's own, else the newest that is fetched unasked."""
    kin = [entry for entry in catalogue().values() if entry.series == series_of(version)]
    own = [entry for entry in kin if entry.name == plain_release(version)]
    unasked = [entry for entry in kin if not entry.is_on_demand]
    return next(reversed(own or unasked or kin), None)


def called(version: str) -> str:
    """A release with its product: MySQL 5.7.22, MariaDB 11.8.3."""
    entry = entry_of(version)
    return f"{entry.product if entry else 'MySQL'} {plain_release(version)}"


def resolve(
    version: str,
    options: Mapping[str, Setting] | None = None,
    *,
    shared: bool = False,
    debug: bool = False,
    confined: bool = False,
) -> Request:
    """The request for `version`, a series ("5.7") or a release ("5.7.22"), or the name of a product other than MySQL ("mariadb")."""
    for each in catalogue().values():
        if each.product != "MySQL" and version.lower() == each.product.lower():
            version = each.name
    entry = entry_of(version)
    numbers = release(version)
    if entry is None or not 2 <= len(numbers) <= 3 or plain_release(version) != version:
        known = ", ".join(
            name if each.product == "MySQL" else each.product.lower() for name, each in catalogue().items()
        )
        raise EngineRoomError(
            f"unknown server version {version!r}",
            remedy=f"choose one of {known}, or a release such as 5.7.22; `engineroom server list` shows them",
        )
    named = {name.replace("-", "_"): value for name, value in (options or {}).items()}
    if taken := sorted(OURS & named.keys()):
        raise EngineRoomError(
            f"the option {taken[0]} cannot be chosen: it keeps this server apart from every other",
            remedy="leave it out; the running server's own variables tell its value",
        )
    if debug and not (entry.unpack and entry.unpack.debug):
        having = ", ".join(name for name, each in catalogue().items() if each.unpack and each.unpack.debug)
        raise EngineRoomError(
            f"there is no debug build of {version}", remedy=f"leave --debug out, or choose one of {having}"
        )
    exact = version if len(numbers) == 3 else None
    return Request(entry=entry, exact=exact, options=named, shared=shared, debug=debug, confined=confined)
