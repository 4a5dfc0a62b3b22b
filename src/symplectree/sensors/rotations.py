"""Quaternions of many rotation matrices at once."""

import numpy as np

from symplectree.lie import Array


def quaternions(R: Array) -> Array:
    """Unit quaternions (K, 4), scalar part first and not negative, of rotation matrices (K, 3, 3).

    Of the four numbers the largest is found by its square root, and the others by division by it (Shepperd).
    """
    trace = np.trace(R, axis1=1, axis2=2)
    diagonal = np.diagonal(R, axis1=1, axis2=2)
    squares = np.concatenate([1 + trace[:, None], 1 + 2 * diagonal - trace[:, None]], axis=1)  # 4 times those of q
    products = np.empty((len(R), 4, 4))  # 4 q_i q_j
    for i in range(4):
        products[:, i, i] = squares[:, i]
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        products[:, 0, i + 1] = products[:, i + 1, 0] = R[:, k, j] - R[:, j, k]
        products[:, j + 1, k + 1] = products[:, k + 1, j + 1] = R[:, j, k] + R[:, k, j]
    largest = np.argmax(squares, axis=1)
    q = products[np.arange(len(R)), largest]
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    return np.where(q[:, :1] < 0, -q, q)
