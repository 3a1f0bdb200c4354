"""A network trained in PyTorch, which must be installed, applied to the features of every voxel."""

import numpy as np
import torch

import iruka

learned_model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))  # trained
volume = torch.rand(64, 64, 64, 8, device="cuda" if torch.cuda.is_available() else "cpu")  # (x, y, z, features)

network = iruka.nn.from_torch(learned_model.to(volume.device))
result = torch.from_dlpack(np.apply_along_axis(network, 3, iruka.from_dlpack(volume)))  # (x, y, z, 4)
print(result.shape, result.device)
