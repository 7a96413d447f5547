"""What the course shows beside the arithmetic: figures, published numbers, PyTorch, experiments."""
