"""The tree of a conversation's messages, which are never changed once written."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.blobs import Blob
from copilot_admin.models.conversations import Conversation
from copilot_admin.models.stored_row import StoredRow

HASH_LENGTH = 32  # hexadecimal digits of a 128-bit keyed BLAKE2b


class NodeRole(models.TextChoices):
    """Who wrote a message."""

    HUMAN = "human", _("Human")
    AI = "ai", _("Copilot")
    TOOL = "tool", _("Client")


class NodeKind(models.TextChoices):
    """What a message is."""

    TEXT = "text", _("Text")
    CALL = "call", _("Function call")
    RESULT = "result", _("Function result")


class Node(StoredRow):
    """One message of a conversation, under the message it followed."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="nodes", db_index=False
    )
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    depth = models.PositiveIntegerField()
    role = models.CharField(max_length=5, choices=NodeRole.choices)
    kind = models.CharField(max_length=6, choices=NodeKind.choices)
    agent = models.CharField(max_length=200, blank=True)  # who gave the task or the answer
    text = models.TextField(blank=True)
    blob = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    chain_hash = models.CharField(max_length=HASH_LENGTH)
    client_hash = models.CharField(max_length=HASH_LENGTH)
    echo_differs = models.BooleanField(default=False)
    from_history = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["conversation", "depth", "id"]
        indexes = [
            models.Index(fields=["chain_hash"], name="node_chain_hash"),
            models.Index(
                fields=["client_hash", "depth", "id"],
                condition=Q(role=NodeRole.AI),
                name="node_answer_by_client",
            ),
            models.Index(fields=["blob"], condition=Q(blob__isnull=False), name="node_blob"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "chain_hash"], name="node_once")
        ]

    def __str__(self) -> str:
        return f"{self.role} {self.kind} {self.pk}"
