"""Clients that wait: a dot for each, which a screen reader hears as their number."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Crowd"]


@dataclass(frozen=True)
class Crowd:
    """How many clients wait, by server."""

    waiting: Mapping[str, int]

    def _repr_html_(self) -> str:
        rows = (
            f'<div>{html.escape(server)} <span role="img" aria-label="{n} clients wait here on MySQL {html.escape(server)}">{"•" * n or "none"}</span></div>'
            for server, n in self.waiting.items()
        )
        return f'<div class="crowd">{"".join(rows)}</div>'
