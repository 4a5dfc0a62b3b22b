"""The step as a function of other packages' arrays, with derivatives: JAX and PyTorch, imported when used."""

from symplectree.interop.jax_step import jax_step
from symplectree.interop.torch_step import torch_step

__all__ = ["jax_step", "torch_step"]
