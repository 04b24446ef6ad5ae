"""Rankings of a corpus for a query: terms, word vectors, dense vectors."""
