"""The plan, the rounds, what goes to the server and comes back, training and trials, and what is to be done next.

Uses the rooms up to `measuring`. Begin with `planning`, then `exchange`.
"""
