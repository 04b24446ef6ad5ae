"""The plan, the rounds, the exchange with the server, training and trials, and the next step.

Uses the rooms up to `measuring`. Begin with `planning`, then `exchange`.
"""
