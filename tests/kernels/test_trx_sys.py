"""The chapter's kernels: the smallest case by hand, a slow reference, an invariant, bad arguments."""

from __future__ import annotations

from engineroom._native import trx_sys as kernel


def test_the_kernel_is_empty_as_long_as_it_has_no_other_test():
    assert [name for name in dir(kernel) if not name.startswith("_")] == []
