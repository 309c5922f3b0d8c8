"""What a command prints in Chinese: blanks beside Latin letters and numbers, and none within Chinese."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gpufeed.cli import main

HAN, STOP = "[一-鿿]", "[，。：；！？、（）]"
WRONG = re.compile(rf"{HAN} +{HAN}|{HAN}[A-Za-z0-9]|[A-Za-z0-9]{HAN}|{STOP} +\S|\S +{STOP}")
#: Half-width signs that belong between Latin words alone.
HALF = re.compile(rf"{HAN} ?[,;:!?(]|[^\s][,;:!?)] ?{HAN}|{HAN}\.(?:\s|$)")
#: In `--explain` a mark of its kind stands between blanks before the source of a number.
MARKS = re.compile(r"[●▲ƒ■◆]")
JOBS = {
    "images in China": 'preset = "image-classification"\nregion = "cn-north-1"\ninterface = "file-paths"\n',
    "files that are renamed": 'interface = "posix"\nfile_operations = ["rename", "append"]\ncheckpoint_interval = 60\n',
    "through a NAT gateway": 'network_path = "nat"\nencryption = "sse-kms"\njobs = 3\nevaluation_every = 3600\n',
    "small objects": "sample_bytes = 115e3\nsamples_per_second_per_accelerator = 800\ndataset_bytes = 40e12\n"
    'objects = 347826087\ninterface = "s3-api"\nprefixes = 2\nnetwork_path = "nat"\nencryption = "sse-kms"\n'
    'region = "eu-west-2"\n',
}


@pytest.mark.parametrize("traits", JOBS)
@pytest.mark.parametrize("command", [["recommend"], ["fsx"]])
def test_blanks_in_chinese(
    command: list[str],
    traits: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = tmp_path / "job.toml"
    least = 'task = "pretraining"\ninstances = 32\ninstance_type = "p5.48xlarge"\n'
    job.write_text(least + JOBS[traits], encoding="utf-8")
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert main([*command, str(job)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if not MARKS.search(line)]
    assert [line for line in lines if WRONG.search(line.strip()) or HALF.search(line)] == []


#: What these jobs say in words of their own.  Ids that stand beside their field, as one types them, stay as they are.
TASKS = {
    "pretraining": ("pretraining", "预训练"),
    "full-fine-tuning": ("full-fine-tuning", "全量微调"),
    "lora": ("lora，", "LoRA"),
    "qlora": ("qlora，", "QLoRA"),
}


@pytest.mark.parametrize(("task", "traits"), list(zip(TASKS, JOBS, strict=True)))
def test_a_chinese_report_is_chinese(
    task: str, traits: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.toml"
    job.write_text(f'task = "{task}"\ninstances = 8\ninstance_type = "p5.48xlarge"\n{JOBS[traits]}', encoding="utf-8")
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert main(["report", str(job), "--output", str(tmp_path / "report.md")]) == 0
    lines = (tmp_path / "report.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if HALF.search(line)] == []
    as_typed, in_words = TASKS[task]
    assert lines[2].startswith(f"{in_words}，8 × p5.48xlarge")
    # Before what was entered and its appendix of ids and formulas, a report names the task nowhere as it is typed.
    answer = lines[: lines.index("## 输入的训练任务")]
    assert [line for line in answer if as_typed in line.replace("\\", "")] == []
    capsys.readouterr()


@pytest.mark.parametrize("arguments", [["prices"], ["fields"]])
def test_blanks_in_chinese_lists(
    arguments: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUFEED_LANGUAGE", "zh_CN")
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if WRONG.search(line.strip()) or HALF.search(line)] == []
