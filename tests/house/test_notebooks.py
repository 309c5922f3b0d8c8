"""Committed notebooks: clean, with outputs, and as short as the design asks."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from notebook_hygiene import WIDGET_VIEW, cleaned, main, problems

ROOT = Path(__file__).parents[2]
DIRTY = ROOT / "tests/cases/064/dirty.ipynb"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def notebook(source: str = "shown", **output: Any) -> dict[str, Any]:
    outputs = [{"output_type": "display_data", "metadata": {}, "data": {}} | output] if output else []
    cell = {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": outputs}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_case_064_is_refused_for_each_of_its_faults() -> None:
    assert problems(read(DIRTY)) == [
        "notebook metadata: widgets changes from run to run",
        "cell 1: execution times in its metadata",
        "cell 1: a run count that is not 1, its place from the top",
        "cell 1: the view of a widget that is gone",
        "cell 1: a bucket's name: acme-secret-project",
    ]


def test_case_064_is_accepted_once_cleaned() -> None:
    after = cleaned(read(DIRTY))
    assert problems(after) == []
    assert after["cells"][0]["source"] == ["panel"]
    # The widget's view stays (nbval compares which kinds of output there are), the output with the name goes.
    assert [list(output["data"]) for output in after["cells"][0]["outputs"]] == [[WIDGET_VIEW, "text/plain"]]
    assert "acme" not in json.dumps(after)


def test_cleaning_twice_changes_nothing_more() -> None:
    once = cleaned(read(DIRTY))
    assert cleaned(once) == once


def test_the_command_refuses_the_dirty_file_and_cleans_it(tmp_path: Path) -> None:
    copy = tmp_path / "copy.ipynb"
    copy.write_bytes(DIRTY.read_bytes())
    assert main(["check", str(copy)]) == 1
    assert main(["clean", str(copy)]) == 0
    assert main(["check", str(copy)]) == 0


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("key = 'AKIA" + "ABCDEFGHIJKLMNOP'", "an access key id: AKIA" + "ABCDEFGHIJKLMNOP"),
        ("role = 'arn:aws:iam::123456789012:role/x'", "an account id: arn:aws:iam::123456789012"),
        ("# account: 123456789012", "an account id: account: 123456789012"),
        ("open('/home/ann/data.csv')", "a path of one machine: /home/ann"),
        ("open('/tmp/data.csv')", "a path of one machine: /tmp/data.csv"),
        ("src='https://cdn.jsdelivr.net/npm/vega'", "a CDN address: cdn.jsdelivr.net"),
        ("src='https://unpkg.com/vega'", "a CDN address: unpkg.com"),
        ("scan('s3://acme-data/x')", "a bucket's name: acme-data"),
        ("get('https://acme-data.s3.us-east-1.amazonaws.com/x')", "a bucket's name: acme-data"),
        ("get('https://s3.us-east-1.amazonaws.com/acme-data/x')", "a bucket's name: acme-data"),
        ("'arn:aws:s3:::acme-data/*'", "a bucket's name: acme-data"),
    ],
)
def test_a_leak_is_refused_in_a_source_and_in_an_output(source: str, problem: str) -> None:
    assert f"cell 1: {problem}" in problems(notebook(source))
    assert f"cell 1: {problem}" in problems(notebook(data={"text/html": [source]}))
    assert f"cell 1: {problem}" in problems(notebook(data={"application/json": {"x": source}}))


@pytest.mark.parametrize(
    "source",
    [
        "scan('s3://gpufeed-sample/images/')",
        "scan('s3://your-bucket/prefix')",
        "bytes = 123456789012",  # twelve digits are not an account by themselves
        "GET /root-cause and s3://… in general",
        "'$schema': 'https://vega.github.io/schema/vega-lite/v5.json'",  # a name, which nothing fetches
    ],
)
def test_what_only_looks_like_a_leak_passes(source: str) -> None:
    assert problems(notebook(source)) == []
    assert problems(notebook(data={"text/plain": source})) == []


def test_a_stored_error_is_refused_and_cleaning_does_not_hide_it() -> None:
    failed = notebook(output_type="error", ename="KeyError", evalue="'x'", traceback=[])
    assert problems(failed) == problems(cleaned(failed)) == ["cell 1: a stored error: KeyError"]


def test_a_run_count_is_the_cells_place_or_nbval_would_compare_nothing() -> None:
    [cell] = notebook("6 * 7")["cells"]
    prose = {"cell_type": "markdown", "metadata": {}, "source": "words"}
    never_run = {**cell, "execution_count": None}
    three = notebook() | {"cells": [cell, prose, never_run]}
    assert problems(three) == ["cell 3: a run count that is not 2, its place from the top"]
    assert [cell.get("execution_count") for cell in cleaned(three)["cells"]] == [1, None, 2]


def test_printed_text_is_stored_in_one_piece() -> None:
    cut = notebook()
    cut["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stdout", "text": part} for part in (["a\n", "b"], ["c\n"])
    ]
    assert cleaned(cut)["cells"][0]["outputs"][0]["text"] == ["a\n", "bc\n"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
class TestEachNotebook:
    def test_is_clean(self, path: Path) -> None:
        assert problems(read(path)) == []

    def test_has_stored_outputs(self, path: Path) -> None:
        assert any(cell.get("outputs") for cell in read(path)["cells"]), "nbval would compare nothing: make notebooks"

    def test_imports_gpufeed_and_nothing_else(self, path: Path) -> None:
        imported = set()
        for node in ast.walk(code(path)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add((node.module or "").partition(".")[0])
        assert imported == {"gpufeed"}

    def test_keeps_logic_in_the_library(self, path: Path) -> None:
        logic = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.BinOp, ast.For, ast.While)
        found = [ast.unparse(node) for node in ast.walk(code(path)) if isinstance(node, logic)]
        assert found == []

    def test_has_short_cells(self, path: Path) -> None:
        cells = ["".join(cell["source"]) for cell in read(path)["cells"] if cell["cell_type"] == "code"]
        assert [cell for cell in cells if len([line for line in cell.splitlines() if line.strip()]) > 10] == []


def code(path: Path) -> ast.Module:
    return ast.parse("\n".join("".join(c["source"]) for c in read(path)["cells"] if c["cell_type"] == "code"))
