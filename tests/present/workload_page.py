"""``docs/workload.md`` and ``docs/workload.zh-CN.md``: every field of a workload file, from the code's own list.

python tests/present/workload_page.py
"""

from __future__ import annotations

import os
from pathlib import Path

from gpufeed.facts import load
from gpufeed.facts.messages import LANGUAGES
from gpufeed.present import reference

ROOT = Path(__file__).parents[2]
PAGES = {"en": ROOT / "docs/workload.md", "zh_CN": ROOT / "docs/workload.zh-CN.md"}
NOTE = "<!-- Written by tests/present/workload_page.py; a test fails when it and the code differ. -->"
EXAMPLE = ROOT / "data/examples/image-fine-tuning.toml"


def page() -> str:
    """In the language in force."""
    return f"{NOTE}\n{reference.markdown(load(), EXAMPLE.read_text(encoding='utf-8'))}"


if __name__ == "__main__":
    for language in LANGUAGES:
        os.environ["GPUFEED_LANGUAGE"] = language
        PAGES[language].write_text(page(), encoding="utf-8")
