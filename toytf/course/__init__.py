"""What the course shows beside the arithmetic: figures, what PyTorch gave, experiments."""
