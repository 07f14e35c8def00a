"""Pictures that a model makes, as artifacts."""

import re
from uuid import UUID

from protocol.events import ArtifactType, MessageArtifact

NO_PICTURE = "\n\n(The model made a picture that can't be shown here.)\n\n"
# Of an event, which clients and servers read up to a megabyte.
_MAX_CHARACTERS = 900_000
_PICTURE = re.compile(r"data:image/(?:png|jpe?g|gif|webp);base64,[A-Za-z0-9+/]+={0,2}")


def picture_artifact(url: str, *, id: UUID) -> MessageArtifact | None:
    """Return a picture as HTML; None where it is elsewhere, too large, or not known to be harmless."""
    if len(url) > _MAX_CHARACTERS or not _PICTURE.fullmatch(url):
        return None
    return MessageArtifact(
        type=ArtifactType.HTML,
        uuid=str(id),
        artifact_name="Picture",
        description="A picture that the model made.",
        content=f'<img src="{url}" alt="Picture">',
    )
