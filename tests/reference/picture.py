"""Twin of core/picture: every pixel asks every triangle."""

import numpy as np


def draw(size, seen, points, faces, colors, towards, strength, near):
    """Pixels (height, width, 3), as `draw_triangles` on white."""
    width, height = size
    x, y = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)
    picture, nearest = np.full((height, width, 3), 255.0), np.zeros((height, width))
    order = sorted(range(len(faces)), key=lambda k: (colors[k, 3] < 1, -seen[faces[k], 2].sum()))
    for k in order:
        a, b, c = seen[faces[k]]
        whole = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if whole >= 0 or min(a[2], b[2], c[2]) <= near:
            continue
        beta = ((x - a[0]) * (c[1] - a[1]) - (y - a[1]) * (c[0] - a[0])) / whole
        gamma = ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / whole
        inverse = (1 - beta - gamma) / a[2] + beta / b[2] + gamma / c[2]
        shown = (beta >= 0) & (gamma >= 0) & (beta + gamma <= 1) & (inverse > nearest)
        p, q, r = points[faces[k]]
        normal = np.cross(q - p, r - p)
        cosine = max(0.0, normal @ towards / np.linalg.norm(normal))
        light = (strength[0] + strength[1] * cosine) * colors[k, :3] + strength[2] * cosine**12
        rgb, opacity = 255 * np.clip(light, 0, 1), colors[k, 3]
        picture[shown] += opacity * (rgb - picture[shown])
        if opacity >= 1:
            nearest[shown] = inverse[shown]
    return picture
