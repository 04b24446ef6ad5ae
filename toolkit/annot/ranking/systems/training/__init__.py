"""Training encoders as the papers trained theirs: examples from citations and co-citations, losses, the training."""
