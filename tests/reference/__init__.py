"""Plain NumPy twins of the native kernels, written to be read beside the papers; the oracle in the tests.

They are derived on their own, as body-frame recursions in the papers' notation (the core has world-aligned
axes), and take one configuration at a time. Nothing here is fast.

Everywhere, D_i f is the derivative of f along the i-th increment of `retract`, with velocities held fixed; a
second derivative is `second[i, j]` = D_j (D_i f): the derivative along j of the first derivative i. It is
symmetric except between coordinates of one Ball or Free joint, whose increments do not commute.
"""
