// Pictures of films, as symplectree/view/painter.py paints them.
#include "picture/raster.hpp"

#include <nanobind/stl/array.h>

#include "bindings/native.hpp"

namespace symplectree {
namespace {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Depths = nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Faces = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Pixels (height, width, 3) and 1 / distance (height, width), 0 where there is nothing.
Picture picture(const Bytes& pixels, const Depths& depth) {
  if (depth.shape(0) != pixels.shape(0) || depth.shape(1) != pixels.shape(1) || pixels.shape(2) != 3)
    throw nb::value_error("pixels and depth are not of one size");
  return {int(pixels.shape(1)), int(pixels.shape(0)), pixels.data(), depth.data()};
}

Triangles triangles(const In& seen, const In& points, const Faces& faces, const In& colors) {
  const std::size_t corners = seen.size() / 3;
  if ((points.size() && points.size() != seen.size()) || (colors.size() && colors.size() != 4 * faces.shape(0)))
    throw nb::value_error("triangles need as many points as pixels, and four numbers of colour each");
  for (std::size_t k = 0; k < faces.size(); ++k)
    if (faces.data()[k] < 0 || std::size_t(faces.data()[k]) >= corners) throw nb::value_error("no such corner");
  return {seen.data(), points.data(), faces.data(), colors.data(), std::int64_t(faces.shape(0))};
}

}  // namespace

void bind_picture(nb::module_& module) {
  module.def(
      "draw_triangles",
      [](Bytes pixels, Depths depth, In seen, In points, Faces faces, In colors, In towards, In strength, double near) {
        Picture on = picture(pixels, depth);
        const Triangles all = triangles(seen, points, faces, colors);
        const Light light{towards.data(), strength.data()[0], strength.data()[1], strength.data()[2]};
        nb::gil_scoped_release others;
        draw_triangles(on, all, light, near);
      },
      nb::kw_only(), nb::arg("pixels"), nb::arg("depth"), nb::arg("seen"), nb::arg("points"), nb::arg("faces"),
      nb::arg("colors"), nb::arg("towards"), nb::arg("strength"), nb::arg("near"));
  module.def(
      "fill_triangles",
      [](Bytes pixels, Depths depth, In seen, Faces faces, std::array<std::uint8_t, 3> color, double near) {
        Picture on = picture(pixels, depth);
        const Triangles all = triangles(seen, {}, faces, {});
        nb::gil_scoped_release others;
        fill_triangles(on, all, color.data(), near);
      },
      nb::kw_only(), nb::arg("pixels"), nb::arg("depth"), nb::arg("seen"), nb::arg("faces"), nb::arg("color"),
      nb::arg("near"));
  module.def(
      "carry_points",
      [](In points, Indices nodes, In poses, Out out) {
        const std::size_t count = nodes.size();
        if (points.size() != 3 * count || out.size() != 3 * count)
          throw nb::value_error("each point needs three numbers and a node");
        for (std::size_t k = 0; k < count; ++k)
          if (nodes.data()[k] < 0 || 16 * std::size_t(nodes.data()[k]) >= poses.size())
            throw nb::value_error("no such node");
        nb::gil_scoped_release others;
        carry_points(points.data(), nodes.data(), std::int64_t(count), poses.data(), out.data());
      },
      nb::kw_only(), nb::arg("points"), nb::arg("nodes"), nb::arg("poses"), nb::arg("out"));
  module.def(
      "project_points",
      [](In points, In axes, In eye, double zoom, std::array<double, 2> middle, Out out) {
        if (axes.size() != 9 || eye.size() != 3 || out.size() != points.size())
          throw nb::value_error("a camera has nine numbers of its axes and three of its place");
        nb::gil_scoped_release others;
        project_points(points.data(), std::int64_t(points.size() / 3),
                       {axes.data(), eye.data(), zoom, middle[0], middle[1]}, out.data());
      },
      nb::kw_only(), nb::arg("points"), nb::arg("axes"), nb::arg("eye"), nb::arg("zoom"), nb::arg("middle"),
      nb::arg("out"));
  module.def(
      "reduce_picture",
      [](Bytes pixels, Bytes out, int finer) {
        if (finer < 1 || out.shape(0) != pixels.shape(0) / finer || out.shape(1) != pixels.shape(1) / finer)
          throw nb::value_error("the smaller picture has another size");
        const Picture from{int(pixels.shape(1)), int(pixels.shape(0)), pixels.data(), nullptr};
        nb::gil_scoped_release others;
        reduce_picture(from, finer, out.data());
      },
      nb::kw_only(), nb::arg("pixels"), nb::arg("out"), nb::arg("finer"));
}

}  // namespace symplectree
