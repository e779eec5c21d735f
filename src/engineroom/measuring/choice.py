"""Live where the machine can and the measurement is short, recorded otherwise; the page says which."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from engineroom import runs
from engineroom.errors import EngineRoomError
from engineroom.runs import Run

__all__ = ["live_or_recorded", "why_recorded"]


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
