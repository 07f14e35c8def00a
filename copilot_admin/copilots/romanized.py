"""Letters of other scripts written in Latin ones, about as they sound: for addresses that people read.

The scripts are those whose letters can be read one by one. Chinese and Japanese cannot without a
dictionary.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
import unicodedata

_SILENT = "_"
_LATIN = "ß ss æ ae ø o œ oe đ d ł l ı i þ th ð d"  # those that are no letter with a mark
_GREEK = (
    "α a β v γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch "
    "ψ ps ω o"
)
_CYRILLIC = (
    "а a б b в v г g д d е e ё yo ж zh з z и i й y к k л l м m н n о o п p р r с s т t у u ф f х kh "
    "ц ts ч ch ш sh щ shch ъ _ ы y ь _ э e ю yu я ya є ye і i ї yi ґ g ў u ђ dj ј j љ lj њ nj ћ c "
    "џ dz ѕ dz ә a ғ g қ k ң n ө o ұ u ү u һ h"
)
_ARMENIAN = (
    "ա a բ b գ g դ d ե e զ z է e ը y թ t ժ zh ի i լ l խ kh ծ ts կ k հ h ձ dz ղ gh ճ ch մ m յ y ն n "
    "շ sh ո o չ ch պ p ջ j ռ r ս s վ v տ t ր r ց ts ւ u փ p ք k օ o ֆ f"
)
_GEORGIAN = (
    "ა a ბ b გ g დ d ე e ვ v ზ z თ t ი i კ k ლ l მ m ნ n ო o პ p ჟ zh რ r ს s ტ t უ u ფ p ქ k ღ gh "
    "ყ q შ sh ჩ ch ც ts ძ dz წ ts ჭ ch ხ kh ჯ j ჰ h"
)
_HEBREW = (
    "א a ב b ג g ד d ה h ו u ז z ח h ט t י i כ k ך k ל l מ m ם m נ n ן n ס s ע a פ p ף f צ ts ץ ts "
    "ק k ר r ש sh ת t"
)
_ARABIC = (
    "ا a ب b ت t ث th ج j ح h خ kh د d ذ dh ر r ز z س s ش sh ص s ض d ط t ظ z ع a غ gh ف f ق q ك k "
    "ل l م m ن n ه h و u ي i ى a ة a ء _ ـ _ پ p چ ch ژ zh ک k گ g ی i ٹ t ڈ d ڑ r ں n ہ h ے e"
)
_DEVANAGARI = (
    "अ a आ a इ i ई i उ u ऊ u ऋ ri ए e ऐ ai ओ o औ au ा a ि i ी i ु u ू u ृ ri े e ै ai ो o ौ au ं n "
    "ँ n ः h क k ख kh ग g घ gh ङ n च ch छ chh ज j झ jh ञ n ट t ठ th ड d ढ dh ण n त t थ th द d "
    "ध dh न n प p फ ph ब b भ bh म m य y र r ल l व v श sh ष sh स s ह h"
)
# Korean syllables come apart into these; each run with its first sign.
_HANGUL = (
    (0x1100, "g kk n d tt r m b pp s ss _ j jj ch k t p h"),
    (0x1161, "a ae ya yae eo e yeo ye o wa wae oe yo u wo we wi yu eu ui i"),
    (0x11A8, "k k k n n n t l k m l l l p l m p p t t ng t t k t p t"),
)
_DIGITS = (0x0660, 0x06F0, 0x0966)  # the noughts of Arabic, Persian and Devanagari


def _pairs(*scripts: str) -> Iterator[tuple[str, str]]:
    for script in scripts:
        words = script.split()
        yield from zip(words[::2], words[1::2], strict=True)


def _run(first: int, words: Iterable[object]) -> Iterator[tuple[str, str]]:
    return ((chr(first + at), str(word)) for at, word in enumerate(words))


LETTERS: Mapping[str, str] = {
    letter: word.replace(_SILENT, "")
    for letter, word in chain(
        _pairs(_LATIN, _GREEK, _CYRILLIC, _ARMENIAN, _GEORGIAN, _HEBREW, _ARABIC, _DEVANAGARI),
        *(_run(first, words.split()) for first, words in _HANGUL),
        *(_run(nought, range(10)) for nought in _DIGITS),
    )
}


def as_words() -> str:
    """The letters and what they become by turns, for scripts of pages."""
    return " ".join(f"{letter} {word or _SILENT}" for letter, word in LETTERS.items())


def romanized(text: str) -> str:
    """A text in small letters without marks, in Latin ones where they are known; the rest as it is."""
    return "".join(map(_romanized, unicodedata.normalize("NFKC", text.lower())))


def _romanized(letter: str) -> str:
    if letter in LETTERS:
        return LETTERS[letter]
    apart = unicodedata.normalize("NFKD", letter)
    return "".join(LETTERS.get(one, one) for one in apart if not unicodedata.combining(one))
