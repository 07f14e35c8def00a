"""Makes uploaded pictures harmless: decoded, freed of metadata, and written anew as PNG."""

from io import BytesIO
import secrets

from PIL import Image

from copilot_admin.engine.files.pictures import TooManyPixels, picture_in
from copilot_admin.errors import ConfigurationError

MOST_BYTES = 1024 * 1024
MOST_PIXELS = 4_000_000
LARGEST_SIDE = 512  # pixels; Workspace shows a copilot's image at 40 to 128
FORMATS = ("PNG", "JPEG", "WEBP")


def harmless_png(data: bytes) -> bytes:
    """A PNG of the same picture that holds nothing but its pixels.

    Args:
        data: What somebody uploaded; its name and declared type play no part.

    Raises:
        ConfigurationError: It is too big, or no PNG, JPEG or WebP that can be read to its end.
    """
    if len(data) > MOST_BYTES:
        size = len(data) / MOST_BYTES
        raise ConfigurationError(
            f"The image has {size:.1f} MB; 1 MB is the most. Make it smaller and try again."
        )
    picture = _decoded(data)
    picture.thumbnail((LARGEST_SIDE, LARGEST_SIDE))
    clean = Image.new("RGBA", picture.size)
    clean.paste(picture.convert("RGBA"))
    out = BytesIO()
    clean.save(out, format="PNG", optimize=True)
    return out.getvalue()


def random_name() -> str:
    """A file name that tells nothing and cannot be guessed."""
    return f"{secrets.token_hex(16)}.png"


def _decoded(data: bytes) -> Image.Image:
    try:
        with picture_in(data, formats=FORMATS, most_pixels=MOST_PIXELS) as picture:
            picture.load()
    except TooManyPixels as error:
        raise ConfigurationError(
            f"The image has {error.width} by {error.height} pixels; 4 million in all "
            "are the most. Scale it down, 512 by 512 is plenty."
        ) from error
    except ValueError as error:
        raise ConfigurationError(
            "This file is no image that can be used. Choose a PNG, JPEG or WebP file."
        ) from error
    return picture
