"""Ranks texts by how well they fit a question: Okapi BM25 over words.

Source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009).
"""

from collections import Counter
from collections.abc import Sequence
from math import log
import re

K1 = 1.2  # how soon more of the same word stops counting; the paper's middle value
B = 0.75  # how much long texts are held back
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case; `stockPrice` and `stock_price` are two each."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def scores(question: str, texts: Sequence[str]) -> list[float]:
    """How well each text fits the question; 0 where no word of it occurs.

    Costs grow in a straight line with the length of the texts.
    """
    counted = [Counter(words_of(text)) for text in texts]
    lengths = [sum(words.values()) for words in counted]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    found = [0.0] * len(texts)
    for word in dict.fromkeys(words_of(question)):
        having = sum(word in words for words in counted)
        if not having:
            continue
        rarity = log(1 + (len(texts) - having + 0.5) / (having + 0.5))
        for index, words in enumerate(counted):
            if count := words[word]:
                held_back = K1 * (1 - B + B * lengths[index] / average)
                found[index] += rarity * count * (K1 + 1) / (count + held_back)
    return found


def ranked(question: str, texts: Sequence[str]) -> list[int]:
    """The places of the texts, best first; equals stay in their order."""
    found = scores(question, texts)
    return sorted(range(len(texts)), key=lambda index: -found[index])
