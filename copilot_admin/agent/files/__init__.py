"""Files that come with a question: fetched, read, and quoted with their places."""
