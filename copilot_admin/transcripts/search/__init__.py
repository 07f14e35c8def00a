"""Search and selection of conversations in the list of transcripts."""
