"""Makes uploaded pictures harmless: decoded, freed of metadata, and written anew as PNG."""

from io import BytesIO
import secrets
import warnings

from PIL import Image, UnidentifiedImageError

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
    unusable = ConfigurationError(
        "This file is no image that can be used. Choose a PNG, JPEG or WebP file."
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            picture = Image.open(BytesIO(data), formats=FORMATS)
            pixels = picture.width * picture.height
            if pixels > MOST_PIXELS:  # asked before decoding: a bomb is small until then
                raise ConfigurationError(
                    f"The image has {picture.width} by {picture.height} pixels; 4 million in all "
                    "are the most. Scale it down, 512 by 512 is plenty."
                )
            picture.load()
    except (
        UnidentifiedImageError,
        OSError,
        ValueError,
        SyntaxError,  # what Pillow raises for a broken PNG chunk
        EOFError,
        Image.DecompressionBombWarning,
        Image.DecompressionBombError,
    ) as error:
        raise unusable from error
    return picture
