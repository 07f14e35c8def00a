"""List and pages of conversations."""
