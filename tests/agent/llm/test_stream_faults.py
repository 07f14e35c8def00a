"""A chunk that is an error, or none at all, ends the answer with words, and what came before stays."""

import pytest

from copilot_admin.agent.llm.chat_chunks import ChunkReader, StreamError
from copilot_admin.agent.values.model_call import TextDelta
from copilot_admin.errors import ProviderBroke
from tests.agent.llm.stream_chunks import chunk, lines_of, read


@pytest.mark.parametrize("payload", [b"[]", b"7", b"{", b"[" * 100_000, b"hello"])
def test_chunk_that_is_no_object_breaks_the_answer(payload):
    with pytest.raises(ProviderBroke, match="no chat completion"):
        read(payload)


@pytest.mark.parametrize(
    "payload",
    [
        b'{"object": "error", "message": "boom"}',
        b'{"type": "error", "message": "boom"}',
        b'{"code": 50000, "message": "boom"}',
        b'{"detail": "boom"}',
    ],
)
def test_a_chunk_that_is_itself_an_error_ends_the_answer(payload):
    with pytest.raises(StreamError) as caught:
        read(payload, b"[DONE]")
    assert "boom" in caught.value.error.values()


@pytest.mark.parametrize(
    "payload",
    [
        b'{"code": 0, "message": "ok"}',
        b'{"message": "queued"}',
        b'{"choices": [], "detail": "x"}',
        b'{"usage": {}, "detail": "x"}',
        b'{"message": {"content": "x"}, "code": 7}',
    ],
)
def test_a_chunk_that_says_that_all_is_well_does_not(payload):
    assert read(payload) == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"message": "boom"}', {"message": "boom"}),
        (b'{"error": {"message": "boom"}}', {"message": "boom"}),
        (b"boom", "boom"),
    ],
)
def test_an_event_that_is_called_an_error_is_one_whatever_follows_it(data, error):
    block = b"event: error\ndata: " + data + b"\n\ndata: [DONE]\n\n"
    for blocks in ([block], [bytes([byte]) for byte in block], [block[:13], block[13:]]):
        with pytest.raises(StreamError) as caught:
            read(*lines_of(*blocks))
        assert caught.value.error == error


def test_an_error_without_data_is_no_event_and_the_next_one_is_none():
    assert read(*lines_of(b"event: error\n\n", b"data: " + chunk(content="a") + b"\n\n")) == [
        TextDelta("a")
    ]
    assert read(*lines_of(b"event: message\ndata: " + chunk(content="a"))) == [TextDelta("a")]


def test_error_object_in_the_stream_is_raised():
    with pytest.raises(StreamError) as caught:
        read(b'{"error": {"message": "boom"}}')
    assert caught.value.error == {"message": "boom"}


def test_words_before_a_chunk_that_breaks_the_answer_are_kept():
    for last in (b'{"error": "boom"}', b"hello", b"<html>"):
        reader = ChunkReader()
        with pytest.raises((StreamError, ProviderBroke)):
            reader.read([chunk(content="Half"), last])
        assert reader.rest() == [TextDelta("Half")]
        assert reader.rest() == []


@pytest.mark.parametrize("payload", [b"<html>", b"\xef\xbb\xbf \n<!doctype html>"])
def test_page_in_the_place_of_a_chunk_is_named(payload):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        read(payload)


def test_a_number_that_nobody_counts_to_takes_nothing_from_the_words_beside_it():
    payload = b'{"created": %s, "choices": [{"delta": {"content": "Hi"}}]}' % (b"9" * 5000)
    assert ChunkReader().read([payload]) == [TextDelta("Hi")]


def test_error_that_is_the_whole_chunk_is_raised():
    with pytest.raises(StreamError) as caught:
        read(b'{"object": "error", "message": "boom", "code": 400}')
    assert caught.value.error == {"object": "error", "message": "boom", "code": 400}


@pytest.mark.parametrize("value", [b"{}", b"[]", b'{"text": "x"}'])
def test_a_chunk_of_very_many_values_is_none(value):
    body = b'{"choices": [{"delta": {"tool_calls": [%b], "content": [%b]}}]}'
    many = b",".join([value] * (1_000_000 // 2 // (len(value) + 1)))
    with pytest.raises(ProviderBroke, match="no chat completion"):
        read(body % (many, many))
