"""The wire: parsing and serializing of three generations of the OpenBB copilot protocol."""
