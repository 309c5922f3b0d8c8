"""Keys and bucket names cannot act on the page, and what is unseen in them is shown."""

from __future__ import annotations

import pytest

from gpufeed.present.escape import LONGEST_SHOWN, escaped, visible


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("a/plain key+1%2F.jpg", "a/plain key+1%2F.jpg"),
        ("tab\tnewline\nnul\0del\x7f", "tab␉newline␊nul␀del␡"),
        ("exe.gpj\u202e", "exe.gpj⟨U+202E⟩"),
        ("zero\u200bwidth\ufeff", "zero⟨U+200B⟩width⟨U+FEFF⟩"),
        ("图像/😀", "图像/😀"),
        ("lone \ud800 surrogate", "lone ⟨U+D800⟩ surrogate"),
    ],
)
def test_unseen_characters_are_made_visible(key: str, shown: str) -> None:
    assert visible(key) == shown


def test_html_in_a_key_is_text() -> None:
    assert escaped('<img src=x onerror="alert(1)">&') == "&lt;img src=x onerror=&quot;alert(1)&quot;&gt;&amp;"


def test_a_long_key_loses_its_middle_only() -> None:
    key = "start/" + "x" * 1_000 + "/end.jpg"
    assert len(visible(key)) == LONGEST_SHOWN
    assert visible(key).startswith("start/x")
    assert visible(key).endswith("x/end.jpg")
    assert "…" in visible(key)
