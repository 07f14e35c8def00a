"""Images become what every model that sees takes, and broken or huge ones a sentence."""

from base64 import b64decode
from functools import partial
from io import BytesIO

from PIL import Image, ImageChops, ImageCms
from PIL.PngImagePlugin import PngInfo
import pytest

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.files import pictures
from copilot_admin.agent.files.pictures import MAX_SIDE, harmless_png, read_picture
from tests.agent.files.sample_files import RED, deep_ramp, image, speckled, turned


def sent(data):
    """Return the media type, bytes and picture that the model gets."""
    head, _, body = read_picture(data, name="a").url.partition(",")
    shown = b64decode(body)
    return head, shown, Image.open(BytesIO(shown))


read_whole = partial(read_picture, name="a")


def told(data, read=read_whole):
    with pytest.raises(UnreadableFile) as refused:
        read(data)
    return refused.value.public


@pytest.mark.parametrize(
    ("data", "media"),
    [
        (image("PNG"), "png"),
        (image("JPEG"), "jpeg"),
        (image("GIF"), "png"),
        (image("WEBP", lossless=True), "png"),
        (image("JPEG", mode="CMYK"), "jpeg"),
        (image("PNG", (MAX_SIDE + 1, 10)), "png"),
        (image("JPEG", (MAX_SIDE + 1, 10)), "jpeg"),
    ],
)
def test_pictures_are_sent_as_png_or_jpeg(data, media):
    head, _, picture = sent(data)
    assert head == f"data:image/{media};base64"
    assert max(picture.size) <= MAX_SIDE
    found = picture.convert("RGB").getpixel((4, 2))
    assert all(abs(one - wanted) < 12 for one, wanted in zip(found, RED, strict=True))


def is_ramp(picture):
    shown = picture.convert("RGB")
    found = [shown.getpixel((at * (shown.width - 1) // 8, 0)) for at in range(9)]
    return all(abs(shade - at * 255 / 8) < 3 for at, pixel in enumerate(found) for shade in pixel)


@pytest.mark.parametrize("width", [256, MAX_SIDE + 500])
def test_sixteen_bits_of_grey_stay_the_shades_that_they_are(width):
    data = deep_ramp((width, 20))
    assert Image.open(BytesIO(data)).mode.startswith("I")
    assert is_ramp(sent(data)[2])
    assert is_ramp(Image.open(BytesIO(harmless_png(data))))


def test_a_picture_that_stays_large_as_png_becomes_a_photograph_on_white(monkeypatch):
    monkeypatch.setattr(pictures, "MAX_SENT", 10_000)
    head, _, picture = sent(speckled("PNG", (100, 100)))
    assert (head, picture.mode, picture.size) == ("data:image/jpeg;base64", "RGB", (100, 100))
    out = BytesIO()
    Image.new("RGBA", (200, 100), (0, 0, 0, 0)).save(out, format="WEBP")
    monkeypatch.setattr(pictures, "MAX_SENT", 10)
    assert sent(out.getvalue())[2].getpixel((5, 5)) == (255, 255, 255)


SECRET = b"48.137, 11.575 by Ada"


def exif():
    """Return metadata as of a telephone."""
    noted = Image.Exif()
    noted[0x010E] = SECRET.decode()  # ImageDescription
    noted.get_ifd(0x8825)[1] = SECRET.decode()  # GPSLatitudeRef
    return noted


def texts():
    info = PngInfo()
    info.add_text("Author", SECRET.decode())
    info.add_text("Packed", SECRET.decode() * 50, zip=True)
    info.add_itxt("XML:com.adobe.xmp", SECRET.decode())
    return info


JPEG = speckled("JPEG", (40, 30), quality=90)
NOTED = {
    "Exif of a JPEG": image("JPEG", exif=exif()),
    "a comment": image("JPEG", comment=SECRET),
    "what stands behind a JPEG": JPEG + SECRET + JPEG,
    "Exif and texts of a PNG": image("PNG", exif=exif(), pnginfo=texts()),
    "what stands behind a PNG": image("PNG") + SECRET,
}


@pytest.mark.parametrize("data", NOTED.values(), ids=NOTED)
def test_metadata_is_removed_and_pixels_stay(data):
    _, shown, picture = sent(data)
    assert SECRET not in shown
    assert dict(picture.getexif()) == {}
    assert not {"Author", "Packed", "comment"} & set(picture.info)
    given, kept = Image.open(BytesIO(data)).convert("L"), picture.convert("L")
    assert max(ImageChops.difference(given, kept).getextrema()) <= 32  # JPEG is encoded again


def test_colours_stay_as_they_are_meant_and_pictures_are_turned_upright():
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert sent(image("JPEG", icc_profile=profile))[2].info["icc_profile"] == profile
    assert sent(image("PNG", mode="P", transparency=0))[2].mode == "RGBA"
    _, _, picture = sent(turned())
    assert (picture.size, dict(picture.getexif())) == ((4, 8), {})


def test_of_an_animation_the_first_picture_counts():
    out = BytesIO()
    first, second = (Image.new("RGB", (8, 4), colour) for colour in (RED, "blue"))
    first.save(out, format="GIF", save_all=True, append_images=[second])
    assert sent(out.getvalue())[2].convert("RGB").getpixel((0, 0)) == RED


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
    monkeypatch.setattr(pictures, "MAX_PIXELS", 31)
    assert (
        told(image())
        == "The image has 8 by 4 pixels. The limit is 0 million in all. Scale it down."
    )
