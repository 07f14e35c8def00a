"""Files as text for a model: one file for each format. Door: `registry`, which finds them."""
