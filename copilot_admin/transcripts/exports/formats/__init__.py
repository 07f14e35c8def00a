"""The formats of exports, one a file. A new one is a subclass of `ExportFormat`, and nothing else."""
