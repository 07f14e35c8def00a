"""Files as text for a model: `registry` finds the format of a file, and reads it."""
