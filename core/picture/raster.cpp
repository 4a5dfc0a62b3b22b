#include "picture/raster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace symplectree {
namespace {

using Corners = std::array<const double*, 3>;

Corners corners(const double* all, const std::int32_t* face) {
  return {all + 3 * face[0], all + 3 * face[1], all + 3 * face[2]};
}

// Twice the area of a triangle of pixels, negative when it is counter-clockwise as seen, since rows count downwards.
double area(const Corners& c) {
  return (c[1][0] - c[0][0]) * (c[2][1] - c[0][1]) - (c[1][1] - c[0][1]) * (c[2][0] - c[0][0]);
}

bool is_ahead(const Corners& c, double near) { return c[0][2] > near && c[1][2] > near && c[2][2] > near; }

// Calls put(index of the pixel, 1 / distance) for each pixel whose middle is inside of a triangle, row by row: of each
// row the span between two edges. A pixel on a common edge belongs to one triangle only.
template <class Put>
void scan(const Picture& picture, const Corners& c, const Put& put) {
  const double twice = area(c);
  if (twice == 0 || !std::isfinite(twice)) return;
  const auto [low, high] = std::minmax({c[0][1], c[1][1], c[2][1]});
  const int first = std::max(0.0, std::ceil(low - 0.5)),
            last = std::min(picture.height - 1.0, std::ceil(high - 0.5) - 1);
  const std::array<double, 3> inverse{1 / c[0][2], 1 / c[1][2], 1 / c[2][2]};  // which is linear in pixels
  const double u = inverse[1] - inverse[0], w = inverse[2] - inverse[0];
  const double right = (u * (c[2][1] - c[0][1]) - w * (c[1][1] - c[0][1])) / twice;
  const double down = (w * (c[1][0] - c[0][0]) - u * (c[2][0] - c[0][0])) / twice;
  for (int row = first; row <= last; ++row) {
    const double y = row + 0.5;
    double from = picture.width, to = 0;
    for (int i = 0; i < 3; ++i) {
      const double *a = c[i], *b = c[(i + 1) % 3];
      if (a[1] > b[1]) std::swap(a, b);
      if (!(a[1] <= y && y < b[1])) continue;
      const double x = a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
      from = std::min(from, x), to = std::max(to, x);
    }
    const int begin = std::max(0.0, std::ceil(from - 0.5)), end = std::min<double>(picture.width, std::ceil(to - 0.5));
    double value = inverse[0] + right * (begin + 0.5 - c[0][0]) + down * (y - c[0][1]);
    const std::int64_t start = std::int64_t(row) * picture.width;
    for (int column = begin; column < end; ++column, value += right) put(start + column, value);
  }
}

std::array<double, 3> shaded(const Corners& p, const double* color, const Light& light) {
  std::array<double, 3> u, w;
  for (int i = 0; i < 3; ++i) u[i] = p[1][i] - p[0][i], w[i] = p[2][i] - p[0][i];
  const std::array<double, 3> n{u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
  const double length = std::sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), *l = light.towards;
  const double cosine = length > 0 ? std::clamp((n[0] * l[0] + n[1] * l[1] + n[2] * l[2]) / length, 0.0, 1.0) : 0;
  const double gloss = light.gloss * std::pow(cosine, 12);
  std::array<double, 3> out;
  for (int i = 0; i < 3; ++i)
    out[i] = 255 * std::clamp((light.everywhere + light.lamp * cosine) * color[i] + gloss, 0.0, 1.0);
  return out;
}

}  // namespace

void draw_triangles(Picture& picture, const Triangles& t, const Light& light, double near) {
  std::vector<std::pair<double, std::int64_t>> clear;  // what shines through, by its distance
  const auto draw = [&](std::int64_t k, double opacity) {
    const Corners c = corners(t.seen, t.faces + 3 * k);
    const std::array<double, 3> rgb = shaded(corners(t.points, t.faces + 3 * k), t.colors + 4 * k, light);
    const std::array<std::uint8_t, 3> bytes{std::uint8_t(rgb[0] + 0.5), std::uint8_t(rgb[1] + 0.5),
                                            std::uint8_t(rgb[2] + 0.5)};
    if (opacity >= 1) {
      scan(picture, c, [&](std::int64_t at, double value) {
        if (value <= picture.depth[at]) return;
        picture.depth[at] = value;
        std::copy(bytes.begin(), bytes.end(), picture.pixels + 3 * at);
      });
    } else {
      scan(picture, c, [&](std::int64_t at, double value) {
        if (value <= picture.depth[at]) return;
        std::uint8_t* pixel = picture.pixels + 3 * at;
        for (int i = 0; i < 3; ++i) pixel[i] = pixel[i] + opacity * (rgb[i] - pixel[i]) + 0.5;
      });
    }
  };
  for (std::int64_t k = 0; k < t.count; ++k) {
    const Corners c = corners(t.seen, t.faces + 3 * k);
    if (!is_ahead(c, near) || !(area(c) < 0)) continue;
    if (t.colors[4 * k + 3] >= 1)
      draw(k, 1);
    else
      clear.emplace_back(-(c[0][2] + c[1][2] + c[2][2]), k);
  }
  std::sort(clear.begin(), clear.end());
  for (const auto& [distance, k] : clear) draw(k, t.colors[4 * k + 3]);
}

void fill_triangles(Picture& picture, const Triangles& t, const std::uint8_t* color, double near) {
  for (std::int64_t k = 0; k < t.count; ++k) {
    const Corners c = corners(t.seen, t.faces + 3 * k);
    if (is_ahead(c, near))
      scan(picture, c, [&](std::int64_t at, double) { std::copy(color, color + 3, picture.pixels + 3 * at); });
  }
}

void carry_points(const double* points, const std::int32_t* nodes, std::int64_t count, const double* poses,
                  double* out) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double *p = points + 3 * k, *T = poses + 16 * nodes[k];
    for (int i = 0; i < 3; ++i)
      out[3 * k + i] = T[4 * i] * p[0] + T[4 * i + 1] * p[1] + T[4 * i + 2] * p[2] + T[4 * i + 3];
  }
}

void project_points(const double* points, std::int64_t count, const Projection& camera, double* out) {
  for (std::int64_t k = 0; k < count; ++k) {
    const double *p = points + 3 * k, *e = camera.eye, *a = camera.axes;
    const double x = p[0] - e[0], y = p[1] - e[1], z = p[2] - e[2];
    const double distance = std::max(-(a[6] * x + a[7] * y + a[8] * z), 1e-9), zoom = camera.zoom / distance;
    out[3 * k] = camera.column + zoom * (a[0] * x + a[1] * y + a[2] * z);
    out[3 * k + 1] = camera.row - zoom * (a[3] * x + a[4] * y + a[5] * z);
    out[3 * k + 2] = distance;
  }
}

void reduce_picture(const Picture& picture, int finer, std::uint8_t* out) {
  const int width = picture.width / finer, height = picture.height / finer, whole = finer * finer;
  std::vector<std::uint16_t> sums(3 * std::size_t(picture.width));
  for (int row = 0; row < height; ++row) {
    std::fill(sums.begin(), sums.end(), 0);
    for (int r = 0; r < finer; ++r) {
      const std::uint8_t* from = picture.pixels + 3 * (std::int64_t(row) * finer + r) * picture.width;
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += from[k];
    }
    for (int column = 0; column < width; ++column)
      for (int i = 0; i < 3; ++i) {
        int sum = whole / 2;
        for (int c = 0; c < finer; ++c) sum += sums[3 * (column * finer + c) + i];
        *out++ = sum / whole;
      }
  }
}

}  // namespace symplectree
