"""Join blobs that were stored in parts, give the large fields of requests blobs of their own, drop `BlobPart`."""

from collections.abc import Iterable
from functools import lru_cache, partial
from hashlib import sha256
import json
from typing import Any
import zlib

from django.db import migrations, models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

BATCH = 100
MIN_BLOB_BYTES = 2048
SEPARATE_FIELDS = ("widgets", "context", "tools")


def store_whole(apps: Any, schema_editor: Any) -> None:
    """Replace each referenced blob by the whole value, and delete the others."""
    get = partial(apps.get_model, "copilot_admin")
    blobs, nodes, events, runs = (get(name).objects for name in ("Blob", "Node", "Event", "Run"))
    started = timezone.now()

    @lru_cache(maxsize=1000)
    def read(sha: str) -> Any:
        return json.loads(zlib.decompress(blobs.get(pk=sha).data))

    def store(value: Any) -> str:
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
        sha = sha256(data).hexdigest()
        row = {"data": zlib.compress(data, 3), "size": len(data), "created_at": timezone.now()}
        blobs.get_or_create(pk=sha, defaults=row)
        return sha

    here = OuterRef("pk")
    referenced = blobs.filter(created_at__lt=started).annotate(
        is_content=Exists(nodes.filter(blob=here)) | Exists(events.filter(blob=here)),
        is_request=Exists(runs.filter(env=here)),
    )
    rows = referenced.filter(Q(is_content=True) | Q(is_request=True))
    for sha, is_content, is_request in _by_key(rows.values_list("pk", "is_content", "is_request")):
        value = _join(read(sha), read)
        if is_content:
            whole = store(value)
            nodes.filter(blob=sha).update(blob=whole)
            events.filter(blob=sha).update(blob=whole)
        if is_request:
            big = {name: value[name] for name in SEPARATE_FIELDS if _is_big(value.get(name))}
            rest = store({name: one for name, one in value.items() if name not in big})
            columns = {name: store(one) for name, one in big.items()}
            runs.filter(env=sha).update(env=rest, **columns)
    get("BlobPart").objects.all().delete()
    orphans = blobs.filter(created_at__lt=started).exclude(
        Exists(nodes.filter(blob=here))
        | Exists(events.filter(blob=here))
        | Exists(runs.filter(Q(env=here) | Q(widgets=here) | Q(context=here) | Q(tools=here)))
    )
    for (sha,) in _by_key(orphans.values_list("pk")):
        blobs.filter(pk=sha).delete()
    if schema_editor.connection.vendor == "postgresql":  # or a table with pending checks can't be dropped
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _by_key(rows: Any) -> Iterable[tuple[Any, ...]]:
    last = ""
    while batch := list(rows.filter(pk__gt=last).order_by("pk")[:BATCH]):
        yield from batch
        last = batch[-1][0]


def _is_big(value: Any) -> bool:
    return value is not None and len(json.dumps(value, ensure_ascii=False)) > MIN_BLOB_BYTES


def _join(value: Any, read: Any) -> Any:
    if isinstance(value, list):
        return [_join(one, read) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(sha := value.get("$blob"), str):
        return _join(read(sha), read)
    if isinstance(parts := value.get("$list"), list):
        return [one for part in parts for one in _join(part, read)]
    return {key.removeprefix("$"): _join(one, read) for key, one in value.items()}


def _blob() -> Any:
    return models.ForeignKey(
        "copilot_admin.blob",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
    )


class Migration(migrations.Migration):
    """Add the columns, convert the rows, drop the table."""

    dependencies = [("copilot_admin", "0005_remove_filling")]
    operations = [
        *(migrations.AddField("run", name, _blob()) for name in SEPARATE_FIELDS),
        *(
            migrations.AddIndex(
                "run",
                models.Index(
                    fields=[name], condition=Q(**{f"{name}__isnull": False}), name=f"run_{name}"
                ),
            )
            for name in SEPARATE_FIELDS
        ),
        migrations.RunPython(store_whole, migrations.RunPython.noop),
        migrations.DeleteModel("BlobPart"),
        migrations.RemoveField("removal", "in_round"),
    ]
