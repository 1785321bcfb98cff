"""The gradient checker: emitted Python against numeric differences and against torch's own gradients.

The only part of gradspec that runs torch, and only when it is asked for.
"""
