"""`engineroom class`: a variant per student, and each answer graded apart from its tests."""

from __future__ import annotations
