"""Several copilot files at once: what is read, what is refused, and that all or nothing is done."""

import io
import json
from threading import Thread
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from django.db import connection
import pytest

from copilot_admin.import_export import bundles, importing
from copilot_admin.import_export.bundles import NamedFile, import_files, read_files
from copilot_admin.import_export.changes import Effect
from copilot_admin.import_export.faults import MAX_FAULTS, BadCopilotFile
from copilot_admin.import_export.import_rights import ImportWish
from copilot_admin.import_export.loading import MOST_BYTES, as_json
from copilot_admin.models import Copilot, Provider
from tests.factories import make_provider


def file_of(*slugs: str, name: str = "a.json", **more: Any) -> NamedFile:
    copilots = [
        {"slug": slug, "name": slug.upper(), "provider": "P", "model": "m", **more}
        for slug in slugs
    ]
    return NamedFile(name, as_json({"format": 1, "copilots": copilots}).encode())


def zipped(*files: NamedFile, name: str = "all.zip") -> NamedFile:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.writestr(file.name, file.data)
    return NamedFile(name, buffer.getvalue())


def faults_of(*sent: NamedFile) -> list[str]:
    with pytest.raises(BadCopilotFile) as caught:
        read_files(sent)
    return [str(fault) for fault in caught.value.faults]


def imported(*sent: NamedFile, dry_run: bool = False, **changes: Any) -> Any:
    return import_files(
        read_files(sent), ImportWish(**{"default_access": "key", **changes}), dry_run=dry_run
    )


@pytest.mark.parametrize("packing", [ZIP_STORED, ZIP_DEFLATED])
def test_a_zip_file_with_a_wrong_byte_is_read_or_refused(packing: int) -> None:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", packing) as archive:
        archive.writestr("é.yaml", b"format: 1\n" * 9)
    whole, refused = buffer.getvalue(), set()
    for place in range(4, len(whole) - 1):
        sent = NamedFile("a.zip", whole[:place] + b"\xff" + whole[place + 1 :])
        try:
            read_files([sent])
        except BadCopilotFile as error:
            refused.add(str(next(iter(error.faults))))
    assert "a.zip: This ZIP file is damaged or packed in a way that cannot be read." in refused


def test_files_and_those_in_zip_files_are_read_by_their_names() -> None:
    rubbish = [NamedFile("__MACOSX/._b.yaml", b"x"), NamedFile(".DS_Store", b"x")]
    found = read_files([file_of("a"), zipped(file_of("b", name="desk/b.yml"), *rubbish)])
    assert [file.name for file in found] == ["a.json", "all.zip: desk/b.yml"]


def test_every_fault_is_told_with_its_file() -> None:
    wrong = NamedFile("wrong.yaml", b"format: 1\ncopilots:\n  - slug: x\n    api_key: abc\n")
    newer = NamedFile("newer.yaml", b"format: 2\n")
    assert faults_of(wrong, file_of("a"), newer) == [
        "wrong.yaml: copilots[0].name: is missing.",
        "wrong.yaml: copilots[0].provider: is missing.",
        "wrong.yaml: copilots[0].model: is missing.",
        "wrong.yaml: copilots[0].api_key: a file never holds a secret. Name a variable with "
        "api_key_env.",
        "newer.yaml: format: the file is of format 2, which a newer release wrote; this one reads "
        "format 1. Upgrade this server, or export the copilots from one as old as it.",
    ]


@pytest.mark.parametrize(
    ("file", "sentence"),
    [
        (NamedFile("a.yaml", "format: 1".encode("utf-16")), "a.yaml: The file is not UTF-8"),
        (NamedFile("a.yaml", b"format: 0\n"), "a.yaml: format: 0 is not possible. Write format: 1"),
        (NamedFile("a.yaml", b"x" * (MOST_BYTES + 1)), "a.yaml: The file is too big: 10 MB"),
        (NamedFile("a.yaml", b"p: " + b"x" * 5_000_000), "a.yaml: YAML may have 5000000 char"),
        (NamedFile("a.zip", b"PK\x03\x04 and nothing"), "a.zip: This ZIP file is damaged"),
        (zipped(NamedFile("run.exe", b"x")), "all.zip: run.exe: is no copilot file"),
        (zipped(), "There is no copilot file in what you sent."),
        (
            NamedFile("a.png", b"\x89PNG\r\n\x1a\n\0\0"),
            "a.png: is no copilot file: their names end in .yaml, .yml or .json.",
        ),
        (
            NamedFile("a.pdf", b"%PDF-1.4\n%\xe2\xe3\n"),
            "a.pdf: is no copilot file: their names end in .yaml, .yml or .json.",
        ),
        (
            NamedFile("a.txt", b"hello"),
            "a.txt: this is no copilot file. One begins with 'format: 1'",
        ),
        (
            zipped(NamedFile("x.yaml", b" " * 11_000_000)),
            "all.zip: x.yaml: The file is too big: 10 MB",
        ),
    ],
)
def test_what_cannot_be_read_is_said(file: NamedFile, sentence: str) -> None:
    [told] = faults_of(file)
    assert told.startswith(sentence)


def test_a_zip_file_with_a_password_is_refused() -> None:
    packed = bytearray(zipped(file_of("a")).data)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(signature) + offset] |= 1
    assert faults_of(NamedFile("a.zip", bytes(packed))) == [
        "a.zip: a.json: has a password. Pack it without one."
    ]


def test_no_more_yaml_is_read_than_is_read_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "MAX_CHARACTERS", 2048)
    long = "#" + "x" * 1500
    [told] = faults_of(NamedFile("a.yaml", long.encode()), NamedFile("b.yml", long.encode()))
    assert told.startswith("This is 2 kB of YAML, which takes long to read; 2 kB are the most")


@pytest.mark.parametrize(("name", "most"), [("MOST_FILES", 1), ("MOST_IN_ALL", 200)])
def test_no_more_is_unpacked_than_is_promised(
    monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(bundles, name, most)
    [told] = faults_of(zipped(file_of("a"), file_of("b", name="b.json")))
    assert told.startswith("That is too much at once:")


def test_a_copilot_in_two_files_is_refused() -> None:
    assert faults_of(file_of("a"), file_of("b", "a", name="b.json")) == [
        "a.json: the copilot 'a' is in more than one file.",
        "b.json: the copilot 'a' is in more than one file.",
    ]


@pytest.mark.django_db
def test_files_are_carried_out_together_or_not_at_all() -> None:
    make_provider(name="P")
    [change] = imported(file_of("a"), dry_run=True)
    assert (change.file, change.change.name, change.change.effect) == (
        "a.json",
        "copilot a",
        Effect.CREATED,
    )
    bad = file_of("b", name="b.json", image="data:image/png;base64,AAAA")
    with pytest.raises(BadCopilotFile, match=r"^b.json: copilots\[0\].image: "):
        imported(file_of("a"), bad)
    assert not Copilot.objects.exists()
    imported(file_of("a"), file_of("c", name="c.json"))
    assert list(Copilot.objects.values_list("slug", flat=True).order_by("slug")) == ["a", "c"]


@pytest.mark.django_db
def test_what_is_here_is_asked_for_once_however_many_files_there_are(
    django_assert_max_num_queries: Any,
) -> None:
    make_provider(name="P")
    files = [file_of(f"c{number}", name=f"{number}.json") for number in range(10)]
    imported(*files)
    with django_assert_max_num_queries(28):  # two for the savepoint of each file
        imported(*files, dry_run=True)


@pytest.mark.django_db
def test_who_may_not_change_providers_takes_those_that_are_here() -> None:
    here = {"name": "P", "kind": "demo", "api_key_env": "COPILOT_KEY_A"}
    make_provider(**here)

    def send(provider: dict[str, str]) -> None:
        text = as_json({"format": 1, "providers": [provider]})
        imported(NamedFile("a.json", text.encode()), may_change_providers=False)

    send(here)
    for other in ({**here, "api_key_env": "COPILOT_KEY_B"}, {**here, "name": "Q"}):
        with pytest.raises(BadCopilotFile, match=r"^a.json: providers\[0\]: "):
            send(other)
    assert Provider.objects.get().api_key_env == "COPILOT_KEY_A"


@pytest.mark.django_db
def test_who_makes_the_same_copilot_meanwhile_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = make_provider(name="P")
    fill = importing._fill

    def late(row: Copilot, *rest: Any) -> None:
        Copilot.objects.create(slug="a", name="Other", model="m", provider=provider)
        fill(row, *rest)

    monkeypatch.setattr(importing, "_fill", late)
    with pytest.raises(BadCopilotFile, match=r"^a\.json: copilots: "):
        imported(file_of("a"))
    assert not Copilot.objects.exists()


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_imports_of_the_same_slug_at_once_leave_one_whole_copilot() -> None:
    make_provider(name="P")
    told: list[str] = []

    def run(description: str) -> None:
        try:
            [one] = imported(file_of("a", description=description))
            told.append(one.change.effect)
        except BadCopilotFile as error:
            told.append(str(error))
        finally:
            connection.close()

    threads = [Thread(target=run, args=(text,)) for text in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Copilot.objects.get().description in ("first", "second")
    once_more = (
        "a.json: copilots: Someone else created one of them at the same moment. Import again."
    )
    assert sorted(told) in (sorted(["created", "changed"]), sorted(["created", once_more]))


def test_of_very_many_faults_the_first_are_told():
    wrong = dict.fromkeys("abcdefgh", 1)  # keys that there are not
    values = {"format": 1, "copilots": [wrong] * (bundles.MOST_COPILOTS // 2)}
    sent = NamedFile("many.json", json.dumps(values).encode())
    *told, last = faults_of(sent, sent)
    assert len(told) == MAX_FAULTS
    assert last == "There are more errors. Fix these first."


def test_what_has_more_parts_than_anybody_writes_is_refused_before_they_are_looked_at():
    keys = {"parameters": dict.fromkeys(map(str, range(1001)), 1)}
    many = NamedFile("many.json", json.dumps({"copilots": [keys, 5]}).encode())
    assert faults_of(many) == [
        "many.json: copilots[0].parameters: has 1001 keys; 1000 are the most."
    ]
    long = NamedFile("long.json", json.dumps({"format": 1, "copilots": [5] * 10_001}).encode())
    assert faults_of(long) == ["long.json: copilots: has 10001 entries; 10000 are the most."]


def test_no_more_copilots_are_read_than_are_imported_in_a_moment(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundles, "MOST_COPILOTS", 3)
    some, more = file_of("a", "b"), file_of("c", name="c.json")
    assert [file.name for file in read_files([some, more])] == ["a.json", "c.json"]
    assert faults_of(some, more, file_of("d", name="d.json")) == [
        "There are more than 3 copilots in what you sent. Send some of them, then the others, or "
        "use `manage.py copilots import`."
    ]
    five = NamedFile("odd.json", json.dumps({"format": 1, "copilots": 5}).encode())
    assert faults_of(five) == ["odd.json: copilots: must be a list."]
