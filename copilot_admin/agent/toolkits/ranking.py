"""Rank texts by relevance to a question: Okapi BM25 over terms.

Terms are compared without case, accents and English plurals. Chinese and Japanese, which have no
blanks between terms, are compared by pairs of characters.
Sources: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009);
the S-stemmer of Harman, How Effective Is Suffixing? (1991).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import log
import re
from unicodedata import combining, normalize

from copilot_admin.agent.text import SUPERSCRIPTS

K1 = 1.2  # how soon repetitions of a term stop counting; the paper's middle value
B = 0.75  # length normalization: penalty of long texts
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+)")  # kana and Han characters
_MIN_PLURAL = 4  # letters; "gas" and "its" are no plurals


def split_words(text: str) -> list[str]:
    """Split a text into lower-case terms; `stockPrice` and `stock_price` are two terms each."""
    return [word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text))]


def terms_of(text: str) -> list[str]:
    """Return the terms of a text in the form in which they are compared.

    Examples:
        >>> terms_of("Zürich's companies, prices and losses")
        ['zurich', 's', 'company', 'price', 'and', 'losse']
        >>> terms_of("2023年收入")
        ['2023', '年收', '收入']
    """
    return [term for word in split_words(_folded(text)) for term in _terms(word)]


def scores(question: str, texts: Sequence[str]) -> list[float]:
    """Return a score of each text for the question; 0 if they share no term.

    Cost is linear in the lengths of the question and of the texts.
    """
    lengths = []
    counts: dict[str, dict[int, int]] = {}  # by term and place of the text
    for place, text in enumerate(texts):
        counted = Counter(terms_of(text))
        lengths.append(counted.total())
        for term, count in counted.items():
            counts.setdefault(term, {})[place] = count
    average = sum(lengths) / len(lengths) if lengths else 0.0
    found = [0.0] * len(texts)
    for term in dict.fromkeys(terms_of(question)):
        having = counts.get(term, {})
        rarity = log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for place, count in having.items():
            penalty = K1 * (1 - B + B * lengths[place] / average)
            found[place] += rarity * count * (K1 + 1) / (count + penalty)
    return found


def ranked(question: str, texts: Sequence[str]) -> list[int]:
    """Return the indexes of the texts, best first; ties are in their original order."""
    found = scores(question, texts)
    return sorted(range(len(texts)), key=lambda index: -found[index])


def _folded(text: str) -> str:
    """Return the text without accents, and with its ligatures and wide letters decomposed.

    Letters are normalized one by one: normalizing a run of accents in one piece has quadratic cost.
    """
    if text.isascii():
        return text
    decomposed = {letter: normalize("NFKD", letter) for letter in set(text)}
    decomposed |= dict.fromkeys(map(chr, SUPERSCRIPTS.values()), " ")
    return text.translate(
        {
            ord(letter): "".join(part for part in parts if not combining(part))
            for letter, parts in decomposed.items()
        }
    )


def _terms(word: str) -> Iterator[str]:
    """Split a word where letters without blanks between terms start or end."""
    for part in _UNSPACED.split(word):
        if _UNSPACED.fullmatch(part):
            yield from map("".join, pairwise(part)) if len(part) > 1 else part
        elif part:
            yield _singular(part)


def _singular(word: str) -> str:
    if len(word) < _MIN_PLURAL or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    return word.removesuffix("s")
