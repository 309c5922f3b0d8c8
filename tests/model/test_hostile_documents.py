"""Files that nobody's tool wrote: each is refused in one sentence, whatever stands in it."""

import copy
import json

import pytest

from gpufeed.facts.errors import InputError
from gpufeed.model.histogram import Histogram
from gpufeed.model.measurement import Measurement, Record
from gpufeed.model.profile import PrefixProfile
from gpufeed.observe.documents import read_json

NAN, INFINITY, HUGE = float("nan"), float("inf"), 10**400

MEASURED = Measurement(
    "gpufeed", "ok", (Record("read", 1e9, concurrency=4, target="s3://b/p", latency=Histogram({1: 2})),)
).to_json()
PROFILE = PrefixProfile("p/")
PROFILE.add_many(["p/a", "p/b"], [10, 20])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("bytes_per_s", value) for value in (NAN, INFINITY, -1, HUGE, "<script>", [1], {}, True)),
        *(("target", value) for value in (1, [1], {}, True)),
        *(("concurrency", value) for value in (4.5, "4", NAN, -1)),
        ("sustained", 1),
        ("series", [[0, NAN]]),
        ("latency", [[10**6, 1]]),
        ("latency", [[1, -1]]),
        ("latency", [[INFINITY, 1]]),
    ],
)
def test_a_record_of_other_types_is_no_measurement(field, value):
    document = copy.deepcopy(MEASURED)
    document["records"][0][field] = value
    with pytest.raises(InputError, match="not a measurement that can be read"):
        Measurement.from_json(document)


@pytest.mark.parametrize("note", [{"id": "no.such"}, {"id": "probe.errors"}, {"id": [1]}])
def test_a_note_that_cannot_be_said_is_refused_when_read(note):
    with pytest.raises(InputError, match="not a measurement that can be read"):
        Measurement.from_json({**MEASURED, "warnings": [note]})


@pytest.mark.parametrize("field", ["objects", "bytes"])
def test_a_count_no_storage_can_hold_is_no_profile(field):
    with pytest.raises(InputError, match=field):
        PrefixProfile.from_json({**PROFILE.to_json(), field: HUGE})


@pytest.mark.parametrize("rows", [[[10**18, 1, 1]], [[5, HUGE, 1]]])
def test_a_size_no_storage_can_hold_is_no_profile(rows):
    document = PROFILE.to_json()
    document["sketch"]["sizes"] = rows
    with pytest.raises(InputError, match="sizes"):
        PrefixProfile.from_json(document)


@pytest.mark.parametrize("content", ["[" * 100_000, '{"objects": ' + "9" * 5000 + "}", "", "null", "[1]", '{"a":'])
def test_what_is_no_json_object_is_refused(content, tmp_path):
    file = tmp_path / "file.json"
    file.write_text(content)
    with pytest.raises(InputError, match="JSON"):
        read_json(file)


def test_what_was_written_is_read_as_it_was():
    assert Measurement.from_json(json.loads(json.dumps(MEASURED))).to_json() == MEASURED
    assert PrefixProfile.from_json(json.loads(json.dumps(PROFILE.to_json()))) == PROFILE
