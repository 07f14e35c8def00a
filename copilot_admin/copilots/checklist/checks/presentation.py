"""How a copilot presents itself in Workspace: image, description and starter questions."""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

from copilot_admin.agent.fetching.addresses import address_of, is_public
from copilot_admin.copilots.checklist.check import Check
from copilot_admin.copilots.checklist.finding import Finding, warning
from copilot_admin.copilots.checklist.subject import DraftContent, DraftFacts

# A card shows some lines. Descriptions in Workspace's own examples have less than 120 characters.
_LONGEST_DESCRIPTION = 250
_LONGEST_STARTER = 120
_SHOWN = 40
_PRIVATE_ENDINGS = ("localhost", "local", "internal", "lan", "home.arpa", "intranet", "corp")


@Check
def image_out_of_reach(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """An image that this server does not have, so that each browser has to load it."""
    image = content.image
    if not image or facts.has_image:
        return
    if "://" not in image:
        yield warning("image", _("The uploaded image is missing. Upload it again."))
    elif _is_private(image):
        sentence = _(
            "The image has a private URL, which users outside its network can't load. Upload the "
            "image."
        )
        yield warning("image", sentence)
    else:
        sentence = _(
            "This server has no copy of the image, so Workspace loads it from its URL. Save the "
            "draft again, or upload the image."
        )
        yield warning("image", sentence)


@Check
def description_missing(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Nothing that says what it is for."""
    if not content.spec.description.strip():
        sentence = _("The description is empty. Add one so that users see what the copilot does.")
        yield warning("description", sentence)


@Check
def description_too_long(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """More than a card shows."""
    length = len(content.spec.description.strip())
    if length > _LONGEST_DESCRIPTION:
        sentence = _("The description has %(length)d characters. Workspace shows about %(most)d.")
        yield warning("description", sentence % {"length": length, "most": _LONGEST_DESCRIPTION})


@Check
def starters_twice(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """The same question again, whatever its letters and blanks."""
    counts = Counter(" ".join(text.lower().split()) for text in content.starters)
    first = {" ".join(text.lower().split()): text for text in reversed(content.starters)}
    for same, count in counts.items():
        if count > 1:
            sentence = _("The starter question “%(text)s” occurs more than once.")
            yield warning("starters", sentence % {"text": _shortened(first[same])})


@Check
def starters_too_long(content: DraftContent, facts: DraftFacts) -> Iterator[Finding]:
    """Questions that no card shows whole."""
    for text in dict.fromkeys(content.starters):
        if len(text) > _LONGEST_STARTER:
            sentence = _(
                "The starter question “%(text)s” has %(length)d characters. Workspace shows "
                "about %(most)d."
            )
            words = {"text": _shortened(text), "length": len(text), "most": _LONGEST_STARTER}
            yield warning("starters", sentence % words)


def _is_private(image: str) -> bool:
    try:
        host = (urlsplit(image).hostname or "").rstrip(".")
    except ValueError:
        return False
    if address_of(host) is not None:
        return not is_public(host)
    return "." not in host or host.endswith(tuple(f".{ending}" for ending in _PRIVATE_ENDINGS))


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
