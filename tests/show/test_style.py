"""What is written in a series' colour can be read on the light page and on the dark one."""

from __future__ import annotations

import re

import pytest

from engineroom import paths
from engineroom.show import style

CSS = (paths.root() / "book" / "web" / "styles" / "book.css").read_text()
WHITE, DARK = "#ffffff", "#14181e"  # the theme's grounds


def contrast(one: str, other: str) -> float:
    light, dark = sorted((style.luminance(one), style.luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def brightened(colour: str) -> str:
    """As the page's filter shows it in dark mode."""
    (factor,) = re.findall(r'data-theme="dark"\] \.er-figure svg \{ filter: brightness\(([\d.]+)\)', CSS)
    parts = (min(255, round(int(colour[i : i + 2], 16) * float(factor))) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)


@pytest.mark.parametrize("colour", [each.colour for each in style.STYLES])
def test_a_label_in_its_series_colour_has_contrast_in_both_modes(colour):
    letters = style.legible(colour)
    assert contrast(letters, WHITE) >= 4.5
    assert contrast(brightened(letters), DARK) >= 4.5


def test_contrast_is_that_of_wcag():
    assert contrast("#000000", WHITE) == pytest.approx(21)
    assert contrast("#777777", WHITE) == pytest.approx(4.48, abs=0.01)


def test_a_note_in_ink_stays_in_ink_and_one_in_a_colour_gets_darker():
    import matplotlib.pyplot as plt

    drawing, ax = plt.subplots()
    style.note(ax, "ink", (0, 0), (0, 0))
    style.note(ax, "orange", (0, 0), (0, 0), color=style.ORANGE)
    assert [each.get_color() for each in ax.texts] == ["black", style.legible(style.ORANGE)]
    plt.close(drawing)
