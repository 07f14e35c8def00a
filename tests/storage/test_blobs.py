"""Big JSON is stored once, compressed, and read back as it was."""

import pytest

from copilot_admin.storage import blobs

DEEP: object = "x" * 3000
for _ in range(260):
    DEEP = {"deeper": [DEEP]}


def store(value):
    blob = blobs.to_blob(value)
    blobs.save([blob])
    return blob.sha


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"text": "x" * 10_000},
        [{"same": "z" * 100}] * 500,
        {"$blob": "f" * 64, "$list": ["x" * 3000], "$$": {"$ref": "#/defs"}},
        {"number": 2**200},
        {"lone": "\ud800"},
        DEEP,
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_stored_value_is_read_back(value):
    sha = store(value)
    assert blobs.load([sha]) == {sha: value}


@pytest.mark.database
@pytest.mark.django_db
def test_more_values_than_one_statement_takes_are_stored_and_read():
    values = [blobs.to_blob(number) for number in range(blobs.BATCH + 1)]
    blobs.save(values)
    blobs.save(values)
    found = blobs.load(one.sha for one in values)
    assert sorted(found.values()) == list(range(blobs.BATCH + 1))


def test_only_big_values_need_a_row_of_their_own():
    text = "x" * (blobs.MIN_BLOB_BYTES - 2)  # without its quotation marks
    assert blobs.to_big_blob(text) is None
    assert blobs.to_big_blob(f"{text}x") == blobs.to_blob(f"{text}x")
