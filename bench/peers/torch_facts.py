"""The PyTorch that a peer's figures are of."""

import torch


def facts():
    """PyTorch's version, and what its speed on a processor depends on; after the threads are set."""
    return {
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "blas": "MKL" if torch.backends.mkl.is_available() else "no MKL",
        "capability": torch.backends.cpu.get_cpu_capability(),
    }
