// Derivatives as matrices; for this room alone.
#pragma once

#include <quadrat/ccd/potential.hpp>

#include <Eigen/Core>
#include <Eigen/Geometry>

namespace quadrat::ccd {

using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;
using Vector12 = Eigen::Matrix<double, 12, 1>;
using Matrix12 = Eigen::Matrix<double, 12, 12, Eigen::RowMajor>;

inline Vector3 vector(const Vec3d& v) {
    return {v[0], v[1], v[2]};
}
inline Eigen::Map<Vector12> gradient(Derivatives& d) {
    return Eigen::Map<Vector12>(d.gradient.data());
}
inline Eigen::Map<const Vector12> gradient(const Derivatives& d) {
    return Eigen::Map<const Vector12>(d.gradient.data());
}
inline Eigen::Map<Matrix12> hessian(Derivatives& d) {
    return Eigen::Map<Matrix12>(d.hessian.data());
}
inline Eigen::Map<const Matrix12> hessian(const Derivatives& d) {
    return Eigen::Map<const Matrix12>(d.hessian.data());
}

/// The matrix of the cross product with v from the left.
inline Matrix3 cross_matrix(const Vector3& v) {
    Matrix3 m;
    m << 0, -v[2], v[1], v[2], 0, -v[0], -v[1], v[0], 0;
    return m;
}

/// A value with its derivatives by two or three vectors.
template <int n>
struct Form {
    double value = 0;
    Eigen::Matrix<double, 3 * n, 1> gradient = Eigen::Matrix<double, 3 * n, 1>::Zero();
    Eigen::Matrix<double, 3 * n, 3 * n> hessian = Eigen::Matrix<double, 3 * n, 3 * n>::Zero();
};

/// |u x v|^2 by u and v.
[[nodiscard]] Form<2> cross_square(const Vector3& u, const Vector3& v);

/// By points where vector i is the difference of the points ends[i][0] and ends[i][1].
template <int n>
Derivatives by_points(const Form<n>& f, const int (&ends)[n][2]) {
    Derivatives d;
    d.value = f.value;
    for (int i = 0; i < n; ++i)
        for (int a = 0; a < 2; ++a) {
            const double sa = a == 0 ? 1 : -1;
            gradient(d).template segment<3>(3 * ends[i][a]) += sa * f.gradient.template segment<3>(3 * i);
            for (int j = 0; j < n; ++j)
                for (int b = 0; b < 2; ++b) {
                    const double sb = b == 0 ? sa : -sa;
                    hessian(d).template block<3, 3>(3 * ends[i][a], 3 * ends[j][b]) +=
                        sb * f.hessian.template block<3, 3>(3 * i, 3 * j);
                }
        }
    // Sums in another order differ by roundings.
    hessian(d).template triangularView<Eigen::StrictlyLower>() = hessian(d).transpose();
    return d;
}

}  // namespace quadrat::ccd
