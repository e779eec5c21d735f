"""What follows from the address of the public repository, `repository.url` in _config.yml.

Buttons (Binder, Colab, repository, edit, issue), canonical addresses and a sitemap, and on pages `{{ repository }}`, `{{ issue }}` and `{{ site }}`.
Until the address is set, pages have none of these links.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError

NOT_SET = "/OWNER/"
ADDRESS = re.compile(r"https://(github|gitlab)\.com/([\w-]+)/([\w.-]+)(?<!\.git)")
BUTTONS = ("launch-buttons", "source-buttons")
GITHUB = "https://github.com"
COLAB = "https://colab.research.google.com/github"


def is_published(config: Config) -> bool:
    return NOT_SET not in config.html_theme_options["repository_url"]


def site(url: str) -> str:
    """Where the repository's host serves pages."""
    match = ADDRESS.fullmatch(url)
    if match is None:
        raise ConfigError(
            f"repository.url of _config.yml is {url!r}: write it as https://github.com/NAME/REPOSITORY"
        )
    host, owner, name = match.groups()
    pages = f"{owner}.{host}.io".lower()
    return f"https://{pages}/" if name.lower() == pages else f"https://{pages}/{name}/"


def choose(_app: Sphinx, config: Config) -> None:
    said = {"repository": "the repository", "issue": "Open an issue", "site": ""}
    if is_published(config):
        url = config.html_theme_options["repository_url"]
        config.html_baseurl = f"{(config.html_baseurl or site(url)).rstrip('/')}/"
        said = {
            "repository": f"[the repository]({url})",
            "issue": f"[Open an issue]({url}/issues)",
            "site": f", and its address, <{config.html_baseurl}>",
        }
    config.myst_substitutions = {**config.myst_substitutions, **said}


def choose_buttons(app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Drop what needs an address, or add Colab, which opens a notebook of a repository on GitHub: of the branch that .ci/publish makes."""
    shown = context.get("header_buttons", [])
    url = app.config.html_theme_options["repository_url"]
    if not is_published(app.config):
        context["header_buttons"] = [each for each in shown if each.get("label") not in BUTTONS]
    elif url.startswith(GITHUB):
        colab = {
            "type": "link",
            "text": "Colab",
            "tooltip": "Launch on Colab",
            "icon": "_static/images/logo_colab.png",
            "url": f"{COLAB}{url.removeprefix(GITHUB)}/blob/gh-pages/_sources/{page}.ipynb",
        }
        for each in shown:
            if each.get("label") == "launch-buttons":
                each["buttons"].append(colab)


def write_for_hosts(app: Sphinx, error: Exception | None) -> None:
    """A sitemap, and the file without which GitHub leaves out of a branch what begins with an underscore."""
    if error is None and app.builder.format == "html" and app.config.html_baseurl:
        base, uri = app.config.html_baseurl, app.builder.get_target_uri
        (Path(app.outdir) / ".nojekyll").touch()
        pages = "\n".join(f"<url><loc>{base}{uri(name)}</loc></url>" for name in sorted(app.env.found_docs))
        (Path(app.outdir) / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{pages}\n</urlset>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", choose)
    app.connect("html-page-context", choose_buttons, priority=900)
    app.connect("build-finished", write_for_hosts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
