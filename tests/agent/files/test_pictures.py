"""Images become what every model that sees takes, and broken or huge ones a sentence."""

from base64 import b64decode
from functools import partial
from io import BytesIO

from PIL import Image
import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.files import pictures
from copilot_admin.agent.files.pictures import LARGEST_SIDE, harmless_png, read_picture
from tests.agent.files.hostile_files import declared_pixels
from tests.agent.files.sample_images import RED, deep_ramp, image, speckled, turned


def sent(data):
    """What the model gets: the media type, the bytes, and the picture that they are."""
    head, _, body = read_picture(data, name="a").url.partition(",")
    shown = b64decode(body)
    return head, shown, Image.open(BytesIO(shown))


read_whole = partial(read_picture, name="a")


def told(data, read=read_whole):
    with pytest.raises(UnreadableFile) as refused:
        read(data)
    return refused.value.public


@pytest.mark.parametrize(("kind", "media"), [("PNG", "png"), ("JPEG", "jpeg")])
def test_small_pictures_of_the_usual_kinds_are_sent_as_they_came(kind, media):
    assert sent(image(kind))[:2] == (f"data:image/{media};base64", image(kind))


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (image("GIF"), "png"),
        (image("WEBP", lossless=True), "png"),
        (image("JPEG", mode="CMYK"), "jpeg"),
        (image("PNG", (LARGEST_SIDE + 1, 10)), "png"),
        (image("JPEG", (LARGEST_SIDE + 1, 10)), "jpeg"),
    ],
)
def test_other_pictures_are_written_anew(data, media):
    head, shown, picture = sent(data)
    assert (head, shown != data) == (f"data:image/{media};base64", True)
    found = picture.convert("RGB").getpixel((4, 2))
    assert all(abs(one - wanted) < 12 for one, wanted in zip(found, RED, strict=True))


def is_ramp(picture):
    shown = picture.convert("RGB")
    found = [shown.getpixel((at * (shown.width - 1) // 8, 0)) for at in range(9)]
    return all(abs(shade - at * 255 / 8) < 3 for at, pixel in enumerate(found) for shade in pixel)


@pytest.mark.parametrize("width", [256, LARGEST_SIDE, LARGEST_SIDE + 500])
def test_sixteen_bits_of_grey_stay_the_shades_that_they_are(width):
    data = deep_ramp((width, 20))
    assert Image.open(BytesIO(data)).mode.startswith("I")
    assert is_ramp(sent(data)[2])
    assert is_ramp(Image.open(BytesIO(harmless_png(data))))


@pytest.mark.parametrize("width", [256, LARGEST_SIDE + 500])
def test_of_sixteen_bits_of_grey_only_the_transparent_shade_is_transparent(width):
    data = deep_ramp((width, 20), transparency=0)
    for picture in (sent(data)[2], Image.open(BytesIO(harmless_png(data)))):
        alpha = picture.convert("RGBA").getchannel("A")
        assert alpha.getpixel((0, 0)) < 255
        assert [alpha.getpixel((at, 0)) for at in (9, picture.width // 2)] == [255, 255]
        assert is_ramp(picture)


@pytest.mark.nightly
def test_large_pictures_are_scaled_down_and_told_with_the_size_that_they_had():
    read = read_picture(image("JPEG", (5000, 2500)), name="photo.jpg")
    assert (read.name, read.width, read.height) == ("photo.jpg", 5000, 2500)
    assert sent(image("JPEG", (5000, 2500)))[2].size == (LARGEST_SIDE, LARGEST_SIDE // 2)
    assert sent(image("PNG", (3000, 30)))[2].size == (LARGEST_SIDE, 20)


def test_a_picture_that_stays_large_as_png_becomes_a_photograph_on_white(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_SENT", 10_000)
    head, _, picture = sent(speckled("PNG", (100, 100)))
    assert (head, picture.mode, picture.size) == ("data:image/jpeg;base64", "RGB", (100, 100))
    out = BytesIO()
    Image.new("RGBA", (200, 100), (0, 0, 0, 0)).save(out, format="WEBP")
    monkeypatch.setattr(pictures, "MOST_SENT", 10)
    assert sent(out.getvalue())[2].getpixel((5, 5)) == (255, 255, 255)


def test_a_picture_that_is_sent_with_its_pixels_loses_what_the_camera_noted():
    exif = Image.Exif()
    exif[0x010F] = "Camera"
    for kind in ("PNG", "JPEG"):
        assert sent(image(kind, exif=exif))[1] == image(kind)


def test_a_picture_whose_parts_cannot_be_told_is_written_anew():
    exif = Image.Exif()
    exif[0x010F] = "Camera"
    _, shown, picture = sent(image("PNG", exif=exif)[: -len(b"0000IENDcrcs")])
    assert (b"Camera" in shown, picture.size) == (False, (8, 4))


def test_pictures_are_turned_upright_and_lose_what_the_camera_noted():
    _, _, picture = sent(turned())
    assert (picture.size, dict(picture.getexif())) == ((4, 8), {})


def test_what_it_is_shows_in_its_bytes_and_of_an_animation_the_first_picture_counts():
    out = BytesIO()
    first, second = (Image.new("RGB", (8, 4), colour) for colour in (RED, "blue"))
    first.save(out, format="GIF", save_all=True, append_images=[second])
    head, _, picture = sent(out.getvalue())
    assert head == "data:image/png;base64"
    assert picture.convert("RGB").getpixel((0, 0)) == RED


def test_a_photograph_of_a_telephone_stays_one_without_the_pictures_behind_it():
    out = BytesIO()
    first, second = (Image.new("RGB", (30, 20), colour) for colour in (RED, "blue"))
    first.save(out, format="MPO", save_all=True, append_images=[second])
    assert Image.open(BytesIO(out.getvalue())).format == "MPO"
    head, _, picture = sent(out.getvalue())
    assert (head, picture.format) == ("data:image/jpeg;base64", "JPEG")


def test_a_photograph_that_goes_over_its_pixels_again_and_again_is_refused(monkeypatch):
    data = image("JPEG", progressive=True)
    assert read_picture(data, name="a").width == 8
    monkeypatch.setattr(pictures, "MOST_SCANS", data.count(b"\xff\xda") - 1)
    assert "is no PNG" in told(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"%PDF-1.4 no picture",
        b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
        speckled("PNG", (50, 50))[:-500],
        image("JPEG", (300, 300))[:400],
        image("BMP"),
        image("TIFF"),
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
    ],
)
def test_what_is_no_picture_or_damaged_is_told(data):
    sentence = "It is no PNG, JPEG, GIF or WebP image, or it is damaged. Attach it again."
    assert told(data) == sentence


def test_a_picture_of_too_many_pixels_is_told_before_it_is_decoded(monkeypatch):
    monkeypatch.setattr(pictures, "MOST_PIXELS", 31)
    assert told(image()) == "It has 8 by 4 pixels; 0 million in all are the most. Scale it down."


def test_a_picture_that_says_it_is_huge_is_told_its_size():
    assert told(declared_pixels(60_000, 60_000)) == (
        "It has 60000 by 60000 pixels; 40 million in all are the most. Scale it down."
    )
