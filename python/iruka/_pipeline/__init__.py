"""The parts of iruka.pipeline."""
