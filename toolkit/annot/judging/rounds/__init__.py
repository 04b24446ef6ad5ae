"""The five rounds, one module each: who is asked what, how an answer becomes a record, and what is noted then."""
