"""Bytes of a chat completion stream to events, and how many bytes are taken."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.llm import data_lines
from copilot_admin.agent.llm.chat_chunks import ChunkReader
from copilot_admin.agent.llm.data_lines import (
    MAX_BYTES_WITHOUT_DATA,
    MAX_EVENT_BYTES,
    DataLines,
    EitherForm,
    WholeAnswer,
)
from copilot_admin.agent.values.model_call import TextDelta
from copilot_admin.errors import ProviderBroke, ProviderUnavailable
from tests.agent.llm.stream_chunks import chunk, lines_of

FEW_BYTES = 64 * 1024


@pytest.fixture
def _few_bytes(monkeypatch):
    """What is read line by line is less than a mebibyte of it: each line is a step."""
    assert MAX_EVENT_BYTES == MAX_BYTES_WITHOUT_DATA == 1024 * 1024
    for name in ("MAX_EVENT_BYTES", "MAX_BYTES_WITHOUT_DATA"):
        monkeypatch.setattr(data_lines, name, FEW_BYTES)


@pytest.mark.parametrize(
    "block",
    [
        b"data: one\n\ndata: two\n\n",
        b"data: one\r\n\r\ndata: two\r\n\r\n",
        b"data: one\r\rdata: two\r\r",
        b"\xef\xbb\xbfdata: one\n\ndata: two\n\n",
        b": hello\n\ndata: one\n\n\n\n: ping\ndata: two\n\n",
        b"event: x\nid: 1\ndata:one\n\ndata:two\n\n",
        b"data: one\n\ndata: two",
        b"data: one\n\ndata: two\n",
    ],
)
def test_events_are_found_whatever_ends_their_lines(block):
    assert lines_of(block) == [b"one", b"two"]
    assert lines_of(*(bytes([byte]) for byte in block)) == [b"one", b"two"]


def test_lines_of_one_event_are_joined():
    assert lines_of(b"data: {\ndata: }\n\n") == [b"{\n}"]


def test_several_whole_events_in_one_block_are_all_found():
    assert DataLines().feed(b"data: one\n\ndata: two\n\n") == [b"one", b"two"]
    assert DataLines().feed(b"data: one\ndata: more\n\nid: 2\n\n") == [b"one\nmore"]


def test_comment_before_a_whole_event_is_passed_over():
    assert lines_of(b": ping\n\ndata: one\n\n") == [b"one"]


def test_stream_of_comments_only_has_no_data():
    assert lines_of(b": a\n\n: b\n\n") == []


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), max_size=5),
    cuts=st.lists(st.integers(0, 200), max_size=8),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_cut_of_the_bytes_gives_the_same_events(texts, cuts, end):
    whole = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    places = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    blocks = [whole[a:b] for a, b in pairwise(places)]
    assert lines_of(*blocks) == [text.encode() for text in texts]


@pytest.mark.parametrize(
    "block",
    [
        b"data: " + b"x" * (MAX_EVENT_BYTES + 1) + b"\n",
        b"data: " + b"x" * (MAX_EVENT_BYTES + 1),
        (b"data: " + b"x" * 1000 + b"\n") * 1100,
    ],
)
def test_event_of_more_than_a_mebibyte_is_an_error(block):
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        DataLines().feed(block)


@pytest.mark.usefixtures("_few_bytes")
def test_lines_without_data_count_as_well():
    lines = DataLines()
    lines.feed(b"data:\n" * FEW_BYTES)
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        lines.feed(b"data: x\n")


def test_events_before_one_that_is_too_large_are_kept():
    lines = DataLines()
    assert lines.feed(b"data: one\n\ndata: " + b"x" * (MAX_EVENT_BYTES + 1)) == [b"one"]
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        lines.check()


def test_stream_is_read_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(data_lines, "MAX_STREAM_BYTES", 19)
    lines = DataLines()
    assert lines.feed(b"data: one\n\n: ping\n\n") == [b"one"]
    lines.check()
    with pytest.raises(ProviderBroke, match="more than 256 MiB"):
        lines.feed(b"\n")


@pytest.mark.parametrize(
    "page", [b"<!doctype html>\n<html>", b"\r\n  <html>\n", b"\xef\xbb\xbf<?xml version='1.0'?>\n"]
)
def test_page_in_the_place_of_a_stream_is_named(page):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        DataLines().feed(page)
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        lines_of(page.strip())


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \r\n\n"])
def test_the_form_of_a_body_shows_in_its_first_sign(before):
    for block, said in ((b"{}\n\n{}", b"{}\n\n{}"), (b"data: {}\n\n", b"{}"), (b"[]", b"[]")):
        for blocks in ([before + block], [bytes([byte]) for byte in before + block]):
            body = EitherForm()
            found = [data for one in blocks for data in body.feed(one)]
            body.check()
            assert body.held == (0 if block.startswith(b"data") else len(block))
            assert found + body.end() == [said]
            assert (body.held, body.end()) == (0, [])


@pytest.mark.usefixtures("_few_bytes")
def test_of_a_body_that_has_not_begun_blanks_are_counted():
    body = EitherForm()
    with pytest.raises(ProviderBroke, match="blank lines or comments"):
        for _ in range(3):
            body.feed(b"\n" * (FEW_BYTES // 2))
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        EitherForm().feed(b"\n<!doctype html>\n")


def test_several_documents_are_no_half_of_one():
    whole, half = b'{"a": 1}', b'{"choices": [{"delta'
    for payload, error in ((whole + b"\n" + whole, ProviderBroke), (half, ProviderUnavailable)):
        with pytest.raises(error):
            ChunkReader().read_last([payload])


def test_mark_before_a_whole_body_is_passed_over():
    body = WholeAnswer()
    body.feed(b"\xef\xbb\xbf{}")
    body.check()
    assert body.end() == [b"{}"]


def test_event_of_exactly_a_mebibyte_is_read():
    assert lines_of(b"data: " + b"x" * MAX_EVENT_BYTES + b"\n", b"\n") == [b"x" * MAX_EVENT_BYTES]


def test_whole_body_is_read_up_to_the_same_limit():
    body = WholeAnswer()
    assert [body.feed(b"a"), body.feed(b"b"), body.end()] == [[], [], [b"ab"]]
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        body.feed(b"x" * MAX_EVENT_BYTES)


@pytest.mark.parametrize("done", [b"[DONE]", b"  [DONE] "])
def test_nothing_after_done_is_read(done):
    reader = ChunkReader()
    assert reader.read([chunk(content="a"), done, b"not json"]) == [TextDelta("a")]
    assert reader.done


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b": alive\n\n", b"id: 1\n", b"\n\r"])
@pytest.mark.usefixtures("_few_bytes")
def test_a_mebibyte_without_an_event_is_no_answer(line):
    lines = DataLines()
    block = line * (2 * 1024 // len(line))
    fed = 0
    with pytest.raises(ProviderBroke, match="1 MiB of blank lines or comments"):
        while fed < 2 * FEW_BYTES:
            lines.feed(block)
            fed += len(block)
    assert FEW_BYTES - len(block) < fed <= FEW_BYTES


@pytest.mark.parametrize("said", [b"data: x\n\n", b"data: x\n\n\n", b"data:\n"])
@pytest.mark.usefixtures("_few_bytes")
def test_signs_of_life_between_events_may_go_on(said):
    lines = DataLines()
    for _ in range(3):
        lines.feed(b"\n" * (FEW_BYTES - 1))
        lines.feed(said)


@pytest.mark.usefixtures("_few_bytes")
def test_an_event_before_a_mebibyte_of_nothing_is_handed_on():
    lines = DataLines()
    assert lines.feed(b"data: x\n\n" + b"\n" * FEW_BYTES) == [b"x"]
    with pytest.raises(ProviderBroke):
        lines.feed(b"\n" * (FEW_BYTES + 1))
