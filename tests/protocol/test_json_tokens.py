"""What JSON is made of is counted before it is read, and texts do not count."""

import json
import random
from typing import Any

import pytest

from protocol import json_tokens
from protocol.json_tokens import has_more_tokens, tokens_of


@pytest.mark.parametrize("at_once", [2, 3, 7, 64])
def test_texts_are_left_out_of_the_count_wherever_a_piece_ends(at_once: int, monkeypatch: Any):
    monkeypatch.setattr(json_tokens, "AT_ONCE", at_once)
    draw = random.Random(at_once)
    for _ in range(500):
        texts = ["".join(draw.choices('"\\,[xe', k=draw.randrange(9))) for _ in range(4)]
        body = json.dumps({"a": texts}, separators=(",", ":")).encode()
        assert not has_more_tokens(body, 17)  # { for ten, :, [ for three, and three commas
        assert has_more_tokens(body, 16)
        cut = body[: draw.randrange(len(body))]
        whole = json_tokens._structure(json_tokens._STRING.sub(b"", cut))
        assert not has_more_tokens(cut, whole)
        assert not whole or has_more_tokens(cut, whole - 1)


def test_tokens_are_counted_exactly_only_where_there_may_be_too_many():
    body = b'[",,,"]'  # 3 for the list; the commas in its text count at first sight
    assert [tokens_of(body, no_matter=most) for most in (5, 6)] == [3, 6]


class NotedBytes(bytes):
    """A body that notes how much of it each call counts."""

    longest = 0

    def count(self, mark: Any, start: Any = None, end: Any = None) -> int:
        whole = range(len(self))[start:end]
        self.longest = max(self.longest, len(whole))
        return super().count(mark, start, end)


@pytest.mark.parametrize("unit", [b"word ", b",", b"[]", b'{"a":1},'])
def test_no_call_counts_more_than_some_of_a_body(unit: bytes, monkeypatch: Any):
    monkeypatch.setattr(json_tokens, "AT_ONCE", 100)
    body = NotedBytes(unit * 1000)
    assert tokens_of(body, no_matter=10**6) == json_tokens._structure(bytes(body))
    assert body.longest <= 100
