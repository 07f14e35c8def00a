"""Bytes of a model server are split into payloads, however they are cut, and within bounds."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.llm import sse
from copilot_admin.agent.llm.sse import PayloadReader, load_json
from copilot_admin.errors import ProviderBroke


def payloads_of(*blocks):
    reader = PayloadReader()
    found = [payload for block in blocks for payload in reader.feed(block)]
    return [payload.data for payload in (*found, *reader.end())]


@given(
    st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), min_size=1)),
    st.lists(st.integers(0, 10_000)),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_cut_of_the_bytes_gives_the_same_payloads(texts, cuts, end):
    whole = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    places = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    blocks = [whole[a:b] for a, b in pairwise(places)]
    assert payloads_of(*blocks) == [text.encode() for text in texts]


def test_the_first_byte_says_whether_it_is_one_document():
    for before in (b"", b"\xef\xbb\xbf", b" \r\n\n"):
        assert payloads_of(before, b'{"a":\n\n', b"1}") == [b'{"a":\n\n1}']
        assert payloads_of(before + b"data: {}\n\n") == [b"{}"]
    assert payloads_of(b" \n") == []


def test_an_event_that_is_called_an_error_is_one():
    reader = PayloadReader()
    assert reader.feed(b"event: error\ndata: boom\n\ndata: x\n\n") == [
        (b"boom", True),
        (b"x", False),
    ]


@pytest.mark.parametrize("block", [b"data: " + b"x" * 65, b"data: x\n" * 10, b"{" + b" " * 64])
def test_a_payload_that_is_too_large_ends_the_answer(block, monkeypatch):
    monkeypatch.setattr(sse, "MAX_EVENT_BYTES", 64)
    with pytest.raises(ProviderBroke, match="more than 8 MiB"):
        payloads_of(block)
    assert payloads_of(b"data: " + b"x" * 58, b"\n\n") == [b"x" * 58]


def test_an_answer_is_read_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(sse, "MAX_ANSWER_BYTES", 19)
    reader = PayloadReader()
    reader.feed(b"data: one\n\n: ping\n\n")
    with pytest.raises(ProviderBroke, match="more than 256 MiB"):
        reader.feed(b"\n")


@pytest.mark.parametrize(
    "page", [b"<!doctype html>\n<html>", b"\r\n  <html>\n", b"\xef\xbb\xbf<?xml version='1.0'?>\n"]
)
def test_a_page_in_the_place_of_an_answer_is_named(page):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        payloads_of(page)


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"hello"])
def test_what_is_no_json_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        load_json(text)


def test_a_number_of_thousands_of_digits_is_read():
    assert load_json(b"[%s, 1]" % (b"9" * 5000)) == [float("inf"), 1]
