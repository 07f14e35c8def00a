"""Several copilot files at once: what is read, what is rejected, all or nothing."""

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from copilot_admin.import_export import uploads
from copilot_admin.import_export.changes import Effect, ImportedChange
from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.formats import MAX_BYTES, as_json
from copilot_admin.import_export.importing import ImportOptions, import_files
from copilot_admin.import_export.uploads import UploadedFile, read_files
from copilot_admin.models import Copilot, Provider
from tests.factories import make_provider, make_user


def file_of(*slugs: str, name: str = "a.json", **more: Any) -> UploadedFile:
    copilots = [
        {"slug": slug, "name": slug.upper(), "provider": "P", "model": "m", **more}
        for slug in slugs
    ]
    return UploadedFile(name, as_json({"format": 1, "copilots": copilots}).encode())


def zipped(*files: UploadedFile, packing: int = ZIP_DEFLATED) -> UploadedFile:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", packing) as archive:
        for file in files:
            archive.writestr(file.name, file.data)
    return UploadedFile("all.zip", buffer.getvalue())


def errors_of(*sent: UploadedFile) -> list[str]:
    with pytest.raises(BadCopilotFile) as caught:
        read_files(sent)
    return [error.path for error in caught.value.errors]


def imported(
    *sent: UploadedFile, dry_run: bool = False, **changes: Any
) -> tuple[ImportedChange, ...]:
    files = [(one.name, one.file) for one in read_files(sent)]
    options = ImportOptions(**{"default_access": "key", **changes})
    return import_files(files, options, dry_run=dry_run)


def test_files_in_zip_files_are_read_by_their_names() -> None:
    rubbish = [UploadedFile("__MACOSX/._b.yaml", b"x"), UploadedFile(".DS_Store", b"x")]
    found = read_files([file_of("a"), zipped(file_of("b", name="desk/b.yml"), *rubbish)])
    assert [file.name for file in found] == ["a.json", "all.zip: desk/b.yml"]


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (UploadedFile("a.yaml", "format: 1".encode("utf-16")), "a.yaml"),
        (UploadedFile("a.yaml", b"x" * (MAX_BYTES + 1)), "a.yaml"),
        (UploadedFile("a.yaml", b"p: " + b"x" * 5_000_000), "a.yaml"),
        (UploadedFile("a.zip", b"PK\x03\x04 and nothing"), "a.zip"),
        (zipped(UploadedFile("run.exe", b"x")), "all.zip: run.exe"),
        (zipped(), ""),
        (UploadedFile("a.png", b"\x89PNG\r\n\x1a\n\0\0"), "a.png"),
        (zipped(UploadedFile("x.yaml", b" " * 11_000_000)), "all.zip: x.yaml"),
        (zipped(UploadedFile("x.yaml", b" " * (2 * MAX_BYTES + 1))), ""),
    ],
)
def test_an_unreadable_file_is_rejected(file: UploadedFile, path: str) -> None:
    assert errors_of(file) == [path]


def test_a_zip_file_with_a_password_is_rejected() -> None:
    packed = bytearray(zipped(file_of("a")).data)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        packed[packed.index(signature) + offset] |= 1
    assert errors_of(UploadedFile("a.zip", bytes(packed))) == ["a.zip"]


def test_the_number_of_files_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_FILES", 1)
    assert errors_of(zipped(file_of("a"), file_of("b", name="b.json"))) == [""]


def test_a_copilot_in_two_files_is_rejected() -> None:
    assert errors_of(file_of("a"), file_of("b", "a", name="b.json")) == ["a.json", "b.json"]


@pytest.mark.django_db
def test_files_are_imported_together_or_not_at_all() -> None:
    make_provider(name="P")
    [change] = imported(file_of("a"), dry_run=True)
    assert (change.file, change.name, change.effect) == ("a.json", "copilot a", Effect.CREATED)
    bad = file_of("b", name="b.json", image="data:image/png;base64,AAAA")
    with pytest.raises(BadCopilotFile) as caught:
        imported(file_of("a"), bad)
    assert [one.path for one in caught.value.errors] == ["b.json: copilots[0].image"]
    assert not Copilot.objects.exists()
    imported(file_of("a"), file_of("c", name="c.json"))
    assert list(Copilot.objects.values_list("slug", flat=True).order_by("slug")) == ["a", "c"]


@pytest.mark.django_db
def test_stored_rows_are_read_once_for_all_files(django_assert_max_num_queries: Any) -> None:
    make_provider(name="P")
    files = [file_of(f"c{number}", name=f"{number}.json") for number in range(10)]
    imported(*files)
    with django_assert_max_num_queries(28):  # two for the savepoint of each file
        imported(*files, dry_run=True)


@pytest.mark.django_db
def test_without_the_right_providers_must_equal_those_that_are_stored() -> None:
    here = {"name": "P", "kind": "demo", "api_key_env": "COPILOT_KEY_A"}
    make_provider(**here)
    user = make_user()

    def send(provider: dict[str, str]) -> None:
        text = as_json({"format": 1, "providers": [provider]})
        imported(UploadedFile("a.json", text.encode()), user=user)

    send(here)
    for other in ({**here, "api_key_env": "COPILOT_KEY_B"}, {**here, "name": "Q"}):
        with pytest.raises(BadCopilotFile, match=r"^a.json: providers\[0\]: "):
            send(other)
    assert Provider.objects.get().api_key_env == "COPILOT_KEY_A"
