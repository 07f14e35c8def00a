"""JSON tokens are counted before the values are read, and strings do not count."""

import json
import random

import pytest

from protocol.json_tokens import has_more_tokens


def test_strings_are_left_out_of_the_count() -> None:
    draw = random.Random(1)
    for _ in range(500):
        texts = ["".join(draw.choices('"\\,[xe', k=draw.randrange(9))) for _ in range(4)]
        body = json.dumps({"a": texts}, separators=(",", ":")).encode()
        assert not has_more_tokens(body, 17)  # { counts 10, [ counts 3, one colon, three commas
        assert has_more_tokens(body, 16)


@pytest.mark.parametrize(
    ("body", "tokens"), [(b"", 0), (b"[1,2]", 4), (b'{"a":1}', 11), (b'[",', 3)]
)
def test_the_limit_is_exact(body: bytes, tokens: int) -> None:
    assert not has_more_tokens(body, tokens)
    assert not tokens or has_more_tokens(body, tokens - 1)
