"""`engineroom class grade`: each question of a submission in processes of its own, the tests apart from the answer."""

from __future__ import annotations
