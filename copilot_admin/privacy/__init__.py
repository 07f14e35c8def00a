"""Privacy: selection, legal holds, retention and the deletion of rows and their remains."""
