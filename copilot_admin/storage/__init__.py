"""How rows reach the database: SQL statements, the writing thread, the spool, blobs."""
