"""What a committed notebook must not hold, and how it is cleaned: used by pre-commit, `make notebooks` and the tests.

    notebook_hygiene.py check FILE…   refuse, with one line per problem
    notebook_hygiene.py clean FILE…   take out what changes from run to run
    notebook_hygiene.py run FILE…     run from the first cell to the last, then clean

It knows nothing of gpufeed, so it also judges a notebook that no longer runs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
# The sample bucket, and the name that stands for the reader's own.
BUCKETS = {"gpufeed-sample", "your-bucket"}
LANGUAGE = {"name": "python"}  # without the version, which is that of whoever ran it last
_NAME = r"([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])"

LEAKS = {
    "an access key id": re.compile(r"\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}\b"),
    "an account id": re.compile(r"\barn:aws[\w-]*:[\w-]*:[\w-]*:\d{12}\b|\b[Aa]ccount\W{0,12}\d{12}\b"),
    "a path of one machine": re.compile(r"(?<![\w.])(?:/(?:home|root|Users|tmp|var/folders)/|[A-Z]:\\Users\\)[\w.-]+"),
    "a CDN address": re.compile(
        r"\b(?:cdn\.\w[\w-]*\.\w+|cdnjs\.\w+|[\w.]*jsdelivr\.net|unpkg\.com|esm\.(?:sh|run))\b"
    ),
    "a widget's model id": re.compile(r"IPY_MODEL_[0-9a-f]{32}"),
}
BUCKET_FORMS = [
    re.compile(rf"s3a?://{_NAME}"),
    re.compile(rf"\barn:aws[\w-]*:s3:::{_NAME}"),
    re.compile(rf"\b{_NAME}\.s3[.-](?:[a-z0-9-]+\.)*amazonaws\.com"),
    re.compile(rf"//s3[.-](?:[a-z0-9-]+\.)*amazonaws\.com(?:\.cn)?/{_NAME}"),
]


def problems(notebook: dict[str, Any]) -> list[str]:
    """Every reason to refuse this notebook, each with the number of its cell (counted from 1)."""
    found = [f"notebook metadata: {key} changes from run to run" for key in _unstable(notebook)]
    for number, (cell, count) in enumerate(_counted(notebook), 1):
        found += [f"cell {number}: {problem}" for problem in _cell_problems(cell, count)]
    return found


def cleaned(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same notebook without what changes from run to run; an output that leaks a name is taken out whole.

    The view of a widget stays with an empty model id, for which JupyterLab shows nothing until the cell is run.
    """
    result = json.loads(json.dumps(notebook))
    for key in _unstable(result):
        del result["metadata"][key]
    result["metadata"]["language_info"] = dict(LANGUAGE)
    for cell, count in _counted(result):
        cell["metadata"] = {key: value for key, value in cell["metadata"].items() if key == "tags"}
        if cell["cell_type"] == "code":
            cell["execution_count"] = count
            cell["outputs"] = _joined(output for output in cell["outputs"] if not list(_leaks(_texts(output))))
            for output in cell["outputs"]:
                _settle(output, count)
    return result


def run(path: Path) -> dict[str, Any]:
    """The notebook as it is after all its cells ran, in its own folder; raises when a cell does."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, timeout=600, store_widget_state=False, resources={"metadata": {"path": path.parent}}
    )
    result: dict[str, Any] = json.loads(nbformat.writes(client.execute()))
    return result


def write(path: Path, notebook: dict[str, Any]) -> None:
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _unstable(notebook: dict[str, Any]) -> list[str]:
    metadata = notebook["metadata"]
    return [key for key in metadata if key != "kernelspec" and (key, metadata[key]) != ("language_info", LANGUAGE)]


def _counted(notebook: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int | None]]:
    """Each cell with the run count it has after one run from the top: the same on every machine.

    No count at all would be simpler, but nbval takes such a cell for one that never ran and compares nothing.
    """
    count = 0
    for cell in notebook["cells"]:
        runs = cell["cell_type"] == "code" and bool(_text(cell["source"]).strip())
        count += runs
        yield cell, count if runs else None


def _cell_problems(cell: dict[str, Any], count: int | None) -> Iterator[str]:
    if "execution" in cell["metadata"]:
        yield "execution times in its metadata"
    yield from _leaks([_text(cell["source"])])
    if cell["cell_type"] != "code":
        return
    outputs = cell["outputs"]
    counts = {cell["execution_count"], *(output.get("execution_count", count) for output in outputs)}
    if counts != {count}:
        yield f"a run count that is not {count}, its place from the top"
    for output in outputs:
        if output["output_type"] == "error":
            yield f"a stored error: {output['ename']}"
        if output.get("data", {}).get(WIDGET_VIEW, {}).get("model_id"):
            yield "the view of a widget that is gone"
        yield from _leaks(_texts(output))


def _leaks(texts: list[str]) -> Iterator[str]:
    for text in texts:
        for what, pattern in LEAKS.items():
            if match := pattern.search(text):
                yield f"{what}: {match[0]}"
        for form in BUCKET_FORMS:
            yield from (f"a bucket's name: {name}" for name in form.findall(text) if name not in BUCKETS)


def _texts(output: dict[str, Any]) -> list[str]:
    """What an output shows: text, HTML, SVG and JSON, but no base64, where anything may stand by chance."""
    shown = [output.get("text", ""), *output.get("traceback", [])]
    shown += [value for kind, value in output.get("data", {}).items() if kind not in ("image/png", "image/jpeg")]
    return [_text(value) for value in shown]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return "".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _joined(outputs: Iterator[dict[str, Any]]) -> list[dict[str, Any]]:
    """Printed text in one piece: where the kernel cut it is chance."""
    result: list[dict[str, Any]] = []
    for output in outputs:
        if output["output_type"] == "stream" and result and result[-1].get("name") == output["name"]:
            text = _text(result[-1]["text"]) + _text(output["text"])
            result[-1]["text"] = text.splitlines(keepends=True)
        else:
            result.append(output)
    return result


def _settle(output: dict[str, Any], count: int | None) -> None:
    if "execution_count" in output:
        output["execution_count"] = count
    if WIDGET_VIEW in output.get("data", {}):
        output["data"][WIDGET_VIEW]["model_id"] = ""


def main(arguments: list[str]) -> int:
    verb, *names = arguments
    refused = 0
    for path in map(Path, names):
        notebook = run(path) if verb == "run" else json.loads(path.read_text(encoding="utf-8"))
        if verb in ("run", "clean"):
            notebook = cleaned(notebook)
            write(path, notebook)
        for problem in problems(notebook):
            refused += 1
            print(f"{path}: {problem}", file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
