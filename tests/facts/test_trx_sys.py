"""The facts of the chapter's page, on rows made by hand."""

from __future__ import annotations

from engineroom import facts
from engineroom.facts import trx_sys


def test_the_page_has_no_number_as_long_as_none_is_tested():
    assert facts.names(trx_sys.TrxSysFacts) == []
