"""Files that come with a question: fetched, read, and quoted with their places.

In come items with bytes or links; out come items with text, and a sentence for each that cannot be
read. Doors: `reading`, `pictures`, `quotes`, `contents`, `rules`, and `file_processes`, in which files
are read.
"""
