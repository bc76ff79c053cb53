"""The hot loops of the simulator: what clients compute, who takes part, what is recorded."""
