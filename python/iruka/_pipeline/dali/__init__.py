"""DALI's names on Iruka's pipeline: what iruka.fn, iruka.ops, iruka.types, iruka.plugin and the constructor
Pipeline(batch_size, num_threads, device_id) are made of. A program of operators becomes one graph of the core."""
