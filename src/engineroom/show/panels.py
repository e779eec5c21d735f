"""Several small charts in the place of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from engineroom.show.style import is_narrow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["panels"]


def panels(
    ax: Axes,
    *,
    wide: tuple[int, int],
    narrow: tuple[int, int],
    space: tuple[float, float],
    sharex: bool = False,
    sharey: bool = True,
) -> list[Axes]:
    """As many rows and columns as the drawing has room for, `space` beside and below; they share the y axis unless told otherwise."""
    ax.set_axis_off()
    place = ax.get_subplotspec()
    assert place is not None
    grid = place.subgridspec(*(narrow if is_narrow(ax) else wide), wspace=space[0], hspace=space[1])
    return list(np.asarray(grid.subplots(sharex=sharex, sharey=sharey)).flat)
