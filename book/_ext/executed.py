"""Labs are executed beside each other while the pages are read, and again only when something changed that their cells read.

jupyter-cache keeps outputs by the text of the cells; `engineroom.making.freshness` says what else they depend on, and outputs of another
state are forgotten. The pages have no cells, so that they are read meanwhile; labs come last.
"""

from __future__ import annotations

import json
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from jupyter_cache.executors.utils import ExecutionResult, single_nb_execution
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import create_nb_reader
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from engineroom import paths
from engineroom.making import freshness, page

SAYS = logging.getLogger(__name__)
CELL = "```{code-cell}"
AT_ONCE = 2


class Executed(NamedTuple):
    notebook: NotebookNode
    result: ExecutionResult


def pages_to_read(_app: Sphinx, env: BuildEnvironment, *_: Any) -> set[str]:
    """All pages when anything changed that they are made of: reading them takes seconds, apart from the labs' cells."""
    made_by = (
        env.mystnb_config.execution_mode
        + freshness.state()
        + freshness.digest((paths.root() / "book" / "_ext").glob("*.py"))
    )
    is_made_alike = getattr(env, "engineroom_made_by", None) == made_by
    env.engineroom_made_by = made_by  # type: ignore[attr-defined]
    return set() if is_made_alike else set(env.found_docs)


def begin(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Put the documents with cells last, forget outputs of another state, and begin to execute what has none."""
    with_cells = [name for name in docnames if CELL in _text(env, name)]
    if env.mystnb_config.execution_mode == "off":
        return
    docnames[:] = [*(name for name in docnames if name not in with_cells), *with_cells]
    cache, kept = _cache(env), _read(_states(env))
    now = {name: freshness.state(name.rpartition("/")[2]) for name in with_cells}
    for record in cache.list_cache_records():
        name = env.path2doc(record.uri)
        if name not in kept or kept[name] != now.get(name, kept[name]):
            cache.remove_cache(record.pk)
    pool = ThreadPoolExecutor(AT_ONCE)
    app.engineroom_running = {}  # type: ignore[attr-defined]
    for name in with_cells:
        notebook = _notebook(env, name)
        try:
            cache.match_cache_notebook(notebook)
        except KeyError:
            SAYS.info("%s is executed", name)
            folder = str(Path(env.doc2path(name)).parent)
            app.engineroom_running[name] = pool.submit(_execute, notebook, folder, env.mystnb_config)  # type: ignore[attr-defined]
    pool.shutdown(wait=False)
    _states(env).write_text(json.dumps(kept | now, indent=1), encoding="utf-8")


def wait(app: Sphinx, name: str, _text: list[str]) -> None:
    """Before a lab is read: its outputs, into the cache. One that failed is executed again there, and says why."""
    future: Future[Executed] | None = getattr(app, "engineroom_running", {}).get(name)
    if future is None:
        return
    notebook, result = future.result()
    if result.err is None:
        seconds = {"execution_seconds": result.time}
        bundle = CacheBundleIn(notebook, str(app.env.doc2path(name)), data=seconds)
        _cache(app.env).cache_notebook_bundle(bundle, check_validity=False, overwrite=True)


def _execute(notebook: NotebookNode, folder: str, config: NbParserConfig) -> Executed:
    result = single_nb_execution(
        notebook,
        cwd=folder,
        allow_errors=config.execution_allow_errors,
        timeout=config.execution_timeout,
        meta_override=True,
    )
    return Executed(notebook, result)


def _notebook(env: BuildEnvironment, name: str) -> NotebookNode:
    text = _text(env, name)
    reader = create_nb_reader(env.doc2path(name), env.myst_config, env.mystnb_config, text)
    assert reader is not None, f"{name} has cells and no kernel in its header"
    return reader.read(text)


def _text(env: BuildEnvironment, name: str) -> str:
    return Path(env.doc2path(name)).read_text(encoding="utf-8")


def _cache(env: BuildEnvironment) -> JupyterCacheAbstract:
    return get_cache(env.mystnb_config.execution_cache_path)


def _states(env: BuildEnvironment) -> Path:
    return Path(env.mystnb_config.execution_cache_path) / "states.json"


def _read(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def choose(_app: Sphinx, config: Config) -> None:
    """`make read` executes nothing."""
    if page.is_to_read():
        config.nb_execution_mode = "off"


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", choose)
    app.connect("env-get-outdated", pages_to_read)
    app.connect("env-before-read-docs", begin)
    app.connect("source-read", wait, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
