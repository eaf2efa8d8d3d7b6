"""Computes Gradwire's own models with PyTorch, for the agent of a rank (`backend: torch`).

`python -m gradwire.compute` is started by the agent and ends with it. Parameters, batches and
gradients are in memory that both share; the socket carries only what to do next.
"""
