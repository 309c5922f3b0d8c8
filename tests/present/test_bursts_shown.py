"""Evaluation and the start of a job or an epoch, as people and programs read them."""

from __future__ import annotations

import pytest
from examples import PHOTOS

from gpufeed.facts import load
from gpufeed.model.advise import recommend
from gpufeed.model.workload import Workload
from gpufeed.present import plain, tables
from gpufeed.present.contract import recommendation as as_json

STATED = {
    "task": "lora",
    "model_parameters": 7e10,
    "batch_size": 256,
    "evaluation_every": 3600,
    "evaluation_bytes": 3.2e10,
}


def test_all_of_it_is_said_in_text_in_a_table_and_in_json() -> None:
    found = recommend(Workload.from_mapping(PHOTOS | STATED, load()), load())
    said = "\n".join(plain.recommendation(found))
    assert "Evaluation: 32 GB every 1 h of training" in said
    assert "560 GB (140 GB–4.48 TB) of weights" in said
    assert "until every worker has its first batch" in said
    shown = tables.bursts(found)
    assert len(shown.columns) == 6 and len(shown) == 5
    document = as_json(found, load(), [], {})
    assert document["traffic"]["evaluation"]["bytes"]["value"] == pytest.approx(3.2e10)
    assert document["traffic"]["starts"]["base_model_bytes"]["value"] == pytest.approx(5.6e11)
    s3 = next(option for option in document["options"] if option["option"] == "s3-standard")
    assert s3["bursts"]["evaluation_fed"]["value"] == pytest.approx(550 / 960)
    assert (
        as_json(recommend(Workload.from_mapping(PHOTOS, load()), load()), load(), [], {})["traffic"]["evaluation"]
        is None
    )
