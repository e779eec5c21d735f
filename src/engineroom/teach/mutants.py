"""Small mistakes in the exercises' solutions, one at a time: which of them does no test of their question see?

The well-kept libraries change no text, no set's element and no statement, where most of these solutions' meaning is, so the operators are
here; each is a change of one node of the syntax tree.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import multiprocessing
import random
import resource
import signal
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engineroom import paths, progress
from engineroom.errors import EngineRoomError
from engineroom.teach import fresh, handouts
from engineroom.teach.trial import Trial

__all__ = ["Mutant", "Verdict", "judged", "known", "mutants", "table"]

MEMORY_BYTES = 6 * 2**30
FEWEST = 8  # per question; a solution that is too short for so many has its names swapped, too
_OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,), ast.LShift: (ast.RShift,), ast.RShift: (ast.LShift,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list"}


@dataclass(frozen=True)
class Mutant:
    """A solution with one change. Its name holds as long as the question, the change and the line do."""

    question: str
    name: str
    line: str
    change: str
    code: str


@dataclass(frozen=True)
class Verdict:
    """What the tests say of one mutant; `equivalent` is the reason why it need not be seen, if there is one."""

    chapter: str
    mutant: Mutant
    is_killed: bool
    equivalent: str = ""


def mutants(question: str, solution: str) -> list[Mutant]:
    """All changes of a solution, in the order of their names."""
    made = _made(question, solution, _changes)
    if 0 < len(made) < FEWEST:
        made |= _made(question, solution, _swaps)
    return sorted(made.values(), key=lambda each: each.name)


def _made(
    question: str,
    solution: str,
    changes: Callable[[ast.AST, ast.Module], Iterator[tuple[str, Callable[[Any], None]]]],
) -> dict[str, Mutant]:
    """By code: two changes may come to the same."""
    tree = ast.parse(solution)
    lines = solution.splitlines()
    made: dict[str, Mutant] = {}
    said: Counter[str] = Counter()
    for place, node in enumerate(ast.walk(tree)):
        for change, alter in changes(node, tree):
            other = copy.deepcopy(tree)
            alter(next(each for i, each in enumerate(ast.walk(other)) if i == place))
            code = ast.unparse(ast.fix_missing_locations(other))
            line = lines[getattr(node, "lineno", 1) - 1].strip()
            what = f"{question}\0{change}\0{line}"
            said[what] += 1
            name = hashlib.sha256(f"{what}\0{said[what]}".encode()).hexdigest()[:10]
            if code != ast.unparse(tree):
                made.setdefault(code, Mutant(question, name, line, change, code))
    return made


def _swaps(node: ast.AST, tree: ast.Module) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """A name that is read becomes another one of the solution's own."""
    own = sorted(
        {each.arg for each in ast.walk(tree) if isinstance(each, ast.arg)}
        | {
            each.id
            for each in ast.walk(tree)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
    )
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in own and len(own) > 1:
        other = own[(own.index(node.id) + 1) % len(own)]
        yield f"{node.id} to {other}", functools.partial(_set, field="id", new=other)


def _changes(node: ast.AST, tree: ast.Module) -> Iterator[tuple[str, Callable[[Any], None]]]:
    skipped = _untouched(tree)
    if node in skipped:
        return
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for new in _OPERATORS.get(type(op), ()):
                yield f"{type(op).__name__} to {new.__name__}", functools.partial(_set_op, i=i, new=new)
    elif isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        for new in _OPERATORS.get(type(node.op), ()):
            yield (
                f"{type(node.op).__name__} to {new.__name__}",
                functools.partial(_set, field="op", new=new()),
            )
    elif isinstance(node, ast.UnaryOp):
        new_op = ast.Not if isinstance(node.op, ast.Not) else ast.UAdd
        yield f"without {type(node.op).__name__}", functools.partial(_without, new=new_op)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield f"{node.value} to {not node.value}", functools.partial(_set, field="value", new=not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        for step in (1, -1):
            yield f"{node.value} {step:+}", functools.partial(_set, field="value", new=node.value + step)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield f"{node.value!r} to another text", functools.partial(_set, field="value", new=node.value + "?")
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        new_name = _CALLS[node.func.id]
        if new_name == "list" and node.keywords:
            yield "without the key", lambda each: _set(each, "keywords", [])
        else:
            yield f"{node.func.id} to {new_name}", lambda each: _set(each.func, "id", new_name)
    elif isinstance(node, ast.IfExp | ast.If):
        yield "the condition turned", lambda each: _set(each, "test", ast.UnaryOp(ast.Not(), each.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "without the filter", lambda each: _set(each, "ifs", [])
    elif isinstance(node, ast.Set | ast.List | ast.Tuple) and isinstance(
        getattr(node, "ctx", ast.Load()), ast.Load
    ):
        for i in range(len(node.elts) if len(node.elts) > 1 else 0):
            yield f"without element {i + 1}", functools.partial(_drop, i=i)
    for field in ("body", "orelse"):
        block = getattr(node, field, None)
        if isinstance(block, list) and not isinstance(node, ast.Module):
            for i, statement in enumerate(block):
                if isinstance(statement, ast.AugAssign | ast.Expr | ast.Break | ast.Continue | ast.If) and (
                    statement not in skipped
                ):
                    yield (
                        f"without {ast.unparse(statement).splitlines()[0]}",
                        functools.partial(_pass, field=field, i=i),
                    )


def _untouched(tree: ast.Module) -> set[ast.AST]:
    """Documentation, messages of errors, annotations."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise | ast.Import | ast.ImportFrom) or (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            found |= set(ast.walk(node))
    return found


def _set(node: Any, field: str, new: Any) -> None:
    setattr(node, field, new)


def _set_op(node: Any, *, i: int, new: type) -> None:
    node.ops[i] = new()


def _without(node: Any, *, new: type) -> None:
    """Twice `not` is a truth value again; a plus changes nothing."""
    if new is ast.Not:
        node.operand = ast.UnaryOp(ast.Not(), node.operand)
    else:
        node.op = new()


def _drop(node: Any, *, i: int) -> None:
    del node.elts[i]


def _pass(node: Any, *, field: str, i: int) -> None:
    getattr(node, field)[i] = ast.Pass()


def known() -> dict[str, str]:
    """The mutants that are said to be equivalent, by name, with the reason."""
    file = paths.root() / "data" / "mutants" / "exercises.toml"
    entries = tomllib.loads(file.read_text())["mutant"] if file.exists() else []
    return {f"{each['chapter']} {each['name']}": each["reason"] for each in entries}


def judged(
    masters: list[Path],
    *,
    most: int | None = None,
    jobs: int = 1,
    seconds: float = 1.0,
    only: set[tuple[str, str]] | None = None,
) -> list[Verdict]:
    """The verdict on every mutant, or on `most` per question, drawn once and for all by their names.

    `only` names the questions to judge, by chapter and question; all of them unless told. One that takes ten times as long as the
    solution, and at least `seconds` of processor time, never ends.
    """
    work = [
        (master.stem, question, most, seconds)
        for master in masters
        for question in handouts.questions(master)
        if only is None or (master.stem, question.name) in only
    ]
    reasons = known()
    found: list[Verdict] = []
    with multiprocessing.get_context("fork").Pool(jobs, maxtasksperchild=1) as pool:
        for verdicts in progress.bar(
            pool.imap_unordered(_question, work), total=len(work), desc="Questions", unit="question"
        ):
            found += verdicts
    if most is None and only is None:
        names = {f"{each.chapter} {each.mutant.name}" for each in found}
        chapters = {master.stem for master in masters}
        if lost := sorted(each for each in reasons if each.split()[0] in chapters and each not in names):
            raise EngineRoomError(
                f"{', '.join(lost)}: no such mutant any more",
                remedy="take it out of data/mutants/exercises.toml",
            )
    return [
        Verdict(
            each.chapter,
            each.mutant,
            each.is_killed,
            "" if each.is_killed else reasons.get(f"{each.chapter} {each.mutant.name}", ""),
        )
        for each in sorted(found, key=lambda each: (each.chapter, each.mutant.question, each.mutant.name))
    ]


def _question(work: tuple[str, handouts.Question, int | None, float]) -> list[Verdict]:
    chapter, question, most, seconds = work
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, _too_long)
    fresh.reseed(0)
    trial = Trial(question)
    begun = time.process_time()
    if failed := trial.failures(question.solution):
        raise EngineRoomError(
            f"{chapter} {question.name}: its own solution fails: {failed}", remedy="make quick"
        )
    patience = max(seconds, 10 * (time.process_time() - begun))
    made = mutants(question.name, question.solution)
    if most is not None and len(made) > most:
        made = random.Random(question.name).sample(made, most)
    return [Verdict(chapter, each, _is_seen(each.code, trial, patience)) for each in made]


def _is_seen(code: str, trial: Trial, seconds: float) -> bool:
    """One that never ends is seen, too: the grader's limit of time ends it."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return bool(trial.failures(code, first_only=True))
    except _TooLong:
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


class _TooLong(BaseException):
    """No `Exception`: a test that takes what an answer raises for its result would ask for the next case, for ever."""


def _too_long(*_: object) -> None:
    raise _TooLong


def table(verdicts: list[Verdict]) -> str:
    """One line per question, and below it the mutants that nobody sees."""
    lines = ["| chapter | question | mutants | seen | equivalent | share seen |", "|---|---|---|---|---|---|"]
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for each in verdicts:
        groups.setdefault((each.chapter, each.mutant.question), []).append(each)
    for (chapter, question), mine in groups.items():
        killed, same = sum(each.is_killed for each in mine), sum(bool(each.equivalent) for each in mine)
        lines.append(
            f"| {chapter} | {question} | {len(mine)} | {killed} | {same} | {_percent(killed, len(mine) - same)} |"
        )
    killed, same = sum(each.is_killed for each in verdicts), sum(bool(each.equivalent) for each in verdicts)
    lines.append(
        f"| all | {len(groups)} | {len(verdicts)} | {killed} | {same} | {_percent(killed, len(verdicts) - same)} |"
    )
    survivors = [each for each in verdicts if not (each.is_killed or each.equivalent)]
    lines += [
        f"survives: {each.chapter} {each.mutant.question} {each.mutant.name}: {each.mutant.change}, in: {each.mutant.line}"
        for each in survivors
    ]
    return "\n".join(lines)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"
