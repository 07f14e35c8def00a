"""Makes uploaded pictures harmless: decoded, freed of metadata, and written anew as PNG."""

import asyncio
import secrets

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.files import file_reader
from copilot_admin.agent.files.pictures import TooManyPixels
from copilot_admin.errors import ConfigurationError

MOST_BYTES = 1024 * 1024


def harmless_png(data: bytes) -> bytes:
    """A PNG of the same picture that holds nothing but its pixels; blocks.

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
    try:
        return asyncio.run(file_reader.harmless_png(data))
    except TooManyPixels as error:
        raise ConfigurationError(
            f"The image has {error.width} by {error.height} pixels; 4 million in all "
            "are the most. Scale it down, 512 by 512 is plenty."
        ) from error
    except UnreadableFile as error:
        if error.public == file_reader.BUSY:
            raise ConfigurationError(error.public) from error
        raise ConfigurationError(
            "This file is no image that can be used. Choose a PNG, JPEG or WebP file."
        ) from error


def random_name() -> str:
    """A file name that tells nothing and cannot be guessed."""
    return f"{secrets.token_hex(16)}.png"
