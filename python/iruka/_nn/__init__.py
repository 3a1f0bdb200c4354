"""What iruka.nn consists of: modules (module.py, layers.py), their calls as kernels (network.py), functions for kernels
(functions.py), and modules made of torch's (from_torch.py)."""
