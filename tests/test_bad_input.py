"""Bad input over all commands: exit 2, one sentence with what was wrong and the next step, in either language."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from gpufeed.cli import main
from gpufeed.facts import load
from gpufeed.model.workload import Workload

JOB = 'task = "lora"\ninstances = 1\ninstance_type = "p5.48xlarge"\n'

FIELDS, REGIONS = len(fields(Workload)), len(load().regions)
WORKLOADS = {
    "dataset_bytes = -1": "dataset_bytes = -1 is out of range: it must be more than 0 and at most 1e+18.",
    f"dataset_bytes = {'9' * 400}": "is out of range: it must be more than 0 and at most 1e+18.",
    f"dataset_bytes = {'9' * 5000}": "(at its end): it cannot be read. Mend that line.",
    "dataset_bytes = inf": "dataset_bytes = inf is out of range: it must be more than 0 and at most 1e+18.",
    "dataset_bytes = 1e-300": "dataset_bytes = 1e-300 is too small to be meant. Check its unit.",
    "evaluation_every = 1e-300": "evaluation_every = 1e-300 is too small to be meant. Check its unit.",
    "checkpoint_interval = 1e-300": "checkpoint_interval = 1e-300 is too small to be meant. Check its unit.",
    "dataset_bytes = nan": "dataset_bytes must be a number, not nan.",
    'dataset_bytes = "1e12"': "dataset_bytes is a number and takes no quotes: write dataset_bytes = 1e12.",
    'dataset_bytes = "1 TB"': "dataset_bytes must be a number, not 1 TB.",
    "epochs = true": "epochs must be a number, not true.",
    'region = ""': f"region = “” is not known. None of the {REGIONS} known is like it: gpufeed fields lists them.",
    'region = "eu-centra-1"': "region = eu-centra-1 is not known. Nearest: eu-central-1.",
    'preset = "nope"': "preset = nope is not known. Known: mlperf-unet3d,",
    '"" = 1': f"“” is not a field of a workload. None of the {FIELDS} known is like it: gpufeed fields lists them.",
    'interface = "smb"': "interface = smb is not known. Known: posix, file-paths, s3-api, any.",
    'file_operations = "rename"': "file_operations must be a list of words, not rename.",
    'data_in_s3 = "yes"': "data_in_s3 must be true or false, not yes.",
    "run_hours = 2026-01-01": "run_hours must be a number, not 2026-01-01.",
}


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    load()  # before a file of prices is named that is not there
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GPUFEED_PRICES", str(tmp_path / "own" / "prices.toml"))
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x", encoding="utf-8")
    path = tmp_path / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    return path


NO_ADDRESS = (
    "is not an S3 address. Give it as s3://bucket/prefix; "
    "a bucket name has at least 3 letters, digits, dots or hyphens.\n"
)


@pytest.mark.parametrize("line", WORKLOADS, ids=lambda line: line[:40])
@pytest.mark.parametrize("command", ["recommend", "fsx", "record"])
def test_a_workload_that_cannot_be(command: str, line: str, job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    job.write_text(f"{JOB}{line}\n", encoding="utf-8")
    assert main([command, "job.toml"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert WORKLOADS[line] in err


ENDPOINT = ["--endpoint-url", "http://127.0.0.1:9"]
NO_PATH = "A file or folder is named by nothing. Name it, or leave its option out.\n"
ARGUMENTS: list[tuple[list[str], int, str]] = [
    (["recommend", ""], 2, NO_PATH),
    (["recommend", "job.toml", "--profile", ""], 2, NO_PATH),
    (["recommend", "job.toml", "--measurement", " "], 2, NO_PATH),
    (["infrastructure", "job.toml", "--format", "terraform", "--output", ""], 2, NO_PATH),
    (["scan", "s3://bucket/", *ENDPOINT, "--resume", ""], 2, NO_PATH),
    (["recheck", ""], 2, NO_PATH),
    (["recommend", "job\0"], 2, "job␀ could not be read: no file can have that name. Check the name.\n"),
    (["recommend", "folder"], 2, "folder could not be read: it is a folder. Check the name.\n"),
    (["recheck", "none"], 2, "none could not be read: there is no such file or folder. Check the name.\n"),
    (["report", "job.toml", "--output", "none/a.html"], 1, "none/a.html could not be written: there is no such file"),
    (["report", "job.toml", "--output", "file/a.html"], 1, "file/a.html could not be written: there is no such file"),
    (["report", "job.toml", "--output", ".html"], 2, ".html has no ending, and the ending says"),
    (
        ["infrastructure", "job.toml", "--format", ""],
        2,
        "“” is none of cloudformation, terraform, snippets. Choose one of them.\n",
    ),
    (
        ["infrastructure", "job.toml", "--format", "terraform", "--output", "file"],
        1,
        "file could not be written: something else has that name. Choose another place.\n",
    ),
    (["fsx", "job.toml", "--region", ""], 2, f"“” is no Region known here. None of the {REGIONS} known is like it"),
    (["fsx", "job.toml", "--file-system", "fs-1", "--region", "mars-1"], 2, "mars-1 is no Region known here."),
    (["fsx", "job.toml", "--file-system", ""], 2, "“” is not the id of a file system. Give one like"),
    (
        ["prices", "--region", ""],
        2,
        f"“” is no Region known here. None of the {REGIONS} known is like it: gpufeed fields",
    ),
    (["prices", "--region", "eu-centra-1"], 2, "eu-centra-1 is no Region known here. Nearest: eu-central-1.\n"),
    (["prices", "--to", "own.toml"], 2, "--to own.toml says where refreshed prices go: give --refresh or --offer"),
    (["prices", "--refresh", "--offer", "x"], 2, "--refresh asks AWS and --offer reads files: give one of the two.\n"),
    (["prices", "--offer", "folder"], 2, "folder could not be read: it is a folder. Check the name.\n"),
    (["scan", "s3://bucket/", "--region", ""], 2, "This region is not known. Give one such as us-east-1"),
    (
        ["scan", "s3://bucket/\udcff"],
        2,
        f"“s3://bucket/⟨U+DCFF⟩” {NO_ADDRESS}",
    ),
    (["scan", ""], 2, f"“” {NO_ADDRESS}"),
    (["scan", "s3://bucket/", *ENDPOINT, "--resume", "folder"], 2, "folder could not be read: it is a folder."),
    (["probe", "file", "--concurrency", ""], 2, "--concurrency takes whole numbers separated by commas, not “”."),
    (["probe", "none"], 2, "There is no none on this machine. Check the path, or give an s3://bucket/prefix.\n"),
    (["demo", "--port", "80"], 2, "80 is not a usable port: give a number from 1024 to 65525.\n"),
    ([""], 2, "“” is no command of gpufeed. Known: recommend,"),
]


@pytest.mark.parametrize(("arguments", "code", "sentence"), ARGUMENTS, ids=lambda it: repr(it)[:60])
def test_arguments_that_cannot_be(
    arguments: list[str], code: int, sentence: str, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(job.parent.rglob("*"))
    assert main(arguments) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(sentence)
    assert sorted(job.parent.rglob("*")) == before


@pytest.mark.usefixtures("job")
@pytest.mark.parametrize("arguments", [arguments for arguments, _, _ in ARGUMENTS], ids=lambda it: repr(it)[:60])
def test_the_same_in_chinese(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert main(arguments) in (1, 2)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    # No English sentence, and no blank within Chinese.
    assert err.rstrip("\n").endswith("。")
    assert not re.search(r"[a-z]{2,} [a-z]{2,} [a-z]{2,}", err)
    assert not re.search("[一-鿿] +[一-鿿]", err)


def test_a_report_s_name_that_no_file_can_have(job: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "job.toml", "--output", "a\0.html"]) == 1
    assert (
        capsys.readouterr().err == "a␀.html could not be written: no file can have that name. Choose another place.\n"
    )


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "is no file of prices that can be read. Delete it; gpufeed prices --refresh writes a new one."),
        (b"\xff\xfe", "is no file of prices that can be read."),
        (b'[price]\noption = "s3-standard"\n', "is no file of prices that can be read."),
        (b"price = 5\n", "is no file of prices that can be read."),
        (b"price = [\n", "is not valid TOML (at its end): a value is missing or cannot be read"),
        (b'[[price]]\noption = "tape"\n', ": price 1 (tape None) has no item."),
    ],
)
def test_a_file_of_one_s_own_prices_that_is_none(
    content: bytes | None, sentence: str, job: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = job.parent / "own" / "prices.toml"
    own.parent.mkdir()
    if content is None:
        own.mkdir()
    else:
        own.write_bytes(content)
    load.cache_clear()
    try:
        assert main(["recommend", "job.toml"]) == 2
    finally:
        load.cache_clear()
    err = capsys.readouterr().err
    assert err.startswith(str(own)) and sentence in err and err.count("\n") == 1


def test_an_endpoint_of_the_environment_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3", raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    assert main(["scan", "s3://bucket/"]) == 2
    assert capsys.readouterr().err.startswith("nonsense is not an endpoint address.")
