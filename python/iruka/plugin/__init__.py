"""Iterators over pipelines by DALI's names, for NumPy (plugin.numpy), PyTorch (plugin.pytorch) and JAX (plugin.jax)."""
