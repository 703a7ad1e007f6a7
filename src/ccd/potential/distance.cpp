// Squared distances are quotients N / M of polynomials in difference vectors, so that one rule gives all derivatives:
//
//     point, line          |x cross e|^2 / |e|^2                 x from the line to the point, e along it
//     point, plane         (d . (u cross v))^2 / |u cross v|^2   u, v along the triangle, d from it to the point
//     line, line           the same                              u, v along the edges, d between them
//
// (N / M)' = (N' - q M') / M and (N / M)'' = (N'' - q M'' - q' M'^T - M' q'^T) / M with q = N / M.
#include "base/assert.hpp"
#include "ccd/potential/matrices.hpp"

namespace quadrat {
namespace ccd {
namespace {

template <int n>
Form<n> quotient(const Form<n>& top, const Form<n>& bottom) {
    Form<n> q;
    q.value = top.value / bottom.value;
    q.gradient = (top.gradient - q.value * bottom.gradient) / bottom.value;
    q.hessian = (top.hessian - q.value * bottom.hessian - q.gradient * bottom.gradient.transpose() -
                 bottom.gradient * q.gradient.transpose()) /
                bottom.value;
    return q;
}

// |x|^2 by x as vector number `i` of n.
template <int n>
Form<n> square(const Vector3& x, int i) {
    QUADRAT_ASSERT(i >= 0 && i < n);
    Form<n> f;
    f.value = x.squaredNorm();
    f.gradient.template segment<3>(3 * i) = 2 * x;
    f.hessian.template block<3, 3>(3 * i, 3 * i) = 2 * Matrix3::Identity();
    return f;
}

// (d . (u x v))^2 / |u x v|^2 by u, v, d.
Form<3> height_square(const Vector3& u, const Vector3& v, const Vector3& d) {
    const Vector3 n = u.cross(v);
    const double h = d.dot(n);
    Form<3> volume;
    volume.value = h;
    volume.gradient << v.cross(d), d.cross(u), n;
    volume.hessian.block<3, 3>(0, 3) = -cross_matrix(d);
    volume.hessian.block<3, 3>(0, 6) = cross_matrix(v);
    volume.hessian.block<3, 3>(3, 6) = -cross_matrix(u);
    volume.hessian.block<3, 3>(3, 0) = volume.hessian.block<3, 3>(0, 3).transpose();
    volume.hessian.block<3, 3>(6, 0) = volume.hessian.block<3, 3>(0, 6).transpose();
    volume.hessian.block<3, 3>(6, 3) = volume.hessian.block<3, 3>(3, 6).transpose();
    Form<3> top;
    top.value = h * h;
    top.gradient = 2 * h * volume.gradient;
    top.hessian = 2 * volume.gradient * volume.gradient.transpose() + 2 * h * volume.hessian;
    const Form<2> area = cross_square(u, v);
    Form<3> bottom;
    bottom.value = area.value;
    bottom.gradient.head<6>() = area.gradient;
    bottom.hessian.topLeftCorner<6, 6>() = area.hessian;
    return quotient(top, bottom);
}

// Which differences a plane's or a pair of lines' formula takes: u, v, d as {end, start}.
constexpr int plane_ends[3][2] = {{2, 1}, {3, 1}, {0, 1}};
constexpr int lines_ends[3][2] = {{1, 0}, {3, 2}, {2, 0}};
constexpr int line_ends[2][2] = {{0, 1}, {2, 1}};
constexpr int point_ends[1][2] = {{0, 1}};

Vector3 difference(const FourPoints& p, const int (&ends)[2]) {
    return vector(p[static_cast<std::size_t>(ends[0])]) - vector(p[static_cast<std::size_t>(ends[1])]);
}

}  // namespace

// |u|^2 |v|^2 - (u . v)^2 for the derivatives; the value from the cross product, where nothing cancels.
Form<2> cross_square(const Vector3& u, const Vector3& v) {
    const double uu = u.squaredNorm();
    const double vv = v.squaredNorm();
    const double uv = u.dot(v);
    Form<2> f;
    const Vector3 n = u.cross(v);
    f.value = n.squaredNorm();
    f.gradient << 2 * v.cross(n), 2 * n.cross(u);
    f.hessian.block<3, 3>(0, 0) = 2 * (vv * Matrix3::Identity() - v * v.transpose());
    f.hessian.block<3, 3>(3, 3) = 2 * (uu * Matrix3::Identity() - u * u.transpose());
    f.hessian.block<3, 3>(0, 3) = 2 * (2 * u * v.transpose() - v * u.transpose() - uv * Matrix3::Identity());
    f.hessian.block<3, 3>(3, 0) = f.hessian.block<3, 3>(0, 3).transpose();
    return f;
}

}  // namespace ccd

using namespace ccd;

double distance_sq(StencilKind kind, const FourPoints& p) {
    switch (kind) {
        case StencilKind::point_point:
            return difference(p, point_ends[0]).squaredNorm();
        case StencilKind::point_edge: {
            const Vector3 e = difference(p, line_ends[1]);
            return difference(p, line_ends[0]).cross(e).squaredNorm() / e.squaredNorm();
        }
        case StencilKind::point_triangle:
        case StencilKind::edge_edge:
            break;
    }
    const auto& ends = kind == StencilKind::point_triangle ? plane_ends : lines_ends;
    const Vector3 n = difference(p, ends[0]).cross(difference(p, ends[1]));
    const double h = difference(p, ends[2]).dot(n);
    return h * h / n.squaredNorm();
}

Derivatives derive_distance_sq(StencilKind kind, const FourPoints& p) {
    switch (kind) {
        case StencilKind::point_point:
            return by_points(square<1>(difference(p, point_ends[0]), 0), point_ends);
        case StencilKind::point_edge: {
            const Vector3 x = difference(p, line_ends[0]);
            const Vector3 e = difference(p, line_ends[1]);
            return by_points(quotient(cross_square(x, e), square<2>(e, 1)), line_ends);
        }
        case StencilKind::point_triangle:
        case StencilKind::edge_edge:
            break;
    }
    const auto& ends = kind == StencilKind::point_triangle ? plane_ends : lines_ends;
    return by_points(height_square(difference(p, ends[0]), difference(p, ends[1]), difference(p, ends[2])), ends);
}

}  // namespace quadrat
