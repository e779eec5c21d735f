"""The protocol of a figure: with what, under which load, how often and by which summary it was measured.

A protocol is made of the run itself, by this program, for old recordings as for new ones: two runs with the same parameters, load,
points, repeats, summary and window have the same protocol. `data/recorded/<chapter>/protocols.json` keeps all of a chapter by their hash, which a
recording carries. The real computer is no part of it: a run on another one, or on another day, follows the same protocol.
A figure of our own makes no claim, so that there is no verdict to compare and no protocol to keep.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from engineroom import files, forms, paths
from engineroom.errors import EngineRoomError
from engineroom.runs import published, quiet

__all__ = ["FILE", "changes", "content", "hash_of", "keep", "read"]

Content = dict[str, Any]

FILE = "protocols.json"
_REMEDY = "bring it back (`git checkout`): protocols are added, never changed"

# What a run met, or what came out, as against what was chosen for it.
_CIRCUMSTANCES = frozenset((
    "cores", "cpu", "caches", "memory_bytes", "kernel", "storage", "steal_s", "python", "date", "revision", "command", "during",
    "machine_name", "primitives_ns", "real_threads_of_recording", "simulated_by_revision", "varied_in",
))  # fmt: skip
_MACHINE = frozenset(("machine", "servers", "scheduling", "compiler", "flags", "fsync_us"))
# Columns by which a run says how long it measured.
_WINDOWS = {
    "half_width_percent": "grows until the throughput is known",
    "halves_apart_percent": "grows until its halves agree",
}


def content(
    figure: str, method: str, *, table: pd.DataFrame, summary: str, provenance: Mapping[str, Any]
) -> Content | None:
    """The protocol of a run as plain JSON values; None for a figure of our own. `provenance` is what passed `scrub`."""
    if figure.startswith("own-"):
        return None
    chosen = {
        key: value
        for key, value in provenance.items()
        if key not in _CIRCUMSTANCES | {"window"} and not (key == "load" and isinstance(value, list))
    }
    machine = {key: chosen.pop(key) for key in _MACHINE & set(chosen)}
    machine |= machine.pop("machine", {})
    if "servers" in machine:
        machine["servers"] = {
            label: {key: about.get(key) for key in ("server_version", "build", "settings")}
            for label, about in machine["servers"].items()
        }
    load = chosen.pop("load", {})
    load = {**(load if isinstance(load, Mapping) else {"described": load}), **chosen}
    repeats = int(table["repeat"].nunique()) if "repeat" in table.columns else 1
    return {
        "figure": figure,
        "method": method,
        "machine": machine,
        "load": load,
        "points": _points(figure, table),
        "repeats": repeats,
        "summary": summary,
        "window": provenance.get("window") or _window(table, load),
        "quiet": quiet.rule(method, provenance),
    }


def _points(figure: str, table: pd.DataFrame) -> dict[str, list[Any]]:
    """The series, and where x is a number its values: a text, such as a component, may be what came out."""
    found: dict[str, list[Any]] = {"series": sorted(map(str, table["series"].unique()))}
    columns = published.entries().get(figure, {}).get("columns") or {}
    x = columns.get("x")
    if x in table.columns and columns.get("x_type") != "text":
        values = sorted(map(float, table[x].unique()))
        found[str(x)] = [int(value) if value.is_integer() else value for value in values]
    return found


def _window(table: pd.DataFrame, load: Mapping[str, Any]) -> str | None:
    for column, rule in _WINDOWS.items():
        if column in table.columns:
            return rule
    return "ends with its transactions" if "transactions" in load else None


def hash_of(protocol: Content) -> str:
    """The name of a protocol: the first 12 digits of the SHA-256 of its canonical JSON."""
    text = json.dumps(protocol, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def keep(protocol: Content, chapter: str) -> None:
    """Add a protocol to those of the chapter."""
    file = paths.data() / "recorded" / chapter / FILE
    known = _read(file) if file.exists() else {}
    text = json.dumps({**known, hash_of(protocol): protocol}, indent=1, ensure_ascii=False, allow_nan=False)
    files.write_whole(file, text + "\n")


def read(name: str) -> Content:
    """The kept protocol of that hash; EngineRoomError where there is none, or its file is damaged."""
    for file in (paths.data() / "recorded").glob(f"*/{FILE}"):
        if name in (kept := _read(file)):
            return kept[name]
    raise EngineRoomError(f"the protocol {name} is in no data/recorded/*/{FILE}", remedy=_REMEDY)


def _read(file: Path) -> dict[str, Content]:
    return _parsed(file, file.read_bytes())


@functools.lru_cache(maxsize=64)
def _parsed(file: Path, _: bytes) -> dict[str, Content]:
    """Once for what the file holds."""
    held = files.read_json(file, "protocols", remedy=_REMEDY)
    return forms.require(
        dict[str, dict[str, Any]], held, file=f"the protocols of {file.parent.name}", remedy=_REMEDY
    )


def changes(old: Content, new: Content) -> list[str]:
    """What differs, each as `machine.pause_ps 67000 to 47000`, in the order of their names."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    return [
        f"{name} {_said(before, name)} to {_said(after, name)}"
        for name in sorted(set(before) | set(after))
        if before.get(name) != after.get(name)
    ]


def _leaves(value: Any, name: str = "") -> list[tuple[str, Any]]:
    if isinstance(value, Mapping):
        return [
            leaf
            for key, inner in value.items()
            for leaf in _leaves(inner, f"{name}.{key}" if name else str(key))
        ]
    return [(name, value)]


_MOST_SAID = 60


def _said(leaves: Mapping[str, Any], name: str) -> str:
    value = leaves.get(name)
    if value is None:
        return "unsaid"
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MOST_SAID else f"{text[: _MOST_SAID - 1]}…"
