"""The components that run on the server: one class in one file each."""
