"""The digest of a question, by which the same one is known however it comes here again."""

from collections.abc import Mapping
import hashlib
import json
from typing import Any


def digest_of_question(question: str, body: Mapping[str, Any]) -> str:
    """A digest of the words and of all that they bring, but not of what is expected."""
    whole = json.dumps([question, body], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()
