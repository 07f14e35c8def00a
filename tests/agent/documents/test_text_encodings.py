"""Text in the encodings in which people save it; what is guessed is said, and bytes are no text."""

from random import Random

import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.text_encodings import (
    DAMAGED,
    GUESSED,
    UNKNOWN,
    decode_text,
    is_probably_text,
)

TEXTS = {
    "German": "Der Käse kostet fünf Euro. Die Größe der Bäume überrascht.\n",
    "French": "L'été dernier, les élèves ont mangé des crêpes à la crème brûlée.\n",
    "Spanish": "¿Qué pasó? El señor Muñoz compró más acciones.\n",
    "Swedish": "Räntorna steg i juni. Åsa köpte fler aktier på börsen.\n",
    "Polish": "Stopy wzrosły w czerwcu. Źródło: bank, żółć i gęś.\n",
    "Czech": "Sazby v červnu vzrostly. Příliš žluťoučký kůň úpěl ďábelské ódy.\n",
    "Turkish": "Merkez Bankası faizi yükseltti. Şirketlerin borçları çoğaldı, ışık.\n",  # its letters
    "Russian": "Ставки выросли в июне. Рынок ждёт решения банка.\n",
    "Greek": "Τα επιτόκια αυξήθηκαν τον Ιούνιο.\n",  # its letters
    "Arabic": "ارتفعت الأسعار في يونيو. السوق ينتظر قرار البنك.\n",
    "Chinese": "利率在六月上升。市场等待央行的决定。\n",
    "Japanese": "金利は六月に上昇した。市場は中央銀行の決定を待っている。\n",
    "Korean": "금리가 6월에 올랐다. 시장은 결정을 기다린다.\n",
}
SAVED_AS = [
    *((one, "cp1252") for one in ("German", "French", "Spanish", "Swedish")),
    *((one, "cp1250") for one in ("Polish", "Czech")),
    *(("Russian", one) for one in ("cp1251", "koi8_r", "cp866")),
    *(("Turkish", "cp1254"), ("Greek", "cp1253"), ("Arabic", "cp1256")),
    *(("Chinese", "gb18030"), ("Japanese", "cp932"), ("Korean", "cp949")),
]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_unicode_is_read(encoding, text):
    assert decode_text(text.encode(encoding)) == (text, "")
    assert is_probably_text(text.encode(encoding))


@pytest.mark.parametrize(("language", "encoding"), SAVED_AS)
def test_older_encodings_are_guessed(language, encoding):
    data = TEXTS[language].encode(encoding) * 5
    text, note = decode_text(data)
    assert text == TEXTS[language] * 5
    assert language in ("German", "French", "Spanish") or note.startswith("[read as ")
    assert is_probably_text(data)


@pytest.mark.parametrize("text", ["Käse", "für", "Umsatz: 5 €\n", "“x”"])
def test_a_few_letters_are_those_of_windows(text):
    assert decode_text(text.encode("cp1252")) == (text, "")
    _, note = decode_text("São Paulo\n".encode("cp1252"))
    assert note == GUESSED.format(encoding="cp1252")


@pytest.mark.parametrize("language", ["German", "Chinese"])
def test_of_utf8_that_was_cut_or_patched_single_letters_are_damaged(language):
    text = TEXTS[language] * 10
    found, note = decode_text(text.encode()[:-2] + b"\xe4")
    assert note == DAMAGED.format(count=found.count("\ufffd"))
    assert found[: len(text) - 2] == text[:-2]


def test_a_long_text_is_known_by_the_lines_that_are_not_plain():
    rows = "day,price,name\n" + "Mon,1,plain\n" * 8_000
    text = rows + "Tue,2,Größe der Bäume in Köln\n" * 20 + rows
    assert decode_text(text.encode("cp1252"))[0] == text
    one_line = "x " * 50_000 + "Größe der Bäume in Köln " * 5
    assert decode_text(one_line.encode("cp1252"))[0] == one_line
    many = TEXTS["Russian"] * 2_000
    assert decode_text(many.encode("koi8_r"))[0] == many


@pytest.mark.parametrize("size", [60, 1_000, 100_000])
@pytest.mark.parametrize("seed", range(5))
def test_bytes_by_chance_are_no_text(size, seed):
    data = Random(seed).randbytes(size)
    with pytest.raises((UnreadableFile, ValueError)):
        decode_text(data)
    assert not is_probably_text(data)


def test_text_with_zeros_in_it_is_no_text():
    for data in (b"a\0b", b"plain text of some length, and then a zero\0.", b"\0" * 40):
        with pytest.raises(ValueError, match="binary"):
            decode_text(data)


def test_what_fits_no_encoding_is_told():
    with pytest.raises(UnreadableFile) as told:
        decode_text(b"\xff\x01\xfe\x02" * 20)
    assert told.value.public == UNKNOWN
