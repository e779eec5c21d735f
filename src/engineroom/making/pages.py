"""The pages, by Sphinx: `_config.yml` is Jupyter Book 1's, whose own command cannot have the newest Sphinx, and `_toc.yml` is for it to read, too.

`python -m engineroom.making.pages FOLDER [-W]`, where `_config.yml` is: pages come into FOLDER/html, and with -W a warning is an error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

from engineroom.errors import EngineRoomError

__all__ = ["settings"]

EXTENSIONS = (
    *("sphinx_togglebutton", "sphinx_copybutton", "myst_nb", "sphinx_external_toc", "sphinx_design"),
    "sphinx_book_theme",
)
# Keys of _config.yml, with what Sphinx and its extensions call them, and the same of the theme.
KEYS = {
    "title": "html_title",
    "author": "author",
    "copyright": "copyright",
    "exclude_patterns": "exclude_patterns",
    "only_build_toc_files": "external_toc_exclude_missing",
    "bibtex_bibfiles": "bibtex_bibfiles",
    "execute.execute_notebooks": "nb_execution_mode",
    "execute.allow_errors": "nb_execution_allow_errors",
    "execute.raise_on_error": "nb_execution_raise_on_error",
    "execute.stderr_output": "nb_output_stderr",
    "execute.timeout": "nb_execution_timeout",
    "html.baseurl": "html_baseurl",
    "parse.myst_enable_extensions": "myst_enable_extensions",
}
THEME_KEYS = {
    "launch_buttons": "launch_buttons",
    "repository.url": "repository_url",
    "repository.path_to_book": "path_to_docs",
    "repository.branch": "repository_branch",
    "html.use_edit_page_button": "use_edit_page_button",
    "html.use_repository_button": "use_repository_button",
    "html.use_issues_button": "use_issues_button",
    "html.home_page_in_navbar": "home_page_in_toc",
    "html.extra_footer": "extra_footer",
}
OWN = {"sphinx.config", "sphinx.extra_extensions", "sphinx.local_extensions"}
# Of Jupyter Book's command alone.
COMMANDS = {"use_multitoc_numbering"}


def settings(config: dict[str, Any]) -> dict[str, Any]:
    """Sphinx's settings by a `_config.yml`. EngineRoomError for a key that Jupyter Book may know and this function does not."""
    said: dict[str, Any] = {}
    for key, value in config.items():
        is_whole = key in KEYS or key in THEME_KEYS or not isinstance(value, dict)
        said |= {key: value} if is_whole else {f"{key}.{inner}": each for inner, each in value.items()}
    if unknown := said.keys() - KEYS.keys() - THEME_KEYS.keys() - OWN:
        raise EngineRoomError(
            f"_config.yml has {', '.join(sorted(unknown))}, which is not known here",
            remedy="say it under sphinx.config, by Sphinx's own name, or add it to the keys of making/pages.py",
        )
    extensions = [
        *EXTENSIONS,
        *said.get("sphinx.extra_extensions", ()),
        *said.get("sphinx.local_extensions", ()),
        *(["sphinxcontrib.bibtex"] if "bibtex_bibfiles" in said else []),
    ]
    theme = {
        "search_bar_text": "Search this book...",
        "navbar_persistent": [],  # the sidebar has a search
        **{name: said[key] for key, name in THEME_KEYS.items() if key in said},
    }
    own = {name: value for name, value in said.get("sphinx.config", {}).items() if name not in COMMANDS}
    return {
        "extensions": extensions,
        "external_toc_path": "_toc.yml",
        "html_sourcelink_suffix": "",
        "html_theme": "sphinx_book_theme",
        "html_theme_options": theme,
        "nitpicky": True,
        "pygments_style": "sphinx",
        **{name: said[key] for key, name in KEYS.items() if key in said},
        "exclude_patterns": ["_build", "**.ipynb_checkpoints", *said.get("exclude_patterns", ())],
        **own,
    }


def _main() -> None:
    from sphinx.application import Sphinx
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    root, folder = Path.cwd(), Path(sys.argv[1])
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    sys.path += {str(root / each) for each in config.get("sphinx", {}).get("local_extensions", {}).values()}
    with patch_docutils(), docutils_namespace():
        app = Sphinx(
            root,
            None,
            folder / "html",
            folder / ".doctrees",
            "html",
            settings(config),
            warningiserror="-W" in sys.argv,
            keep_going=True,
        )
        app.build()
    sys.exit(app.statuscode)


if __name__ == "__main__":
    _main()
