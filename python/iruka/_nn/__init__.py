"""What iruka.nn consists of: modules (module.py, containers.py), layers that become kernels (layers.py) and layers that
are operators of graphs (the other *_layers.py), their calls (network.py), functions for kernels (functions.py), models
of files (model.py), and modules made of torch's (from_torch.py)."""
