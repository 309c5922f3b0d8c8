"""The house of the design, held over the syntax tree: imports go down only, one dependency has one door."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

LIB = Path(__file__).parents[2] / "lib"
MODULES = sorted((LIB / "gpufeed").rglob("*.py"))

# From the ground up.  What stands beside the floors (cli, demo, lab, sample, the package itself) may use them all.
FLOORS = ("facts", "model", "observe", "present")
TOP = len(FLOORS)

# dependency -> where it may be imported: the beginning of a module's path under lib/gpufeed.
DOORS: dict[str, tuple[str, ...]] = {
    "altair": ("present/charts",),
    "babel": ("facts/messages",),
    "boto3": ("observe/store", "observe/aws"),
    "botocore": ("observe/store", "observe/aws"),
    "dask": ("observe/fleet",),
    "distributed": ("observe/fleet",),
    "duckdb": ("observe/inventory",),
    "ipywidgets": ("present/panels",),
    "IPython": ("present/",),
    "obstore": ("observe/objects",),
    "pandas": ("present/",),
    "traitlets": ("present/panels",),
    "vl_convert": ("present/charts",),
}
# model is pure arithmetic: nothing of the standard library that reads a file, a clock, chance or another process.
IMPURE = {"asyncio", "http", "io", "logging", "pathlib", "random", "secrets", "shutil", "socket", "sqlite3"}
IMPURE |= {"subprocess", "tempfile", "threading", "time", "urllib", "uuid"}
CLOCKS = {"now", "today", "utcnow"}
PRINTERS = ("cli/output", "demo", "lab")


def faults(module: str, source: str) -> list[str]:
    """What the module at ``module`` (its path under lib/gpufeed, without .py) does against the house."""
    tree = ast.parse(source)
    return [*_import_faults(module, tree), *_call_faults(module, tree)]


def _import_faults(module: str, tree: ast.Module) -> Iterator[str]:
    floor = _floor(module)
    for name in _imports(tree):
        package, _, rest = name.partition(".")
        if package == "gpufeed":
            if floor < TOP and (rest.partition(".")[0] not in FLOORS or _floor(rest.replace(".", "/")) > floor):
                yield f"imports {name}, which is not on its floor or below"
        elif package in sys.stdlib_module_names:
            if module.startswith("model/") and (package in IMPURE or name == "os"):
                yield f"imports {name}: the model does no I/O and reads no clock"
        elif not any(module.startswith(door) for door in DOORS.get(package, ())):
            yield f"imports {package} outside its door {DOORS.get(package, '(it has none: give it one)')}"


def _call_faults(module: str, tree: ast.Module) -> Iterator[str]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        match call.func:
            case ast.Name("print") if not module.startswith(PRINTERS):
                yield "prints: only a shell does"
            case ast.Name("open" | "input") if module.startswith("model/"):
                yield "does I/O: the model is arithmetic"
            case ast.Attribute(attr=attribute) if module.startswith("model/") and attribute in CLOCKS:
                yield "reads a clock: the model is arithmetic"
            case ast.Attribute(attr="client") if not module.startswith("observe/store"):
                if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == "s3":
                    yield "makes a boto3 S3 client outside observe/store"


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            name = node.module or ""
            # `from gpufeed import demo` names a module; `from gpufeed.facts import text` names a floor's own word.
            yield from (f"{name}.{alias.name}" for alias in node.names) if name == "gpufeed" else (name,)


def _floor(module: str) -> int:
    first = module.partition("/")[0]
    return FLOORS.index(first) if first in FLOORS else TOP


def path_of(file: Path) -> str:
    return file.relative_to(LIB / "gpufeed").with_suffix("").as_posix()


@pytest.mark.parametrize("file", MODULES, ids=path_of)
def test_a_module_keeps_to_its_floor_and_to_the_doors(file: Path) -> None:
    assert faults(path_of(file), file.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("facts/units", "from gpufeed.model import cost", "gpufeed.model, which is not on its floor"),
        ("model/cost", "from gpufeed.observe.scan import scan", "gpufeed.observe.scan, which is not on its floor"),
        ("observe/scan", "import gpufeed.present.words", "gpufeed.present.words, which is not on its floor"),
        ("observe/scan", "from gpufeed import cli", "gpufeed.cli, which is not on its floor"),
        ("present/report", "from gpufeed.demo import start", "gpufeed.demo, which is not on its floor"),
        ("model/cost", "import time", "the model does no I/O and reads no clock"),
        ("model/cost", "from os import environ", "the model does no I/O and reads no clock"),
        ("model/cost", "from datetime import datetime\ndatetime.now()", "reads a clock"),
        ("model/cost", "def f(p):\n  return open(p)", "does I/O"),
        ("model/cost", "import pandas", "imports pandas outside its door"),
        ("present/report", "import altair", "imports altair outside its door"),
        ("present/charts/bars", "def f():\n  import ipywidgets", "imports ipywidgets outside its door"),
        ("observe/scan", "from obstore.store import S3Store", "imports obstore outside its door"),
        ("present/words", "import requests", "it has none"),
        ("observe/aws", "import boto3\nboto3.client('s3')", "makes a boto3 S3 client outside observe/store"),
        ("observe/scan", "print(1)", "prints"),
    ],
)
def test_a_breach_is_seen(module: str, source: str, fault: str) -> None:
    assert [found for found in faults(module, source) if fault in found]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("facts/units", "import tomllib"),
        ("model/cost", "import math\nfrom gpufeed.facts.units import to_base\nfrom gpufeed.model.demand import demand"),
        ("observe/store", "import boto3\nboto3.client('s3')"),
        ("present/charts/bars", "import altair\nfrom gpufeed.observe.scan import scan"),
        ("cli/output", "from gpufeed import demo\nfrom gpufeed.present import report\nprint(1)"),
    ],
)
def test_what_the_design_allows_passes(module: str, source: str) -> None:
    assert faults(module, source) == []
