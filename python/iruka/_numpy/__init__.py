"""NumPy's functions, a file a subject; iruka exports them."""
