"""What answers at a wrong address must never pass for an empty prefix, nor end in anything but one sentence."""

import os
import socket
import threading

import pytest
from listing_endpoint import error_xml, listing, page_xml

from gpufeed.facts.errors import InputError
from gpufeed.observe.probe import probe
from gpufeed.observe.runner import Run
from gpufeed.observe.scan import scan
from gpufeed.observe.store import StoreOptions

URL = "s3://example-train/d/"
ONE = page_xml({"Contents": [{"Key": "d/a", "Size": 1}]})

pytestmark = pytest.mark.usefixtures("aws_settings")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, "<html><body>It works!</body></html>"),
        (200, "<!DOCTYPE html><html><br></html>"),
        (200, '{"status": "ok"}'),
        (200, ""),
        (204, ""),
        (200, '<?xml version="1.0"?><ListAllMyBucketsResult/>'),
        (404, "<html>nope</html>"),
        (200, ONE.replace("<Size>1<", "<Size>-5<")),
        (200, ONE.replace("<Size>1<", f"<Size>{'9' * 400}<")),
    ],
)
def test_an_answer_that_is_no_listing_is_no_empty_prefix(serve, status, body):
    endpoint = serve(lambda _: (status, body))
    found = scan(URL, options=StoreOptions(endpoint_url=endpoint.url))
    assert found.failure is not None and found.failure.message_id == "store.not-s3"
    assert not found.complete and not found.answered
    assert found.to_json()["objects"] is None
    assert len(endpoint.asked) == 1  # asking again cannot help


def test_a_reference_to_half_a_character_is_left_to_a_real_parser(serve, monkeypatch):
    monkeypatch.setattr("gpufeed.observe.scan.RETRIES", 0)
    endpoint = serve(lambda _: (200, ONE.replace("d/a", "d/&#xD800;")))
    found = scan(URL, options=StoreOptions(endpoint_url=endpoint.url))
    assert found.failure is not None and found.failure.message_id == "store.server"


def test_https_to_a_plain_port_is_not_called_a_bad_certificate(serve):
    endpoint = serve(listing(["d/a"]))
    found = scan(URL, options=StoreOptions(endpoint_url=endpoint.url.replace("http:", "https:")))
    assert found.failure is not None and found.failure.message_id == "store.tls"


def test_a_web_server_that_refuses_without_a_code_is_known_by_its_status(serve):
    endpoint = serve(lambda _: (403, "<html>no</html>"))
    found = scan(URL, options=StoreOptions(endpoint_url=endpoint.url))
    assert found.failure is not None and found.failure.message_id == "store.denied"


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999", "http://127.0.0.1:abc", "http://[::1", "http:", "x"])
def test_an_address_that_cannot_be_one_is_wrong_input(address):
    with pytest.raises(InputError, match="is not an endpoint address"):
        scan(URL, options=StoreOptions(endpoint_url=address))


@pytest.mark.parametrize("url", ["https://key:hidden@host/b?X-Amz-Signature=hidden", "s3://key:hidden@bucket/prefix"])
def test_a_login_in_an_address_is_never_said(url):
    with pytest.raises(InputError) as refused:
        scan(url)
    assert "hidden" not in str(refused.value)


def test_stop_does_not_wait_for_a_store_that_never_answers():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        run = Run(lambda control: probe(URL, StoreOptions(endpoint_url=url), control=control)).start()
        connection, _ = silent.accept()  # it has asked, and waits
        with connection:
            run.stop()
            assert run.wait(2)
    assert run.result().failure.message_id == "probe.stopped-early"


@pytest.mark.parametrize("named", ["~no-such-user-here/x", "/a\0b", "/" + "x" * 5000, "loop", "nowhere"])
def test_a_path_that_cannot_be_one_is_wrong_input(named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="There is no"):
        probe(named)


def test_no_target_is_not_the_folder_one_happens_to_be_in():
    with pytest.raises(InputError, match="Nothing to probe was named"):
        probe(" ")


@pytest.mark.parametrize("name", ["empty", "fifo", "/dev/zero"])
def test_what_is_no_file_with_data_is_not_read(name, tmp_path):
    (tmp_path / "empty").touch()
    os.mkfifo(tmp_path / "fifo")
    found = probe(str(tmp_path / name))
    assert found.failure is not None and found.failure.message_id == "probe.nothing-in-path"


def test_a_folder_that_may_not_be_read_is_denied(tmp_path, monkeypatch):
    monkeypatch.setattr("gpufeed.observe.reading.os.access", lambda _path, _mode: False)  # root may read everything
    found = probe(str(tmp_path))
    assert (found.status, found.failure and found.failure.message_id) == ("failed", "probe.failed.denied")


def test_an_endless_budget_is_wrong_input(tmp_path):
    with pytest.raises(InputError, match="budget"):
        probe(str(tmp_path), budget=float("inf"))


def test_no_thread_reads_before_all_are_there(tmp_path, monkeypatch):
    """Hundreds of busy threads kept the next ones from starting: a step of half a second took a minute."""
    (tmp_path / "file").write_bytes(b"x" * 1000)
    started = []
    real = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (started.append(thread), real(thread))[1])
    seen: list[int] = []
    from gpufeed.observe import reading

    read = reading._FileReader.read
    monkeypatch.setattr(reading._FileReader, "read", lambda it, unit: (seen.append(len(started)), read(it, unit))[1])
    assert probe(str(tmp_path), concurrency=(50,), seconds=0.1).status == "ok"
    assert seen[0] == 50


def test_an_error_inside_a_success_is_asked_again(serve):
    answers = [(200, error_xml("InternalError")), (200, ONE)]
    endpoint = serve(lambda _: answers.pop(0))
    assert scan(URL, options=StoreOptions(endpoint_url=endpoint.url)).profile.objects == 1
