"""How rows reach the database: statements, the writing thread, spool, blobs.

In come jobs and values; out come results, after their commit. What a row means is known by the rooms
above. Doors: `writer`, `database_thread`, `statements`, `selects`, `many`, `blobs`, `packing`, `cut_values`,
`empty_handed`, `file_faults`, `folders`, `folding`, `full_disk`, `held_back`, `postgresql_codes`, `races`, `readable_rows`, `refused_texts`, `rights`, `spool`, `same_file`, `schema`, `damage`, `replica`.
"""
