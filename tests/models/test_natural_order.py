"""Names stand in one order in either database: numbers by size, letters without capitals and marks."""

import re
import unicodedata

import pytest

from copilot_admin.models import Copilot
from copilot_admin.models.natural_order import NaturalOrder, natural
from tests.factories import make_copilot

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NAMES = (
    *("2 risks", "10 risks", "apple", "Ärger", "Desk 9", "desk 10", "Desk 10 b", "Zoo", "Éa 007"),
    *("Ёлка", "Жук", "9" * 30, "x 1" + "0" * 25, "市场", "Ｄesk 11", "a\\1b"),
)


def test_databases_and_pages_sort_names_alike() -> None:
    for name in NAMES:
        make_copilot(name=name)
    assert list(Copilot.objects.by_name().values_list("name", flat=True)) == sorted(
        NAMES, key=natural
    )
    keyed = Copilot.objects.annotate(key=NaturalOrder("name"))
    assert dict(keyed.values_list("name", "key")) == {name: natural(name) for name in NAMES}


def test_people_find_names_where_they_look_for_them() -> None:
    found = ["Zoo", "desk 10", "Desk 9", "apple", "Ärger", "Desk 10 b", "Жук", "Ёлка", "Ａ 2"]
    assert sorted(found, key=natural) == [
        *("Ａ 2", "apple", "Ärger", "Desk 9", "desk 10", "Desk 10 b", "Zoo", "Ёлка", "Жук"),
    ]


def test_of_an_endless_number_the_last_digits_count() -> None:
    assert natural("9" * 5000 + "12") == "9" * 18 + "12"
    assert natural("Desk 9") == "desk 00000000000000000009"


@pytest.mark.parametrize(
    "text",
    [
        "e\u0301\u0316\u0301n",
        "\u0130\u1e9b\u0323\u03a3",
        "\ufb01\uac01\u1100\u1161",
        "\u0f73\u00bd2",
    ],
)
def test_letters_are_taken_apart_as_if_they_were_one_text(text: str) -> None:
    apart = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(one for one in apart if not unicodedata.combining(one))
    assert natural(text) == re.sub(r"\d+", lambda found: f"{int(found[0]):020}", plain)
