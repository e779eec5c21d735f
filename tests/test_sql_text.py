from __future__ import annotations

import pytest

from engineroom import sql_text
from engineroom.errors import EngineRoomError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \"a;b\", `c;d`", ["SELECT ';', \"a;b\", `c;d`"]),
        (r"SELECT 'it\'s;', 'it''s;'", [r"SELECT 'it\'s;', 'it''s;'"]),
        ("-- first; line\nSELECT 1 # and; this\n;/* ; */", ["SELECT 1"]),
        ("SELECT /*+ NO_BNL(a) */ 1 /*!80018 ; */;", ["SELECT /*+ NO_BNL(a) */ 1 /*!80018 ; */"]),
        ("SELECT 5--1", ["SELECT 5--1"]),
        (";;\n", []),
    ],
)
def test_a_semicolon_ends_a_statement_unless_it_is_quoted_or_a_comment(text, expected) -> None:
    assert sql_text.statements(text) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "no statement"), ("-- nothing", "no statement"), ("DO 1; DO 2", "2 statements")],
)
def test_a_query_is_one_statement(text, problem) -> None:
    with pytest.raises(EngineRoomError, match=f"q.sql holds {problem}"):
        sql_text.one_statement(text, "q.sql")


def test_files_that_cannot_be_used_are_errors_with_a_remedy(tmp_path) -> None:
    with pytest.raises(EngineRoomError, match="cannot be read: No such file"):
        sql_text.read(tmp_path / "none.sql", "query")
    latin = tmp_path / "latin.sql"
    latin.write_bytes("SELECT 'ä'".encode("latin-1"))
    with pytest.raises(EngineRoomError, match="not UTF-8 text"):
        sql_text.read(latin, "query")
    stored = tmp_path / "stored.sql"
    stored.write_text("DELIMITER //\nCREATE PROCEDURE p() BEGIN END//")
    with pytest.raises(EngineRoomError, match="DELIMITER"):
        sql_text.read(stored, "schema")


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("(SELECT 1)", "SELECT"),
        ("/*+ hint */ delete from t", "DELETE"),
        ("with a as (select 1) table a", "WITH"),
    ],
)
def test_the_first_word_is_found_behind_parentheses_and_comments(statement, word) -> None:
    assert sql_text.first_word(statement) == word
