"""Images as models accept them: decoded, upright, at most 2,048 pixels wide, without metadata."""

from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from PIL import Image, ImageOps

from copilot_admin.agent.documents.document import UnreadableFile

IMAGE_TYPES = frozenset({"png", "jpg", "jpeg", "gif", "webp"})  # `data_type`s of Workspace
FORMATS = ("PNG", "JPEG", "GIF", "WEBP")
MAX_PIXELS = 40_000_000  # 160 MB while it is decoded
MAX_ICON_PIXELS = 4_000_000
MAX_ICON_SIDE = 512  # pixels; Workspace displays a copilot's image at 40 to 128
ICON_FORMATS = ("PNG", "JPEG", "WEBP")
MAX_SIDE = 2048  # pixels; vendors scale down to this or less
MAX_SENT = 4 * 1024 * 1024  # bytes of one image; some vendors refuse 5 MB
_PHOTOGRAPHS = ("JPEG", "MPO")  # MPO: a JPEG of a telephone, followed by more pictures
_DEEP_GREYS = ("I;16", "I;16B", "I")  # Pillow's modes for 16-bit grey; it reads colours as 8 bits
Image.MAX_IMAGE_PIXELS = None  # `_open` checks the size and reports it
_BEGINNINGS = ((b"\x89PNG", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF8", "gif"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image for a model; sizes are those of the original file."""

    name: str
    width: int
    height: int
    url: str = field(repr=False)  # data:image/...;base64,...


def picture_type(data: bytes) -> str:
    """Return the `data_type` of a picture by its content; "" if it is not a picture."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    return next((kind for start, kind in _BEGINNINGS if data.startswith(start)), "")


def read_picture(data: bytes, *, name: str) -> Picture:
    """Read an image in this process; `file_reader.read_file` reads it in a child.

    Its first bytes determine the format. Only the first picture of an animation is read.

    Raises:
        UnreadableFile: It is no image, it is damaged, or it is too large.
    """
    hint = "It is no PNG, JPEG, GIF or WebP image, or it is damaged. Attach it again."
    with _open(data, formats=FORMATS, max_pixels=MAX_PIXELS, hint=hint) as picture:
        width, height = picture.size
        picture.draft(None, (MAX_SIDE, MAX_SIDE))  # of a JPEG only what is needed
        picture.load()
        media_type, sent = _encode(picture)
    url = f"data:{media_type};base64,{b64encode(sent).decode('ascii')}"
    return Picture(name=name, width=width, height=height, url=url)


def harmless_png(data: bytes) -> bytes:
    """Return a small PNG with nothing but the pixels of a picture.

    Raises:
        UnreadableFile: It is not a complete PNG, JPEG or WebP, or it is too large.
    """
    hint = "This file is not a usable image. Choose a PNG, JPEG or WebP file."
    with _open(data, formats=ICON_FORMATS, max_pixels=MAX_ICON_PIXELS, hint=hint) as picture:
        picture.load()
        shown = _to_eight_bits(picture)
        shown.thumbnail((MAX_ICON_SIDE, MAX_ICON_SIDE))
        upright = ImageOps.exif_transpose(shown.convert("RGBA"))
        return _save_pixels(upright, "PNG", optimize=True)


@contextmanager
def _open(
    data: bytes, *, formats: tuple[str, ...], max_pixels: int, hint: str
) -> Iterator[Image.Image]:
    """Open a picture, checking its size before a pixel is decoded."""
    try:
        picture = Image.open(BytesIO(data), formats=formats)
        if picture.width * picture.height > max_pixels:
            raise UnreadableFile(
                f"The image has {picture.width} by {picture.height} pixels. The limit is "
                f"{max_pixels // 10**6} million in all. Scale it down."
            )
        yield picture
    except (ValueError, OSError, SyntaxError, EOFError) as error:
        raise UnreadableFile(hint) from error


def _encode(picture: Image.Image) -> tuple[str, bytes]:
    is_photograph = picture.format in _PHOTOGRAPHS
    # A profile of a printer's colours would be wrong after the conversion.
    profile = None if picture.mode == "CMYK" else picture.info.get("icc_profile")
    shown = _to_eight_bits(picture)
    mode = "RGBA" if shown.has_transparency_data else "RGB"
    shown = shown if shown.mode == mode else shown.convert(mode)
    shown.thumbnail((MAX_SIDE, MAX_SIDE))
    shown = ImageOps.exif_transpose(shown)  # last: copying the full size would double its memory
    if not is_photograph:
        png = _save_pixels(shown, "PNG", icc_profile=profile)
        if len(png) <= MAX_SENT:
            return "image/png", png
    if shown.mode == "RGBA":
        white = Image.new("RGB", shown.size, "white")
        white.paste(shown, mask=shown.getchannel("A"))
        shown = white
    return "image/jpeg", _save_pixels(shown, "JPEG", icc_profile=profile)


def _to_eight_bits(picture: Image.Image) -> Image.Image:
    """Return the picture with 16-bit grey scaled: `convert` would turn 255 and above into white."""
    if picture.mode not in _DEEP_GREYS:
        return picture
    # Mode I is the only one in which `point` accepts a table of all shades.
    grey = picture.convert("I").point([shade >> 8 for shade in range(1 << 16)], "L")
    grey.info.pop("transparency", None)
    return grey


def _save_pixels(picture: Image.Image, form: str, **options: Any) -> bytes:
    clean = Image.new(picture.mode, picture.size)  # without metadata
    clean.paste(picture)
    out = BytesIO()
    clean.save(out, format=form, quality=85, **options)
    return out.getvalue()
