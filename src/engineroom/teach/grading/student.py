"""In the student's process: the cells are run, and what they define is lent to the grading process by number."""

from __future__ import annotations

import signal
import socket
from typing import Any

from engineroom.teach.grading.talk import Ended, Peer

__all__ = ["run"]


def run(cells: list[dict[str, str]], answers: list[str], channel: socket.socket) -> None:
    """Runs `cells` one after the other; an error ends its cell only, as in a notebook. `answers` are the names asked for."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    errors = []
    for cell in cells:
        try:
            exec(compile(cell["source"], f"<{cell['name']}>", "exec"), namespace)  # noqa: S102
        except BaseException as error:  # noqa: BLE001 (SystemExit, too: the next cell runs, as in a notebook)
            if cell["name"] == "answer":
                errors.append(_line(error))

    def found(name: str) -> Any:
        return namespace[name]

    peer = Peer(channel, is_student=True)
    peer.offer(found)
    peer.offer(lambda: [name for name in answers if name in namespace])
    peer.offer(lambda: errors)
    try:
        peer.serve_for_ever()
    except Ended:
        return


def _line(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001
        return type(error).__name__
