"""Thumbs down are found by when they were given."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('copilot_admin', '0043_feedback_once'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='feedback',
            index=models.Index(condition=models.Q(('source', 'end_user'), ('value', -1)), fields=['created_at'], name='feedback_complaints'),
        ),
    ]
