"""One file a public human corpus: how it is recognised and how it is read."""
