"""A page is executed again when something changed that its cells read; otherwise its outputs come from jupyter-cache.

`engineroom.making.freshness` says what changed. Here jupyter-cache is told to forget such pages and Sphinx to read them again; what
was executed gets its record.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from docutils import nodes
from jupyter_cache import get_cache
from jupyter_cache.base import JupyterCacheAbstract
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from engineroom import paths
from engineroom.making import reads
from engineroom.making.freshness import Records, digest

SAYS = logging.getLogger(__name__)
CELL = "```{code-cell}"
BEGUN = "engineroom_begun"
# What makes a page of its text and its outputs, beside the packages.
MAKERS = (
    "book/_ext/*.py",
    "src/engineroom/chapters.*",
    "src/engineroom/widgets/*.py",
    "requirements/book.txt",
)


def pages_to_read(
    _app: Sphinx,
    env: BuildEnvironment,
    _added: AbstractSet[str],
    _changed: AbstractSet[str],
    _removed: AbstractSet[str],
) -> Iterable[str]:
    """Pages to execute again, whose outputs are forgotten; all pages when what makes them changed."""
    records, cache = _records(env), _cache(env)
    outputs = {record.pk: env.path2doc(record.uri) for record in cache.list_cache_records()}
    stale, fresh = [], set()
    for page in sorted(env.found_docs):
        if CELL not in Path(env.doc2path(page)).read_text(encoding="utf-8"):
            continue
        differs = records.changed(page) if page in outputs.values() else ["it has no outputs"]
        if differs:
            stale.append(page)
            SAYS.info("%s will be executed, since this is new: %s", page, ", ".join(differs[:5]))
        else:
            fresh.add(page)
    for key, page in outputs.items():
        if page not in fresh:  # also of pages that are gone: another with the same cells would take them
            cache.remove_cache(key)

    made_by = digest(path for pattern in MAKERS for path in paths.root().glob(pattern))
    is_made_alike = getattr(env, "engineroom_made_by", None) == made_by
    env.engineroom_made_by = made_by  # type: ignore[attr-defined]
    return stale if is_made_alike else env.found_docs


def begin(app: Sphinx, page: str, _text: list[str]) -> None:
    """Before a page is read, and its cells are executed: its kernel is told where to list what it reads."""
    log = _records(app.env).log(page)
    log.unlink(missing_ok=True)
    os.environ[reads.VARIABLE] = str(log)
    app.env.temp_data[BEGUN] = (
        time.time(),
        {record.hashkey for record in _cache(app.env).list_cache_records()},
    )


def end(app: Sphinx, _document: nodes.document) -> None:
    """If cells were executed, keep what they were executed with, and no outputs of what the page's cells were before."""
    os.environ.pop(reads.VARIABLE, None)
    env, cache = app.env, _cache(app.env)
    since, before = env.temp_data.pop(BEGUN)
    outputs = [record for record in cache.list_cache_records() if env.path2doc(record.uri) == env.docname]
    if any(record.hashkey not in before for record in outputs):
        _records(env).keep(env.docname, since=since)
        for record in outputs:
            if record.hashkey in before:
                cache.remove_cache(record.pk)


def _cache(env: BuildEnvironment) -> JupyterCacheAbstract:
    return get_cache(env.mystnb_config.execution_cache_path)


def _records(env: BuildEnvironment) -> Records:
    return Records(Path(env.mystnb_config.execution_cache_path) / "reads")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("env-get-outdated", pages_to_read)
    app.connect("source-read", begin, priority=100)
    app.connect("doctree-read", end)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
