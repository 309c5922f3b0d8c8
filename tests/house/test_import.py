"""`import gpufeed` is quick because heavy libraries load when they are used."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"altair", "babel", "boto3", "botocore", "duckdb", "IPython", "ipywidgets", "numpy", "obstore", "pandas"}


def loaded_by(imports: str) -> set[str]:
    """The packages in a fresh interpreter after ``import`` of this."""
    program = f"import json, sys, {imports}; print(json.dumps([name.partition('.')[0] for name in sys.modules]))"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    return set(json.loads(printed))


def test_import_gpufeed_loads_no_heavy_library() -> None:
    loaded = loaded_by("gpufeed")
    assert "gpufeed" in loaded
    assert loaded & HEAVY == set()


def test_a_report_is_written_without_widgets() -> None:
    assert "ipywidgets" not in loaded_by("gpufeed.present.report.html, gpufeed.present.report.markdown")
