"""What the reference says of functions and classes, and that its examples are true."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import inspect
import re

import pytest

from engineroom import _native, chapters, paths

EXTENSIONS = paths.root() / "book" / "_ext"
PAGE = (paths.root() / "book" / "reference.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^```\{api\} (\S+)\n(.*?)\n?```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def reference():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXTENSIONS)
        spec = importlib.util.spec_from_file_location("reference", EXTENSIONS / "reference.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module


def test_every_kernel_is_listed_and_each_chapter_leads_to_it():
    words = {each.word for each in chapters.written() if each.has_own_kernel}
    assert {f"engineroom._native.{word}" for word in words} <= {name for name, _ in LISTED}
    for each in chapters.written():
        for page in (f"notebooks/{each.word}.md", f"book/{each.word}_evidence.md"):
            assert re.search(r"\(api-[a-z-]+\)", (paths.root() / page).read_text(encoding="utf-8")), page


@pytest.mark.parametrize(("module", "names"), LISTED, ids=[name for name, _ in LISTED])
def test_each_entry_says_what_it_is(reference, module, names):
    text = reference.described(module, names.split())
    entries = re.findall(r"```text\n(.*?)\n```\n\n(.*?)(?=\n\n```text|\Z)", text, re.DOTALL)
    assert len(entries) >= len(names.split())
    functions = [
        (call, said) for call, said in entries if call[0].islower() and not call.startswith("class ")
    ]
    assert [call for call, said in functions if len(said) < 10] == []


def test_a_call_is_shown_without_what_only_python_needs_and_its_docstring_as_it_is_written(reference):
    cross = reference.described("engineroom.simulating.sweep", ["cross"])
    assert cross.startswith(
        "```text\ncross(**columns: Iterable[Any]) -> list[dict[str, Any]]\n```\n\nAll combinations"
    )
    assert "```pycon\n>>> cross(cores=[2, 4]" in cross
    hybrid = reference.described("engineroom._native.hash_join", ["hybrid"])
    assert hybrid.startswith("```text\nhybrid(build_key: ")
    assert '\n\noutput: `"rows"`, or `"count"` for count and sum only.' in hybrid
    assert "typing." not in hybrid
    assert "\n\nRaises ValueError" in hybrid


def test_signs_of_markdown_stay_signs(reference):
    assert reference._text('a*b and <c> and "d*" and `e*`') == 'a\\*b and \\<c> and `"d*"` and `e*`'


def test_examples_of_the_page_and_of_docstrings_give_what_they_say():
    runner, finder = doctest.DocTestRunner(), doctest.DocTestFinder()
    examples = "\n".join(re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    tests = [doctest.DocTestParser().get_doctest(examples, {}, "book/reference.md", None, 0)]
    for name in {name for name, _ in LISTED}:
        module = importlib.import_module(name)
        tests += finder.find(module, name)
    assert sum(bool(test.examples) for test in tests) >= 5
    for test in tests:
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_every_function_of_a_kernel_has_a_docstring():
    without = [
        f"{word}.{name}"
        for word, module in vars(_native).items()
        if inspect.ismodule(module)
        for name, value in vars(module).items()
        if callable(value)
        and not name.startswith("_")
        and len((value.__doc__ or "").splitlines()) < 2
        and not isinstance(value, type)
    ]
    assert without == []
