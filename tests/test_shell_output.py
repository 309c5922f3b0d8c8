"""What a shell prints is one sentence and valid JSON, whatever the terminal can show and the store calls its keys."""

import io
import json
import sys

import pytest

from gpufeed import cli
from gpufeed.cli import output


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding)

    def said(self):
        self.flush()
        return self.buffer.getvalue().decode(self.encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_is_whole_on_every_terminal(encoding, monkeypatch):
    document = {"key": "图像/😀", "path": "lat\udcff", "plain": "a"}
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    output.print_json(document)
    assert json.loads(terminal.said()) == document


def test_sentences_are_printed_on_a_terminal_that_lacks_their_letters(monkeypatch):
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    output.print_lines(["3 个对象", "done"])
    assert terminal.said() == "3 \\u4e2a\\u5bf9\\u8c61\ndone\n"


def test_an_address_cannot_act_on_the_terminal(capsys):
    assert cli.main(["scan", "s3://\x1b[31m\nred\u202e/x"]) == 2
    said = capsys.readouterr().err
    assert "s3://␛[31m␊red⟨U+202E⟩/x" in said
    assert said.count("\n") == 1 and "\x1b" not in said
