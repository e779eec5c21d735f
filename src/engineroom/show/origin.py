"""Where the rows of a figure or a table come from: told behind one sign, so that a caption is left with its finding.

The fold is the browser's own. It opens by mouse, finger and keyboard, without a script, and also in a notebook.
"""

from __future__ import annotations

import html
import re

__all__ = ["NO_VERDICT", "folded"]

NO_VERDICT = "It decides no verdict"
# What tells against a recording is never folded. Its reason may hold numbers, so only a full stop before a space ends it.
_DOUBTS = re.compile(rf"\s*({NO_VERDICT}: .*?\.)(?=\s|$)")
_SIGN = (
    '<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">'
    '<g fill="none" stroke="currentColor" stroke-width="1.6"><circle cx="8" cy="8" r="7"/><path d="M8 7v5"/></g>'
    '<circle cx="8" cy="4.4" r="1.1" fill="currentColor"/></svg>'
)


def folded(origin: str, link: str = "") -> str:
    """HTML for a caption: what tells against the recording, a link to the rows, and a sign that opens the rest."""
    said = " ".join([*(html.escape(doubt) for doubt in _DOUBTS.findall(origin)), *([link] if link else [])])
    rest = html.escape(_DOUBTS.sub("", origin).strip())
    if not rest:
        return said
    sign = f'<summary aria-label="Where this comes from" title="Where this comes from">{_SIGN}</summary>'
    return f'{said} <details class="er-origin">{sign}<div>{rest}</div></details>'.lstrip()
