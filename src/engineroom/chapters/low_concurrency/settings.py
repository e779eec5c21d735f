"""With which settings the versions are compared: equal ones, and each version's own.

Rules, fixed before the first run. Every live comparison of this chapter is made twice, with the settings equal that differ by default,
and as installed: nothing chosen but what a large statement needs. (Figures 1 and 2 of the article are recorded with equal settings alone.) The operations are measured a third time, as installed with the adaptive
hash index off in all versions, so that what the index is worth is a difference of two measurements. All servers of a sitting run side by
side and take turns. What is measured is never a commit: the fsyncs of a binary log are not part of it, its events are.
"""

from __future__ import annotations

import pandas as pd

EQUAL, INSTALLED, NO_HASH_INDEX = "equal settings", "as installed", "as installed but no hash index"
# The source's bulk insert, and the join that its blamed optimisation is about.
BULK, JOIN = "insert rows of 2", "join by primary key"
SETTINGS = (EQUAL, INSTALLED, NO_HASH_INDEX)


def with_settings(table: pd.DataFrame) -> pd.DataFrame:
    """The rows with their settings; a recording that does not say them had equal ones."""
    return table if "settings" in table else table.assign(settings=EQUAL)


def under(table: pd.DataFrame, settings: str) -> pd.DataFrame:
    """The rows that were measured with these settings, which may be none."""
    filled = with_settings(table)
    return filled[filled["settings"] == settings]
