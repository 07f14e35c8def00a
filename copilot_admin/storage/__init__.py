"""Access to the database: SQL statements, writer thread, spool, blobs."""
