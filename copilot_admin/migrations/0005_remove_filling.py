"""Remove the table of the backfill framework; its permission goes to the removals."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def move_permission(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    types = apps.get_model('contenttypes', 'ContentType').objects.filter(app_label='copilot_admin')
    removal = types.filter(model='removal').first()
    if removal is not None:  # otherwise the database is new and has no permissions yet
        permissions = apps.get_model('auth', 'Permission').objects
        permissions.filter(codename='watch_background').update(content_type=removal)
        types.filter(model='filling').delete()


class Migration(migrations.Migration):
    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
        ('copilot_admin', '0004_limit_rejections'),
    ]

    operations = [
        migrations.RunPython(move_permission),
        migrations.DeleteModel('Filling'),
        migrations.AlterModelOptions('Removal', {
            'verbose_name': 'removal', 'verbose_name_plural': 'removals', 'ordering': ['-id'],
            'default_permissions': (),
            'permissions': [
                ('erase_data', 'Can erase conversations, users, callers and periods'),
                ('watch_background', 'Can see and stop what runs in the background'),
            ],
        }),
    ]
