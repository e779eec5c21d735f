"""The exercises as a reader downloads them: without solutions, checked by the cells below the answers."""

from __future__ import annotations

import json

import nbformat
import pytest

from engineroom.teach import masters, practice


@pytest.mark.parametrize("master", masters.files(), ids=lambda master: master.stem)
def test_what_is_downloaded_has_no_answers_and_passes_no_check_until_it_has_the_solutions(
    master, tmp_path, capsys
):
    practice.write(master, tmp_path / "exercises" / "a.ipynb")
    text = (tmp_path / "exercises" / "a.ipynb").read_text(encoding="utf-8")
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert not [word for word in ("grader", "SOLUTION", "# Hidden", "PROMPT") if word in text]
    cells = json.loads(text)["cells"]
    questions = masters.read(master).questions
    starters = [at - 1 for at, cell in enumerate(cells) if "practice.check" in cell["source"]]
    assert len(starters) == len(questions)

    def said() -> list[list[str]]:
        """What each question's checks print."""
        space, found = {"__name__": "notebook"}, []
        for at, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                capsys.readouterr()
                exec(compile(cell["source"], f"cell {at}", "exec"), space)  # noqa: S102
                if at - 1 in starters:
                    found.append(capsys.readouterr().out.splitlines())
        return found

    for question, lines in zip(questions, said(), strict=True):
        assert any(line.startswith("✗ ") for line in lines), question.name
    for at, question in zip(starters, questions, strict=True):
        cells[at]["source"] = question.solution
    for question, lines in zip(questions, said(), strict=True):
        assert lines
        assert all(line.startswith("✓ ") for line in lines), (question.name, lines)
