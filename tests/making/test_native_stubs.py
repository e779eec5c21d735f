from __future__ import annotations

from pathlib import Path

from engineroom import paths
from engineroom.making import native_stubs


def test_the_committed_stubs_are_those_of_the_built_module(tmp_path: Path) -> None:
    native_stubs.write(tmp_path)
    committed = paths.root() / native_stubs.STUBS
    fresh = {stub.name: stub.read_text() for stub in tmp_path.glob("*.pyi")}
    assert fresh == {stub.name: stub.read_text() for stub in committed.glob("*.pyi")}, (
        "python -m engineroom.making.native_stubs writes the stubs again"
    )


def test_every_function_and_class_has_a_docstring() -> None:
    from engineroom._native import hash_join

    public = [name for name in dir(hash_join) if not name.startswith("_")]
    assert "hybrid" in public
    assert [name for name in public if not getattr(hash_join, name).__doc__] == []
