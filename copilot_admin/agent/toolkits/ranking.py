"""Rank texts by relevance to a question: Okapi BM25 over terms.

Terms are compared without case, accents and English plurals. Chinese and Japanese, which have no
blanks between terms, are compared by pairs of characters.
Sources: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009);
the S-stemmer of Harman, How Effective Is Suffixing? (1991).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
import re
from unicodedata import combining, normalize

K1 = 1.2  # how soon repetitions of a term stop counting; the paper's middle value
B = 0.75  # length normalization: penalty of long texts
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+")  # kana and Han characters
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
    counted = [Counter(terms_of(text)) for text in texts]
    lengths = [sum(words.values()) for words in counted]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    found = [0.0] * len(texts)
    places = _places(counted)
    for word in dict.fromkeys(terms_of(question)):
        having = places.get(word, ())
        rarity = log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for index in having:
            count = counted[index][word]
            held_back = K1 * (1 - B + B * lengths[index] / average)
            found[index] += rarity * count * (K1 + 1) / (count + held_back)
    return found


def _places(counted: Sequence[Counter[str]]) -> Mapping[str, Sequence[int]]:
    places: dict[str, list[int]] = {}
    for index, words in enumerate(counted):
        for word in words:
            places.setdefault(word, []).append(index)
    return places


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
    return text.translate({ord(letter): _folded_letter(letter) for letter in set(text)})


def _folded_letter(letter: str) -> str:
    return "".join(part for part in normalize("NFKD", letter) if not combining(part))


def _terms(word: str) -> Iterator[str]:
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield _singular(word[end : run.start()])
        yield from map("".join, pairwise(run[0])) if len(run[0]) > 1 else run[0]
        end = run.end()
    if end < len(word):
        yield _singular(word[end:])


def _singular(word: str) -> str:
    if len(word) < _MIN_PLURAL or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return word[:-3] + "y"
    return word.removesuffix("s")
