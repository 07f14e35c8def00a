"""Big and repeated things, each stored once."""

from django.db import models

from copilot_admin.models.stored_row import StoredRow


class Blob(StoredRow):
    """A big or repeated thing, stored once under the SHA-256 of its plain bytes."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # zlib
    size = models.PositiveBigIntegerField()  # bytes before compression
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256[:12]


class BlobPart(StoredRow):
    """That a blob refers to another one: what is referred to may not be swept."""

    whole = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="+", db_index=False)
    part = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [models.Index(fields=["part"], name="blob_part_of")]
        constraints = [models.UniqueConstraint(fields=["whole", "part"], name="blob_part_once")]

    def __str__(self) -> str:
        return f"{self.whole_id[:12]} > {self.part_id[:12]}"
