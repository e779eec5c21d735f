"""A statement without its values, so that statements which differ in these alone count as one.

What is a value follows pt-query-digest, so that both count the same digests over a log: literals, NULL, signs before a value,
numbers within names, lists of any length, rows of VALUES, repeats of a UNION, the numbers of LIMIT, ASC, comments and case. Unlike
there, quotes are read as a server reads them, what stands behind the rows of an INSERT counts, pairs in IN are a list as well, and
optimizer hints and hexadecimal digits in any case are what they are. Every expression takes time and memory linear in the text.
"""

from __future__ import annotations

import re

from engineroom import sql_text

__all__ = ["digest_of"]

_QUOTED = re.compile(
    rf"""(?P<value>{sql_text.TEXT})|(?P<name>{sql_text.NAME})
      | --(?=\s|\Z)[^\n]*|\#[^\n]*|/\*(?!M?!|\+).*?(?:\*/|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_PREFIX = re.compile(r"(?<![\w$])(?:[xXbBnN]|_[A-Za-z]\w*+ ?)\?")  # x'00', N'a', _utf8mb4'a'
_NUMBER = re.compile(r"\.?[0-9][0-9A-Fa-fxX]*+(?:[.+-](?=[0-9])[0-9A-Fa-fxX]++|\.(?![\w`]))*+", re.ASCII)
_NUMBER_ALONE = re.compile(r"(?<![\w$])" + _NUMBER.pattern)
_SIGN = re.compile(r"(?<![+-])[+-]++(?=\?)")
_SIGN_APART = re.compile(r"(?<![+-])[+-]++(?= \?)")
_SPACE = re.compile(r"\s\s++|[^\S ]")
_CONSTANT = re.compile(r"\b(?:null|true|false)\b")
_PARTS = r"(?:\([^()]*+(?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)[^()]*+)*+\))"
# The rows of an INSERT behind the first, also where a log has cut them off.
_ROWS = re.compile(
    rf"\b(values? ?(?:row ?)?{_PARTS})(?: ?, ?(?:row ?)?{_PARTS})*+(?: ?, ?(?:row ?)?(?:\(.*+)?\Z)?",
    re.DOTALL,
)
_LIST = re.compile(r"\b(in|values?) ?(?:row ?)?\([ ?,]*+(?:\([ ?,]*+\)[ ?,]*+)*+\)")
_LIMIT = re.compile(r"\blimit \?(?: ?, ?\?| offset \?)?")
_UNION = re.compile(r"( union(?: all)?) ")
_DUMP = re.compile(r"SELECT /\*!40001 SQL_NO_CACHE \*/ \* FROM ")
_TOOLKIT = re.compile(r"/\*\w+\.\w+:[0-9]/[0-9]\*/")
_CALL = re.compile(r"\s*call\s+([^\s(]+)", re.IGNORECASE)
_USE = re.compile(r"\s*use\s+\S+\s*", re.IGNORECASE)
# Of megabytes of rows the beginning and what stands behind the last row are enough.
_LONG = 2**16
_INSERT = re.compile(r"\s*(?:insert|replace)\b[^']{1,2000}?\bvalues?\s*\(", re.IGNORECASE)
_BEHIND_ROWS = re.compile(r"\)\s*(on\s+duplicate\s+key\s+update\s.*)", re.IGNORECASE | re.DOTALL)
_SELECTS = 8  # where a repeat of a UNION may begin, from the end


def digest_of(statement: str, *, numbered_names_apart: bool = False) -> str:
    """The statement with ? for each value, in lower case and single spaces; t1 and t2 are one name unless they are told apart."""
    if statement.startswith("administrator command: "):
        return statement
    if found := _CALL.match(statement):
        return f"call {found[1]}".lower()
    if _USE.fullmatch(statement):
        return "use ?"
    if "/*" in statement:
        if _DUMP.match(statement):
            return "mysqldump"
        if _TOOLKIT.search(statement):
            return "percona-toolkit"
    if len(statement) > _LONG and _INSERT.match(statement):
        rows = digest_of(statement[:_LONG], numbered_names_apart=numbered_names_apart)
        if rows.count("(") == rows.count(")"):
            behind = _BEHIND_ROWS.search(statement, len(statement) - _LONG // 4)
            end = digest_of(behind[1], numbered_names_apart=numbered_names_apart) if behind else ""
            return f"{rows} {end}".strip()
    text = _PREFIX.sub("?", _QUOTED.sub(_bare, statement))
    text = (_NUMBER_ALONE if numbered_names_apart else _NUMBER).sub("?", text)
    text = _SPACE.sub(" ", text).strip().lower()
    text = _CONSTANT.sub("?", text)
    if "+" in text or "-" in text:
        text = _SIGN_APART.sub("?", _SIGN.sub("", text))
    if "value" in text:
        text = _ROWS.sub(r"\1", text)
    text = _LIMIT.sub("limit ?", _LIST.sub(r"\1(?+)", text))
    if " union " in text:
        text = _unions(text)
    before, order, after = text.partition("order by ")
    return before + order + re.sub(r" asc\b", "", after) if order else text


def _bare(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return found[0]
    if found["value"] is not None:
        return "?"
    # A comment parts two words, and is nothing elsewhere.
    at, end, text = found.start(), found.end(), found.string
    return " " if text[at - 1 : at].isalnum() and text[end : end + 1].isalnum() else ""


def _unions(text: str) -> str:
    """The text with each chain of equal SELECTs as one and a remark."""
    first, *later = _UNION.split(text)
    made, part, repeated = [first], first, ""
    for how, then in zip(later[::2], later[1::2], strict=True):
        if not (repeated and _begins(then, repeated)):
            repeated = _repeated(part, then)
            if not repeated:
                made += [how, " ", then]
                part = then
                continue
            made.append("")
        made[-1] = f" /*repeat{how}*/"
        if rest := then[len(repeated) :]:
            made.append(rest)
            part, repeated = rest, ""
    return "".join(made)


def _repeated(part: str, then: str) -> str:
    """The SELECT that ends `part` and with which `then` begins."""
    found, at = "", len(part)
    for _ in range(_SELECTS):
        at = part.rfind("select ", 0, at)
        if at < 0:
            break
        if _begins(then, part[at:]):
            found = part[at:]
    return found


def _begins(text: str, select: str) -> bool:
    return text.startswith(select) and not text[len(select) : len(select) + 1].isalnum()
