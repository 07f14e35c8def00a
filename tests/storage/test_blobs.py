"""Big and repeated JSON is stored once, also when the rest of it changed."""

from itertools import pairwise

from django.db import OperationalError
from hypothesis import given
import pytest

from copilot_admin.models import Blob, BlobPart
from copilot_admin.storage import blobs
from copilot_admin.storage.cut_values import CutList, CutText
from copilot_admin.storage.packing import pack
from tests.storage.any_json import JSON


def widgets(count: int, *, size: int = 300) -> list[dict[str, object]]:
    return [{"name": f"widget {number}", "text": f"{number} " * (size // 4)} for number in range(count)]  # fmt: skip


def stored(value):
    packed = pack(value)
    blobs.save([packed])
    return packed.sha


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"a": "small"},
        {"widgets": {"primary": widgets(200)}, "timezone": "UTC"},
        {"text": "x" * 10_000},
        ["y" * 5000] * 100,
        [{"same": "z" * 100}] * 500,
        {"$blob": "f" * 64, "$list": ["x" * 3000], "$$": {"$ref": "#/defs"}},
        {"number": 2**200, "long": "n" * 3000},
        {"lone": "\ud800" + "n" * 3000},
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_stored_is_read_back(value):
    sha = stored(value)
    assert blobs.load([sha]) == {sha: value}


@pytest.mark.database
@pytest.mark.django_db
def test_deep_data_is_read_back():
    value: object = "x" * 3000
    for _ in range(260):
        value = {"deeper": [value]}
    sha = stored(value)
    assert blobs.load([sha]) == {sha: value}


@pytest.mark.django_db
@given(JSON)
def test_any_json_survives(value):
    big = {"one": value, "padding": "p" * 3000, "list": [value, "q" * 3000] * 3}
    sha = stored(big)
    assert blobs.load([sha])[sha] == big


@pytest.mark.database
@pytest.mark.django_db
def test_a_change_beside_big_parts_stores_only_the_change():
    env = {"widgets": {"primary": widgets(300)}, "context": widgets(40), "timezone": "UTC"}
    stored(env)
    before = total()
    stored({**env, "timezone": "Asia/Tokyo"})
    assert total() - before < 1000


@pytest.mark.database
@pytest.mark.django_db
def test_one_changed_widget_among_many_stores_its_surroundings_only():
    many = widgets(400)
    stored({"widgets": many})
    before = total()
    many[200] = {"name": "another"}
    stored({"widgets": many})
    assert total() - before < 40_000 < before


@pytest.mark.database
@pytest.mark.django_db
def test_a_list_that_grows_costs_what_is_new():
    sizes, rows = [], []
    for length in range(10, 210, 10):
        stored({"context": widgets(length, size=600)})
        sizes.append(total())
        rows.append(BlobPart.objects.count())
    steps = [after - before for before, after in pairwise(sizes)]
    assert max(steps[10:]) < 3 * max(steps[:5])
    assert rows[-1] < 40 * len(rows)


@pytest.mark.database
@pytest.mark.django_db
def test_parts_are_known_to_be_in_use():
    sha = stored({"text": "x" * 5000, "other": "y" * 5000})
    parts = set(BlobPart.objects.filter(whole=sha).values_list("part", flat=True))
    assert parts == set(Blob.objects.exclude(pk=sha).values_list("pk", flat=True))
    assert len(parts) == 2


@pytest.mark.database
@pytest.mark.django_db
def test_what_is_not_stored_is_not_found():
    assert blobs.load(["0" * 64]) == {}


@pytest.mark.database
@pytest.mark.django_db
@pytest.mark.parametrize("most", [None, 100])
def test_what_is_not_what_was_stored_is_an_outage(most):
    """It was a fault of the server's: of a page, and of a question in the same turn."""
    sha = stored({"text": "x" * 5000})
    Blob.objects.filter(pk=sha).update(data=b"garbled")
    with pytest.raises(OperationalError, match="something else"):
        blobs.load([sha], most=most)


def total() -> int:
    return sum(Blob.objects.values_list("size", flat=True))


@pytest.mark.database
@pytest.mark.django_db
def test_of_a_long_text_the_beginning_can_be_read():
    text = 'é"\\\n\x01' * 20_000
    sha = stored({"text": text, "small": [1, 2]})
    for most in range(1000, 1012):
        value = blobs.load([sha], most=most)[sha]
        assert isinstance(value["text"], CutText)
        assert text.startswith(value["text"])
        assert most // 6 - 12 < len(value["text"]) < most
        assert value["small"] == [1, 2]
    assert type(blobs.load([sha])[sha]["text"]) is str


@pytest.mark.django_db
def test_of_a_long_list_the_first_elements_can_be_read():
    rows = [{"place": place, "note": "x" * 90} for place in range(20_000)]
    sha = stored({"rows": rows, "few": rows[:50]})
    value = blobs.load([sha], most=64_000)[sha]
    assert isinstance(value["rows"], CutList)
    assert 15 < len(value["rows"]) < 5_000
    assert value["rows"] == rows[: len(value["rows"])]
    assert value["few"] == rows[:50]
    assert type(value["few"]) is list
