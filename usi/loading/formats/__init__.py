"""One file a transcript format: how it is recognised and how it is read."""
