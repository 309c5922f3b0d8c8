"""The built wheel, in an empty environment without extras, finds its data and answers like the checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKLOAD = """
task = "pretraining"
instances = 32
instance_type = "p5.48xlarge"
preset = "llm-text"
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scripts folder of an environment that holds the wheel and what it requires, at the versions of the lock."""
    home = tmp_path_factory.mktemp("empty")
    subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    constraints = home / "constraints.txt"
    constraints.write_text("\n".join(re.findall(r"^[\w.-]+==\S+(?: ;[^\\\n]+)?", lock, re.MULTILINE)), encoding="utf-8")
    scripts = home / "venv" / "bin"
    install(scripts, str(wheel))
    return scripts


def install(scripts: Path, *packages: str) -> None:
    constraints = scripts.parents[1] / "constraints.txt"
    command = [scripts / "python", "-m", "pip", "install", "--quiet", "--constraint", constraints, *packages]
    subprocess.run(command, check=True, capture_output=True)


def test_everything_in_data_is_in_the_wheel(wheel: Path) -> None:
    data = {path.relative_to(ROOT).as_posix() for path in (ROOT / "data").rglob("*") if path.is_file()}
    assert {f"gpufeed/{name}" for name in data} <= set(zipfile.ZipFile(wheel).namelist())


def test_the_command_recommends_from_the_wheels_own_data(empty_environment: Path, tmp_path: Path) -> None:
    (tmp_path / "workload.toml").write_text(WORKLOAD, encoding="utf-8")
    command = [empty_environment / "gpufeed", "recommend", "workload.toml", "--json"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    # 16 to 500 instances: the published rule `multi-node`.
    assert answer["rule"]["option"] == "fsx-for-lustre"
    assert "multi-node" in answer["rule"]["rules"]
    assert answer["placements"].keys() == {"dataset", "training_reads", "checkpoints", "key_checkpoints", "scratch"}


def test_facts_and_model_pass_their_tests_on_the_wheel(empty_environment: Path, tmp_path: Path) -> None:
    install(empty_environment, "pytest", "hypothesis")
    command = [empty_environment / "python", "-m", "pytest", "-q", "-c", tmp_path / "none.ini", "--rootdir", ROOT]
    (tmp_path / "none.ini").write_text("[pytest]\ncache_dir = .cache\n", encoding="utf-8")
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # it would lead to a checkout
    where = [empty_environment / "python", "-c", "import gpufeed; print(gpufeed.__file__)"]
    imported = subprocess.run(where, check=True, capture_output=True, text=True, env=own)
    assert Path(imported.stdout.strip()).is_relative_to(empty_environment.parent)
    # A wheel may lack a file.  These two searches take as long as all other tests, and read no file of their own.
    long = [f"--ignore={ROOT / 'tests/model' / name}" for name in ("test_flip.py", "test_saving_file_system.py")]
    tests = [ROOT / "tests/facts", ROOT / "tests/model", *long]
    done = subprocess.run([*command, *tests], cwd=tmp_path, check=False, capture_output=True, text=True, env=own)
    assert done.returncode == 0, done.stdout[-3000:]
