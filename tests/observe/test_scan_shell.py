"""`gpufeed scan` as a process: stopped, killed and gone on with; and what it says when the store says no."""

import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
from listing_endpoint import error_xml, listing

from gpufeed.cli import main

KEYS = [f"d/{n:05d}" for n in range(6500)]
URL = "s3://example-train/d/"

pytestmark = pytest.mark.usefixtures("aws_settings")


class Gate:
    """Lists ``KEYS``; from the page after ``open_until`` keys on, answers wait until :meth:`open`."""

    def __init__(self, open_until):
        self.reached, self._opened = threading.Event(), threading.Event()
        self._answer, self._open_until = listing(KEYS), open_until

    def __call__(self, query):
        if query.get("continuation-token", "") >= f"d/{self._open_until - 1:05d}" and not self._opened.is_set():
            self.reached.set()
            self._opened.wait(60)
        return self._answer(query)

    def open(self):
        self._opened.set()


@pytest.fixture
def gate(serve):
    gate = Gate(4000)
    gate.url = serve(gate).url
    yield gate
    gate.open()


def command(gate, *more):
    return [sys.executable, "-m", "gpufeed", "scan", URL, "--endpoint-url", gate.url, "--json", *map(str, more)]


def nothing_left_of(process):
    """Whether the process group, the command and whatever it started, is gone."""
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def finish(gate, *more):
    done = subprocess.run(command(gate, *more), capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, json.loads(done.stdout), done.stderr


def test_a_killed_scan_goes_on_to_the_exact_total(gate, tmp_path):
    file = tmp_path / "scan.json"
    process = subprocess.Popen(command(gate, "--resume", file), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not (file.exists() and json.loads(file.read_text())["keys"] == 4000):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.communicate()
    gate.open()
    code, document, err = finish(gate, "--resume", file)
    assert (code, err) == (0, "")
    assert (document["complete"], document["objects"]) == (True, 6500)
    assert document["bytes"] == sum(map(len, KEYS))
    # Four pages before, three after; what was in the air when it was killed is not counted.
    assert document["listing"]["requests"] in {7, 8}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_scan_prints_what_it_has_and_goes_on_later(gate, tmp_path, number):
    file = tmp_path / "scan.json"
    process = subprocess.Popen(
        command(gate, "--resume", file),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert gate.reached.wait(30)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert nothing_left_of(process)
    partial = json.loads(out)
    assert (process.returncode, partial["complete"], partial["objects"]) == (1, False, 4000)
    assert err.splitlines() == [
        partial["incomplete_because"],
        f"Give the same command again to go on from {file}.",
    ]
    assert partial["incomplete_because"].startswith("Stopped after 4,000 keys")
    assert json.loads(file.read_text())["keys"] == 4000
    gate.open()
    code, document, _ = finish(gate, "--resume", file)
    assert (code, document["objects"], file.exists()) == (0, 6500, False)


def test_a_terminal_shows_progress_and_ctrl_c_ends_it_clean(gate):
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command(gate), stdin=follower, stdout=subprocess.PIPE, stderr=follower, start_new_session=True
    )
    os.close(follower)
    seen = b""
    while b"4,000 done" not in seen:  # ends with an error, not a hang, when the line never comes and the process ends
        seen += os.read(leader, 1000)
    os.killpg(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert nothing_left_of(process)
    seen += os.read(leader, 10_000)
    os.close(leader)
    assert (process.returncode, json.loads(out)["objects"]) == (1, 4000)
    line = seen.rpartition(b"\r\x1b[K")[2].decode()  # the progress line is wiped before the sentence comes
    assert line.startswith("Stopped after 4,000 keys")
    assert b"Traceback" not in seen


# ---- FILE ----------------------------------------------------------------------------------------------------------


def run(capsys, endpoint, *more, url=URL):
    code = main(["scan", url, "--endpoint-url", endpoint.url, "--json", *map(str, more)])
    out, err = capsys.readouterr()
    return code, json.loads(out), err


@pytest.mark.parametrize("content", ["", "{}", "[1]", "{", '{"schema_version": 1, "url": "s3://example-train/d/"}'])
def test_a_damaged_file_is_exit_2_one_sentence_and_left_alone(serve, tmp_path, capsys, content):
    file = tmp_path / "scan.json"
    file.write_text(content)
    code, _, err = run(capsys, serve(listing(KEYS)), "--resume", file)
    assert (code, err.count("\n"), file.read_text()) == (2, 1, content)


def test_the_file_of_another_url_is_exit_2_and_left_alone(serve, tmp_path, capsys):
    file, endpoint = tmp_path / "scan.json", serve(listing(KEYS))
    code, document, _ = run(capsys, endpoint, "--resume", file, "--limit", "1500")
    assert (code, document["complete"], document["objects"]) == (0, False, 1500)
    before = file.read_text()
    code, _, err = run(capsys, endpoint, "--resume", file, url="s3://example-train/e/")
    assert (code, err.count("\n"), file.read_text()) == (2, 1, before)
    assert run(capsys, endpoint, "--resume", file)[1]["objects"] == 6500
    assert not file.exists()


def test_a_folder_that_is_not_there_is_exit_2(serve, tmp_path, capsys):
    endpoint = serve(listing(KEYS))
    code, _, err = run(capsys, endpoint, "--resume", tmp_path / "none" / "scan.json")
    assert (code, err.count("\n"), endpoint.asked) == (2, 1, [])
    code, _, err = run(capsys, endpoint, "--resume", tmp_path)
    assert (code, err.count("\n"), endpoint.asked) == (2, 1, [])


# ---- what the store says -------------------------------------------------------------------------------------------


@pytest.fixture(params=["en", "zh_CN"])
def speaking(request, monkeypatch):
    monkeypatch.setenv("GPUFEED_LANGUAGE", request.param)
    return request.param


@pytest.mark.parametrize(
    ("answer", "next_step"),
    [
        ((404, "NoSuchBucket"), {"en": "Check the spelling", "zh_CN": "请检查拼写"}),
        ((403, "AccessDenied"), {"en": "Ask for s3:ListBucket", "zh_CN": "请申请"}),
        ((403, "SignatureDoesNotMatch"), {"en": "Check the credentials", "zh_CN": "请检查"}),
        ((403, "InvalidAccessKeyId"), {"en": "Check the credentials", "zh_CN": "请检查"}),
        ((400, "ExpiredToken"), {"en": "Sign in again", "zh_CN": "请重新登录"}),
    ],
)
def test_a_store_that_refuses_is_exit_1_with_the_next_step(serve, capsys, speaking, answer, next_step):
    status, error = answer
    code, document, err = run(capsys, serve(lambda query: (status, error_xml(error, Message="FAKE-DETAIL"))))
    assert (code, document["complete"], document["objects"], err.count("\n")) == (1, False, None, 1)
    assert err == document["incomplete_because"] + "\n"
    assert next_step[speaking] in err
    assert "FAKE-DETAIL" not in err + json.dumps(document)


@pytest.mark.parametrize(("language", "next_step"), [("en", "Check the address"), ("zh_CN", "请检查地址")])
def test_an_unreachable_endpoint_is_exit_1_with_the_next_step(capsys, monkeypatch, language, next_step):
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    code = main(["scan", URL, "--endpoint-url", "http://127.0.0.1:9", "--json"])
    out, err = capsys.readouterr()
    assert (code, json.loads(out)["objects"], err.count("\n")) == (1, None, 1)
    assert next_step in err


@pytest.mark.parametrize(("language", "next_step"), [("en", "Check the spelling"), ("zh_CN", "请检查拼写")])
def test_an_empty_prefix_is_exit_0_with_a_warning(serve, capsys, monkeypatch, language, next_step):
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    code, document, err = run(capsys, serve(listing([])))
    assert (code, document["complete"], document["objects"], err.count("\n")) == (0, True, 0, 1)
    assert next_step in err
    assert main(["scan", URL, "--endpoint-url", serve(listing([])).url]) == 0
    listed = capsys.readouterr().out.splitlines()[-1]
    # Of nothing there is no rate, and "unknown" alone would say nothing.
    english, chinese = r"Listed with 1 requests in [\d.]+ m?s", r"列举用了 1 次请求，耗时 [\d.]+ 毫?秒"
    assert re.fullmatch(english if language == "en" else chinese, listed)


def test_what_was_never_listed_prints_no_line(capsys, monkeypatch):
    assert main(["scan", URL, "--endpoint-url", "http://127.0.0.1:9"]) == 1
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(("language", "next_step"), [("en", "aws sso login"), ("zh_CN", "请先登录")])
def test_no_credentials_is_said_within_seconds_though_the_instance_s_own_never_answer(
    serve, capsys, monkeypatch, language, next_step
):
    monkeypatch.setenv("GPUFEED_LANGUAGE", language)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_EC2_METADATA_DISABLED"):
        monkeypatch.delenv(name)
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes connections and says nothing
        monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        began = time.monotonic()
        code, document, err = run(capsys, serve(listing(KEYS)))
        assert time.monotonic() - began < 15  # two questions of a second each, with room for a busy machine
    assert (code, document["objects"], err.count("\n")) == (1, None, 1)
    assert next_step in err
