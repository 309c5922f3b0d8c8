"""Every sentence exists in both languages, says the same things, and is used; what the code asks for is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import pytest
from babel.messages.pofile import read_po

from gpufeed.facts.messages import LANGUAGES, catalogue

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "lib").rglob("*.py"))
DATA = sorted((ROOT / "data").glob("*.toml"))
FILES = sorted(path for language in LANGUAGES for path in (ROOT / "data/messages" / language).glob("*.po"))
ENGLISH = catalogue("en")


class Call(NamedTuple):
    """One use of a sentence in the code: where, its id, and the parameters it is given (None: cannot be seen)."""

    where: str
    message_id: str
    parameters: frozenset[str] | None


def calls(where: str, tree: ast.Module) -> Iterator[Call]:
    """``text("id", …)`` and ``raise SomeError("id", …)`` with the id written out."""
    speakers = {"text", "Sentence", "GpufeedError", "InputError"}
    # An error class of a module's own that only renames one of the two speaks the same way.
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and speakers & {_name(base) for base in node.bases} and not _has_init(node):
            speakers.add(node.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name(node.func) in speakers and node.args:
            first = node.args[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                seen = _in_dictionary(node) if _name(node.func) == "Sentence" else _by_name(node)
                yield Call(f"{where}:{node.lineno}", first.value, seen)


def _by_name(call: ast.Call) -> frozenset[str] | None:
    names = [keyword.arg for keyword in call.keywords]
    return None if None in names else frozenset(name for name in names if name)


def _in_dictionary(call: ast.Call) -> frozenset[str] | None:
    """A Sentence takes its parameters as one dictionary."""
    if len(call.args) == 1:
        return frozenset()
    keys = call.args[1].keys if isinstance(call.args[1], ast.Dict) else [None]
    names = [key.value for key in keys if isinstance(key, ast.Constant)]
    return frozenset(names) if len(names) == len(keys) else None


def words(tree: ast.Module) -> tuple[set[str], set[str]]:
    """All string constants, and the prefixes (``rule.``) of ids that are put together, as in ``f"rule.{name}"``."""
    constants, prefixes = set(), set()
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(value)):
                constants.add(value)
            case ast.JoinedStr(values=[ast.Constant(value=str(value)), *_]):
                prefixes.add(value)
            case ast.BinOp(left=ast.Constant(value=str(value)), op=ast.Add()):
                prefixes.add(value)
    return constants, {prefix for prefix in prefixes if re.fullmatch(r"(?:[a-z][a-z0-9_-]*\.)+", prefix)}


def placeholders(sentence: str) -> set[str]:
    return {re.split(r"[.\[]", name)[0] for _, name, _, _ in Formatter().parse(sentence) if name is not None}


def _has_init(node: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.FunctionDef) and part.name == "__init__" for part in node.body)


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in SOURCES}
CALLS = [call for where, tree in TREES.items() for call in calls(where, tree)]
WORDS = [words(tree) for tree in TREES.values()]
CONSTANTS = set().union(*(constants for constants, _ in WORDS))
PREFIXES = tuple(sorted(set().union(*(prefixes for _, prefixes in WORDS))))
# Data may name a sentence too: `message = "warning.no-price"`.
NAMED_IN_DATA = {word for path in DATA for word in re.findall(r'"([^"\n]+)"', path.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_catalogue_file_has_whole_entries_only(path: Path) -> None:
    with path.open("rb") as file:
        entries = [entry for entry in read_po(file, abort_invalid=True) if entry.id]
    assert entries
    assert [entry.id for entry in entries if not str(entry.string).strip() or entry.fuzzy] == []
    assert [entry.id for entry in entries if not re.fullmatch(r"[a-z0-9_-]+(\.[A-Za-z0-9_-]+)+", str(entry.id))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_has_the_same_files_and_ids(language: str) -> None:
    here = {path.name for path in FILES if path.parent.name == language}
    assert here == {path.name for path in FILES if path.parent.name == "en"}
    assert catalogue(language).keys() == ENGLISH.keys()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_uses_the_same_placeholders(language: str) -> None:
    other = catalogue(language)
    differ = [name for name in ENGLISH if name in other and placeholders(ENGLISH[name]) != placeholders(other[name])]
    assert differ == []


def test_chinese_entries_are_not_english_left_standing() -> None:
    chinese = re.compile(r"[一-鿿]")
    # A sentence of words has Chinese in it; what is only names, units and placeholders may be the same in both.
    left = [
        name
        for name, sentence in catalogue("zh_CN").items()
        if not chinese.search(sentence) and len(re.findall(r"[A-Za-z]{3,}", re.sub(r"\{[^}]*\}", "", sentence))) > 3
    ]
    assert left == []


def test_no_placeholder_touches_a_word() -> None:
    """What stands for a value has a blank or a sign beside it: a value brings no separator of its own."""
    touching = re.compile(r"[A-Za-z0-9一-鿿]\{|\}[A-Za-z0-9一-鿿]|\}\{")
    assert [name for name, sentence in ENGLISH.items() if touching.search(sentence)] == []


def test_every_sentence_the_code_asks_for_exists() -> None:
    assert [call for call in CALLS if call.message_id not in ENGLISH] == []


def test_every_sentence_gets_the_values_it_names() -> None:
    known = [call for call in CALLS if call.parameters is not None and call.message_id in ENGLISH]
    short = [(call, placeholders(ENGLISH[call.message_id]) - (call.parameters or set())) for call in known]
    assert [(call.where, call.message_id, missing) for call, missing in short if missing] == []


def test_every_sentence_is_used() -> None:
    used = CONSTANTS | NAMED_IN_DATA
    assert [name for name in ENGLISH if name not in used and not name.startswith(PREFIXES)] == []


def test_a_call_is_found_in_each_of_its_forms() -> None:
    source = """
class Taken(GpufeedError):
    exit_code = 2
text("a.one", n=1)
messages.text("a.two", **more)
raise Taken("a.three", port=1, other=2)
text(f"rule.{name}")
text("reason." + name)
"""
    tree = ast.parse(source)
    assert list(calls("x", tree)) == [
        Call("x:4", "a.one", frozenset({"n"})),
        Call("x:5", "a.two", None),
        Call("x:6", "a.three", frozenset({"port", "other"})),
    ]
    assert words(tree)[1] == {"rule.", "reason."}


def test_placeholders_are_read_by_name() -> None:
    assert placeholders("{bytes:,.0f} of {total} in {{braces}}") == {"bytes", "total"}
