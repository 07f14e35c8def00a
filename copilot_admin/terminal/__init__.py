"""Commands of Django and django-ninja as this project wants them: for accounts, told in the audit trail; for its API and its mail.

A Django app of its own: it stands before those whose commands it replaces.
"""
