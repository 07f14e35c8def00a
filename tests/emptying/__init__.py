"""An app of the tests, which replaces Django's command that empties the database."""
