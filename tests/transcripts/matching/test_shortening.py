"""Big results are recognised by a hash that is made once."""

import pytest

from copilot_admin.transcripts.matching import shortening
from copilot_admin.transcripts.matching.shortening import shortened
from protocol.canonical import canonical
from protocol.messages import (
    CommandResult,
    DataItem,
    FileReference,
    HumanMessage,
    ResultMessage,
    SourceData,
)

HASH_CHARACTERS = 128


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> dict[bytes, str]:
    """What this process has seen so far: nothing."""
    nothing: dict[bytes, str] = {}
    monkeypatch.setattr(shortening, "_normalised", nothing)
    return nothing


def result(*items: DataItem | FileReference) -> ResultMessage:
    return ResultMessage("get_widget_data", {}, (SourceData(items),))


def content(text: str) -> str:
    short = shortened(result(DataItem(content=text)))
    match short.data:
        case (SourceData((DataItem(content=kept),)),):
            return kept
    raise AssertionError(short)


def test_a_content_of_2048_characters_stays():
    assert content("a" * 2048) == "a" * 2048


def test_a_bigger_one_becomes_the_hash_of_what_it_says():
    short = content("Café " * 1000)
    assert len(short) == HASH_CHARACTERS
    assert short == content("Cafe\u0301 " * 1000)  # the same letters, written in another way
    assert short != content("Cafe " * 1000)


def test_half_of_a_pair_of_surrogates_is_no_hindrance():
    assert len(content("\ud800" * 3000)) == HASH_CHARACTERS


def test_files_and_outcomes_of_commands_stay():
    file = FileReference(url="https://f.example/" + "a" * 3000)
    outcome = ResultMessage("f", {}, (CommandResult("success", "a" * 3000),))
    assert shortened(result(file)) == result(file)
    assert shortened(outcome) == outcome


def test_a_content_that_was_seen_is_not_normalised_again(monkeypatch):
    seen: list[object] = []
    monkeypatch.setattr(
        shortening, "canonical", lambda message: (seen.append(message), canonical(message))[1]
    )
    first, second = content("a" * 3000), content("a" * 3000)
    assert first == second
    assert seen == [HumanMessage("a" * 3000)]


@pytest.mark.parametrize(("before", "after"), [(9_999, 10_000), (10_000, 1)])
def test_ten_thousand_hashes_are_remembered(remembered, before, after):
    remembered.update({bytes([1, *number.to_bytes(2)]): "" for number in range(before)})
    content("a" * 3000)
    assert len(remembered) == after
