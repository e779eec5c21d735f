"""Live where the machine can and the measurement is short, recorded otherwise; the page says which."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from engineroom import files, paths, runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run, provenance

__all__ = ["Kept", "live_or_kept", "live_or_recorded", "why_recorded"]


def live_or_recorded(
    measure: Callable[[], Run], *, figure: str, versions: Sequence[str], method: str = "live"
) -> Run:
    """Run `measure` when every version can be had here now, else return the newest recorded run and print why.

    `ENGINEROOM_LIVE=0` asks for recordings. Raises EngineRoomError when there is neither a server nor a recording.
    """
    reason = why_recorded(versions)
    if reason is None:
        return measure()
    run = runs.latest(figure, method)
    if run is None:
        raise EngineRoomError(
            f"{figure}: {reason}, and no run is recorded", remedy="engineroom doctor says what can run here"
        )
    print(f"Shown: recorded run {run.n} of {figure} ({(run.recorded_at or '')[:10]}), because {reason}.")
    return run


def why_recorded(versions: Sequence[str]) -> str | None:
    """The reason to show a recording, or None when every version can be had here now; what is lacking is fetched."""
    from engineroom import servers

    if os.environ.get("ENGINEROOM_LIVE", "1") == "0":
        return "ENGINEROOM_LIVE is 0"
    absent = [version for version in versions if not servers.runnable(version)]
    if absent:
        return f"this machine has no MySQL {' and no '.join(absent)}"
    return next((reason for version in versions if (reason := servers.why_not_now(version))), None)


class Kept(str):
    """What a cell showed when it was recorded; a notebook prints it as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def live_or_kept(measure: Callable[[], Any], *, cell: str, versions: Sequence[str]) -> Any:
    """What `measure` finds on live servers, or, without them, the text of what it found when `cell` was recorded, and why.

    For what is looked at and no figure is made of: an order of sessions, a report. With `ENGINEROOM_KEEP_CELLS=1` what is found live becomes the
    recording. Raises EngineRoomError when there is neither a server nor a recording.
    """
    reason = why_recorded(versions)
    if reason is None:
        found = measure()
        if os.environ.get("ENGINEROOM_KEEP_CELLS") == "1":
            _keep(cell, str(found), versions)
        return found
    kept = _kept().get(cell)
    if kept is None:
        raise EngineRoomError(
            f"{cell}: {reason}, and nothing is recorded", remedy="engineroom doctor says what can run here"
        )
    servers = " and ".join(kept["servers"])
    machine = f"{kept['machine']['cpu']}, {kept['machine']['cores']} cores"
    return Kept(f"Recorded {kept['date']} on MySQL {servers} ({machine}), because {reason}:\n{kept['text']}")


def _cells() -> Path:
    return paths.data() / "labs" / "cells.json"


def _kept() -> dict[str, dict[str, Any]]:
    """The recordings by the cells' names."""
    kept: dict[str, dict[str, Any]] = json.loads(_cells().read_text(encoding="utf-8"))
    return kept


def _keep(cell: str, text: str, versions: Sequence[str]) -> None:
    kept, machine = _kept() if _cells().exists() else {}, provenance.machine()
    kept[cell] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "servers": list(versions),
        "text": provenance.scrub(text),
        "machine": {name: machine[name] for name in ("cpu", "cores", "kernel", "storage", "load")},
    }
    _cells().parent.mkdir(exist_ok=True)
    files.write_whole(_cells(), json.dumps(dict(sorted(kept.items())), indent=1, ensure_ascii=False) + "\n")
