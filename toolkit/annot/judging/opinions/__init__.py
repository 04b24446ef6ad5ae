"""A model is asked for its opinion of pairs: prompts, answers, the server, and what is kept of each request."""
