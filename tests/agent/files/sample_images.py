"""Small images of every kind."""

from io import BytesIO
from typing import Any

from PIL import Image

RED = (200, 30, 40)


def image(
    kind: str = "PNG", size: tuple[int, int] = (8, 4), *, mode: str = "RGB", **options: Any
) -> bytes:
    """A red picture; `options` are those of Pillow."""
    out = BytesIO()
    Image.new("RGB", size, RED).convert(mode).save(out, format=kind, **options)
    return out.getvalue()


def speckled(kind: str, size: tuple[int, int], **options: Any) -> bytes:
    """A picture that no format makes small."""
    out = BytesIO()
    Image.effect_noise(size, 200).convert("RGBA" if kind == "PNG" else "RGB").save(
        out, format=kind, **options
    )
    return out.getvalue()


def turned(kind: str = "JPEG", size: tuple[int, int] = (8, 4)) -> bytes:
    """A picture of a camera that was held upright."""
    exif = Image.Exif()
    exif[0x0112] = 6
    return image(kind, size, exif=exif)


def deep_ramp(size: tuple[int, int] = (256, 4), **options: Any) -> bytes:
    """A PNG of 16 bits of grey, black at its left and white at its right."""
    out, (width, height) = BytesIO(), size
    shades = [round(at * 65_535 / (width - 1)) for at in range(width)]
    row = b"".join(shade.to_bytes(2, "little") for shade in shades)
    Image.frombytes("I;16", size, row * height).save(out, format="PNG", **options)
    return out.getvalue()
