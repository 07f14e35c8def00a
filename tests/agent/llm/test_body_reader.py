"""Bytes of a model server are split into events or read as one document, within bounds."""

import pytest

from copilot_admin.agent.llm import body_reader
from copilot_admin.agent.llm.body_reader import BodyReader
from copilot_admin.errors import ProviderBroke


def texts_of(*blocks):
    reader = BodyReader()
    found = [event for block in blocks for event in reader.feed(block)]
    return [data for _, data in (*found, *reader.end())]


def test_the_first_byte_says_whether_it_is_one_document():
    for before in (b"", b"\xef\xbb\xbf", b" \r\n\n"):
        assert texts_of(before, b'{"a":\n\n', b"1}") == [b'{"a":\n\n1}']
        assert texts_of(before + b"data: {}\n\n") == [b"{}"]
    assert texts_of(b" \n") == []


@pytest.mark.parametrize("block", [b"data: " + b"x" * 65, b"data: x\n" * 10, b"{" + b" " * 64])
def test_a_text_that_is_too_large_ends_the_answer(block, monkeypatch):
    monkeypatch.setattr(body_reader, "MAX_EVENT_BYTES", 64)
    with pytest.raises(ProviderBroke, match="more than 8 MiB"):
        texts_of(block)
    assert texts_of(b"data: " + b"x" * 58, b"\n\n") == [b"x" * 58]


@pytest.mark.parametrize(
    "page", [b"<!doctype html>\n<html>", b"\r\n  <html>\n", b"\xef\xbb\xbf<?xml version='1.0'?>\n"]
)
def test_a_page_in_the_place_of_an_answer_is_named(page):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        texts_of(page)
