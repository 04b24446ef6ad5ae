"""A model is asked for its opinion of pairs: prompts, answers, the server, and the record of each request."""
