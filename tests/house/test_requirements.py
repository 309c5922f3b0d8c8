"""pyproject.toml is the only list of dependencies; environment.yml, the extras and the lock keep step with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
REQUIRED = {
    requirement.name: requirement
    for line in [*PROJECT["dependencies"], *(line for name, extra in EXTRAS.items() if name != "all" for line in extra)]
    for requirement in [Requirement(line)]
}
CONDA: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
CONDA_PACKAGES = {
    match[1]: SpecifierSet(match[2])
    for entry in CONDA["dependencies"]
    if isinstance(entry, str)
    for match in [re.fullmatch(r"([\w-]+)(.*)", entry)]
    if match
}
LOCK = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE))


def test_environment_yml_names_python_pip_and_the_six_packages() -> None:
    six = {"jupyterlab", "ipywidgets", "pandas", "altair", "boto3", "nbval"}
    assert CONDA_PACKAGES.keys() == {"python", "pip"} | six
    assert CONDA["channels"] == ["conda-forge"]
    assert CONDA["dependencies"][-1] == {"pip": ["-e .[all]"]}


@pytest.mark.parametrize("name", sorted(CONDA_PACKAGES.keys() - {"python", "pip"}))
def test_a_range_of_environment_yml_is_that_of_pyproject(name: str) -> None:
    assert CONDA_PACKAGES[name] == REQUIRED[name].specifier


def test_python_of_environment_yml_is_that_of_pyproject() -> None:
    assert CONDA_PACKAGES["python"] == SpecifierSet(PROJECT["requires-python"])


def test_the_extra_called_all_holds_every_other_extra() -> None:
    [everything] = map(Requirement, EXTRAS["all"])
    assert everything.extras == EXTRAS.keys() - {"all"}


@pytest.mark.parametrize("name", sorted(REQUIRED))
def test_the_lock_satisfies_pyproject(name: str) -> None:
    assert REQUIRED[name].specifier.contains(LOCK[name.lower()]), "run: make lock"
