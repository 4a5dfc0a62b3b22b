// Triangles to pixels, with a depth for each pixel: pictures of films, without a display or graphics card.
#pragma once

#include <cstdint>

namespace symplectree {

// A picture of rows from the top, three bytes (red, green, blue) for each pixel, and how far away what it shows is.
struct Picture {
  int width, height;
  std::uint8_t* pixels;
  float* depth;
};

// Triangles, three corners each by their numbers, counter-clockwise from outside.
struct Triangles {
  const double* seen;    // of each corner: pixels to the right and down, and distance from the camera
  const double* points;  // of each corner: where it is in the world [m]
  const std::int32_t* faces;
  const double* colors;  // of each triangle: red, green, blue and opacity, 0 to 1
  std::int64_t count;
};

// Light from everywhere and that of a lamp on what faces it, by the cosine of the angle, and its gloss.
struct Light {
  const double* towards;  // direction to the lamp, of length 1
  double everywhere, lamp, gloss;
};

// Draws what faces the camera and is not nearer than `near`: first what is opaque, then what is not, the farthest
// first.
void draw_triangles(Picture& picture, const Triangles& triangles, const Light& light, double near);

// Fills flat triangles of one colour, whichever side they show, without regard to depth. Corners nearer than `near`
// leave their triangle out.
void fill_triangles(Picture& picture, const Triangles& triangles, const std::uint8_t* color, double near);

// A camera: rows of its axes to the right, up and back, where it is [m], pixels for a slope of 1, and the middle pixel.
struct Projection {
  const double *axes, *eye;
  double zoom, column, row;
};

// Points of bodies to the world: point k belongs to pose nodes[k] of `poses`, 4×4 each.
void carry_points(const double* points, const std::int32_t* nodes, std::int64_t count, const double* poses,
                  double* out);

// Points of the world to pixels to the right and down, and distance from the camera.
void project_points(const double* points, std::int64_t count, const Projection& camera, double* out);

// Means of squares of `finer` × `finer` pixels, which are (height / finer, width / finer, 3) bytes.
void reduce_picture(const Picture& picture, int finer, std::uint8_t* out);

}  // namespace symplectree
