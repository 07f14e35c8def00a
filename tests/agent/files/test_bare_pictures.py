"""Of a picture nothing is sent on but what it is shown by."""

from io import BytesIO
from random import Random
import zlib

from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo
import pytest

from copilot_admin.agent.files.encoded import without_notes
from tests.agent.files.sample_images import image, speckled

SECRET = b"48.137, 11.575 by Ada"
CUTS = 400


def exif():
    """What a telephone notes."""
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


def png_part(kind, body):
    return len(body).to_bytes(4) + kind + body + zlib.crc32(kind + body).to_bytes(4)


def behind_the_start(jpeg, *segments):
    parts = (b"\xff" + kind + (len(body) + 2).to_bytes(2) + body for kind, body in segments)
    return jpeg[:2] + b"".join(parts) + jpeg[2:]


PNG, JPEG = speckled("PNG", (40, 30)), speckled("JPEG", (40, 30), quality=90)
NOTED = {
    "Exif of a JPEG": image("JPEG", exif=exif()),
    "a comment": image("JPEG", comment=SECRET),
    "a small picture within JFIF": behind_the_start(JPEG, (b"\xe0", b"JFXX\x00\x10" + SECRET)),
    "XMP, IPTC and what cameras add": behind_the_start(
        JPEG,
        (b"\xe1", b"http://ns.adobe.com/xap/1.0/\x00" + SECRET),
        (b"\xed", b"Photoshop 3.0\x00" + SECRET),
        (b"\xe2", b"FPXR\x00" + SECRET),
        (b"\xef", SECRET),
    ),
    "what stands behind a JPEG": JPEG + SECRET + JPEG,
    "Exif and texts of a PNG": image("PNG", exif=exif(), pnginfo=texts()),
    "a time and parts of programs": PNG[:33]
    + png_part(b"tIME", SECRET)
    + png_part(b"prVt", SECRET)
    + PNG[33:],
    "what stands behind a PNG": PNG + SECRET,
}


def opened(data):
    picture = Image.open(BytesIO(data))
    picture.load()
    return picture


@pytest.mark.parametrize("data", NOTED.values(), ids=NOTED)
def test_notes_go_and_every_pixel_stays(data):
    bare = without_notes(data)
    assert SECRET not in bare
    picture = opened(bare)
    assert picture.tobytes() == opened(data).tobytes()
    assert dict(picture.getexif()) == {}
    assert "Author" not in picture.info and "Packed" not in picture.info


@pytest.mark.parametrize(
    "data",
    [
        image("PNG", mode="P", transparency=0),
        image("PNG", mode="1"),
        image("JPEG", mode="L"),
        speckled("JPEG", (200, 100), progressive=True),
        speckled("JPEG", (200, 100), restart_marker_blocks=1),
        image(
            "JPEG", icc_profile=ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
        ),
        behind_the_start(JPEG, (b"\xee", b"Adobe\x00\x64\x00\x00\x00\x00\x01")),
    ],
)
def test_what_a_picture_is_shown_by_stays(data):
    assert without_notes(data) == data


def test_a_marker_that_is_filled_up_is_one():
    assert without_notes(JPEG[:2] + b"\xff\xff" + JPEG[2:]) == JPEG


def test_what_is_damaged_is_refused_and_never_goes_on_without_end():
    random = Random(20240105)
    for data in NOTED.values():
        for _ in range(CUTS):
            broken = bytearray(data[: random.randrange(2, len(data))])
            broken[random.randrange(1, len(broken))] = random.randrange(256)
            try:
                assert len(without_notes(bytes(broken))) <= len(broken)
            except ValueError:
                continue
