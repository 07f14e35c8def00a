"""Files of a question: fetching, reading, and quotes with their places."""
