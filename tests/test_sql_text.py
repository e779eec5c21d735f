from __future__ import annotations

import gzip

import pytest
import zstandard

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
        ("SELECT 'open; SELECT 2", ["SELECT 'open; SELECT 2"]),
        ("SELECT 1 /* open; SELECT 2", ["SELECT 1 /* open; SELECT 2"]),
        ("SELECT 'a\\", ["SELECT 'a\\"]),
        ("/*M!100100 SET a=1; */ ; SELECT 1", ["/*M!100100 SET a=1; */", "SELECT 1"]),
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
    with pytest.raises(EngineRoomError, match=r"(?s)not UTF-8 text.*--hex-blob"):
        sql_text.read(latin, "query")
    latin.write_bytes(gzip.compress(b"SELECT 1")[:-9])
    with pytest.raises(EngineRoomError, match="cannot be read: Compressed file ended"):
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
        ("/*!40101 SELECT 1 */", "SELECT"),
        ("/*M!100100 (Delete from t) */", "DELETE"),
        ("/*!99999 SELECT */ DELETE FROM t", "DELETE"),
        ("/*!99999 SELECT */ /*! DELETE FROM t */", ""),
        ("/*!99999 */ update t", "UPDATE"),
        ("/* open select", ""),
    ],
)
def test_the_first_word_is_found_behind_parentheses_and_comments(statement, word) -> None:
    assert sql_text.first_word(statement) == word


@pytest.mark.parametrize(
    "data",
    [
        gzip.compress("SELECT 'ä'".encode(), mtime=0),
        zstandard.compress("SELECT 'ä'".encode()),
        "SELECT 'ä'".encode("utf-8-sig"),
        "SELECT 'ä'".encode("utf-16"),
        gzip.compress("SELECT 'ä'".encode("utf-16"), mtime=0),
    ],
)
def test_a_packed_file_and_one_with_a_mark_of_its_encoding_are_read(data, tmp_path):
    (tmp_path / "q.sql").write_bytes(data)
    assert sql_text.read(tmp_path / "q.sql", "query") == "SELECT 'ä'"
