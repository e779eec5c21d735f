"""What the README says of an image like Binder's is what `.binder/measure.sh` printed."""

from __future__ import annotations

import json
import statistics

from engineroom import paths

MOST_BYTES, MOST_START_MS = 2.5e9, 15_000  # what was aimed at


def test_the_readme_has_the_measured_size_and_start_of_the_image() -> None:
    measured = json.loads((paths.data() / "binder" / "image.json").read_text())
    (row,) = [
        line
        for line in (paths.root() / "README.md").read_text().splitlines()
        if line.startswith("| Binder |")
    ]
    start_ms = statistics.median(measured["start_ms"])
    assert f"has {measured['bytes'] / 1e9:.2f} GB" in row
    assert f"answers after {start_ms / 1000:.1f} s (median of {len(measured['start_ms'])})" in row
    assert measured["bytes"] < MOST_BYTES
    assert start_ms < MOST_START_MS
