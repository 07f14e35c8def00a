"""The checks, a family a file. A new one is a function marked with `Check`, and nothing else."""
