"""How `_config.yml` becomes Sphinx's settings."""

from __future__ import annotations

import pytest
import yaml

from engineroom import paths
from engineroom.errors import EngineRoomError
from engineroom.making import pages


def test_the_book_s_own_settings_are_sphinx_s():
    config = yaml.safe_load((paths.root() / "_config.yml").read_text(encoding="utf-8"))
    made = pages.settings(config)
    assert made["html_title"] == config["title"]
    assert made["nb_execution_mode"] == config["execute"]["execute_notebooks"]
    assert made["html_theme_options"]["repository_url"] == config["repository"]["url"]
    assert made["html_theme_options"]["launch_buttons"] == config["launch_buttons"]
    assert {"myst_nb", "sphinx_exercise", "offline", "sphinxcontrib.bibtex"} <= set(made["extensions"])
    assert set(config["exclude_patterns"]) <= set(made["exclude_patterns"])
    own = config["sphinx"]["config"]
    assert {name: made[name] for name in own if name != "use_multitoc_numbering"} == {
        name: value for name, value in own.items() if name != "use_multitoc_numbering"
    }
    assert "use_multitoc_numbering" not in made, "Sphinx warns of what no extension knows"


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"logo": "a.png"}, "logo"),
        ({"html": {"comments": {"hypothesis": True}}}, "html.comments"),
        ({"execute": {"run_in_temp": True}}, "execute.run_in_temp"),
        ({"sphinx": {"recursive_update": True}}, "sphinx.recursive_update"),
    ],
)
def test_a_key_that_only_jupyter_book_knows_is_refused_by_name(config: dict[str, object], key: str):
    with pytest.raises(EngineRoomError, match=rf"_config\.yml has {key}, .*\n.*sphinx\.config"):
        pages.settings({"title": "A Book", **config})


def test_what_a_short_config_leaves_out_is_left_to_sphinx():
    made = pages.settings({"title": "A Book"})
    assert made["exclude_patterns"] == ["_build", "**.ipynb_checkpoints"]
    assert "sphinxcontrib.bibtex" not in made["extensions"]
    assert "html_baseurl" not in made
