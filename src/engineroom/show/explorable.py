"""The explorables of the web pages as notebook widgets."""

from __future__ import annotations

import anywidget
import traitlets

from engineroom.errors import EngineRoomError
from engineroom.show import bundle

__all__ = ["Explorable"]


class Explorable(anywidget.AnyWidget):
    """An explorable in JupyterLab: `Explorable("hash_join")`.

    It computes in the browser, by the kernel that the web page uses; the notebook's kernel only carries it there.
    """

    kernel = traitlets.Bytes().tag(sync=True)

    def __init__(self, word: str) -> None:
        if word not in bundle.words():
            raise EngineRoomError(
                f"no explorable {word!r}", remedy=f"take one of: {', '.join(bundle.words())}"
            )
        # anywidget makes traits of these two when they are there before it starts.
        self._esm = bundle.notebook_module(word)
        self._css = bundle.style()
        super().__init__(kernel=bundle.wasm_file(word).read_bytes())
