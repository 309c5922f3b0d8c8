"""`import gpufeed` is quick because heavy libraries load when they are used."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"altair", "babel", "boto3", "botocore", "duckdb", "IPython", "ipywidgets", "numpy", "obstore", "pandas"}


def test_import_gpufeed_loads_no_heavy_library() -> None:
    program = "import json, sys, gpufeed; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    loaded = set(json.loads(printed))
    assert "gpufeed" in loaded
    assert loaded & HEAVY == set()
