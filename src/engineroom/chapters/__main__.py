"""One line per WebAssembly module, for native/wasm/build.sh: its word, what to optimize for, its sources."""

from __future__ import annotations

from pathlib import Path

from engineroom import chapters

native = Path(__file__).resolve().parents[3] / "native"
for each in chapters.modules():
    print(each.word, each.optimize, *each.files(native), *(f"lib/{name}/{name}.c" for name in each.libraries))
