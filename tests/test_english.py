"""An editor's list: forms that a reader stumbles over, in pages, docstrings, comments, and the texts that the package shows."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from engineroom import paths

ROOT = paths.root()

_MANY = (
    "allocations|bytes|clients|commits|events|fields|flushes|fsyncs|instructions|kb|kib|lines|messages|mib|microseconds|milliseconds|"
    "misses|ms|nanoseconds|ns|operations|pages|pairs|queries|reads|records|rows|samples|statements|transactions|us|values|writes"
)
_ONE = (
    "block|byte|client|column|commit|core|event|field|fsync|hour|key|line|minute|ms|ns|operation|page|pair|point|query|record|repeat|row|run|"
    "second|set|socket|statement|table|thread|transaction|txn|us|value"
)
# Behind these the words before are a subject: "the rows a run does not have".
_VERB = "computes|does|from|has|in|is|may|of|run|takes?|that|to|was|which|with"

BANNED = {
    # "fsyncs a transaction": say "per".
    "a rate with a": re.compile(rf"\b(?:{_MANY}) an? (?:{_ONE})\b(?! (?:{_VERB})\b)", re.IGNORECASE),
    # "to who looks", "Who closes a gap tells those who wait": say which thread or reader.
    "who without antecedent": re.compile(
        r"\b(?:by|for|from|interrupts?|leaves|of|than|to|with) who\b(?! \w+ for whom)|(?:^|[.!?:] )Who (?!\w+ for whom)[^.?!]*\.(?: |$)"
    ),
    # "Is the buffer full first, the rest goes to files.": say "If the buffer fills first".
    "a condition by inversion": re.compile(
        r"(?:^|[.!?] )(?:Are|Did|Does|Had|Has|Is|Should|Was|Were) (?!not )[^.?!]*, [^.?!]*\.(?: |$)"
    ),
    "of whom and its kin": re.compile(r"\b(?:from|of|to|with) whom\b"),
    "of ours": re.compile(r"\bof ours\b"),
    "that of, twice": re.compile(r"\bthat of (?:[^.,;:]|\.\d){1,30} of\b"),
}


def paragraphs(path: Path) -> Iterator[str]:
    """What `path` says to people, a paragraph at a time, in one line."""
    text = path.read_text(encoding="utf-8")
    found = {".md": _of_page, ".py": _of_python}.get(path.suffix, _of_cpp)(text)
    return (" ".join(each.split()) for each in found)


def _of_page(text: str) -> Iterator[str]:
    text = re.sub(r"\A---\n.*?^---\n", "", text, flags=re.DOTALL | re.MULTILINE)
    prose, code = [], ""
    for line in text.splitlines():
        fence = re.match(r"\s*(`{3,})(.*)", line)
        if code:
            code = "" if fence and fence[1] == code and not fence[2] else code
        elif fence and fence[2] and (not fence[2].startswith("{") or fence[2].startswith("{code-cell}")):
            code = fence[1]  # a block of code; other directives hold prose
        else:
            prose.append(re.sub(r"^\s*`{3,}(\{\S+\})?", "", line))
    yield from re.split(r"\n\s*\n|\n(?=\s*[-*|#:])|(?<=\|)", "\n".join(prose))


def _of_python(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield from re.split(r"\n\s*\n", node.value)
    comments = (
        (token.start[0], token.string.lstrip("# "))
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT
    )
    yield from _joined(comments)


def _of_cpp(text: str) -> Iterator[str]:
    lines = ((n, re.search(r"(?<!:)//+<? ?(.*)$", line)) for n, line in enumerate(text.splitlines()))
    yield from _joined((n, found[1]) for n, found in lines if found)


def _joined(lines: Iterator[tuple[int, str]]) -> Iterator[str]:
    """Comments on lines that follow one another are one text."""
    last, text = -2, ""
    for n, line in lines:
        if n != last + 1:
            yield text
            text = ""
        last, text = n, f"{text} {line}"
    yield text


def tracked() -> list[Path]:
    listing = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    files = (ROOT / name for name in listing.split("\0") if name and not name.startswith("data/"))
    return [each for each in files if each.suffix in (".md", ".py", ".cpp", ".hpp") and each.exists()]


def stumbles(text: str) -> list[str]:
    return [f"{name}: {found[0]}" for name, form in BANNED.items() for found in form.finditer(text)]


@pytest.mark.parametrize(
    "text",
    [
        "Fsyncs a transaction, by clients.",
        "eight bytes a record for the pointers",
        "It moves twice: to who looks, and again.",
        "A gap. Who closes it tells the others.",
        "Is the buffer full first, the rest goes to files.",
        "clients, most of whom sleep",
        "a mistake of ours",
        "more than that of 5.7 of last year",
    ],
)
def test_the_list_knows_its_forms(text: str) -> None:
    assert len(stumbles(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "fsyncs per transaction",
        "a claim whose rows a run does not have",
        "between two commits a thread computes as long",
        "Who runs it? Nobody.",
        "They tell who waits for whom.",
        "Is it there? Ask the server, which knows.",
        "more than the log of 5.7",
    ],
)
def test_the_list_leaves_good_english_alone(text: str) -> None:
    assert stumbles(text) == []


def test_prose_behind_a_block_of_code_is_read() -> None:
    page = "```{note}\na mistake of ours\n```\n\n```python\nx = 'of ours'\n```\n\nmore of ours\n\n```{code-cell} ipython3\nof ours\n```\nend\n"
    found = [each for text in _of_page(page) for each in stumbles(" ".join(text.split()))]
    assert found == ["of ours: of ours"] * 2


def test_nothing_that_people_read_has_a_form_of_the_list() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {each}"
        for path in tracked()
        if path != Path(__file__)
        for text in paragraphs(path)
        for each in stumbles(text)
    ]
    assert found == []
