"""Tables whose rows no backup holds: what is in them opens the admin to whoever reads the file."""

from django.contrib.sessions.models import Session

from copilot_admin.models import LogIn

# Both have the key that a browser shows for somebody who is logged in; where one goes, both do.
LOG_INS = (LogIn, Session)
LEFT_OUT = tuple(model._meta.db_table for model in LOG_INS)
