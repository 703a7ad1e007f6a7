// Wrapping into a periodic box, and the images around it.
#include "neighbors/grid/images.hpp"

#include <quadrat/error.hpp>

#include "base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace quadrat::neighbors {

template <int D, class T>
Lattice<D, T>::Lattice(const Periodic<D, T>& box) : box_(box), active_(box.active()) {
    if (!active_) return;
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const auto cross = [&](int a, int b, int to) {
        double c[3], length = 0;
        for (int k = 0; k < 3; ++k) {
            c[k] = v[a][(k + 1) % 3] * v[b][(k + 2) % 3] - v[a][(k + 2) % 3] * v[b][(k + 1) % 3];
            length += c[k] * c[k];
        }
        for (int k = 0; k < 3; ++k) v[to][k] = c[k] / std::sqrt(length);
    };
    int open[3], opens = 0;
    for (int k = 0; k < D; ++k) {
        double length = 0;
        bool given = false;
        for (int c = 0; c < D; ++c) {
            if (!std::isfinite(box.vectors[k][c]) || !std::isfinite(box.origin[c]))
                throw Error(ErrorKind::bad_value, "the periodic box is not finite", Where{.field = "periodic"});
            v[k][c] = static_cast<double>(box.vectors[k][c]);
            length += v[k][c] * v[k][c];
            given |= v[k][c] != 0;
            magnitude_ += 4 * (std::abs(v[k][c]) + std::abs(static_cast<double>(box.origin[c])));
        }
        if (given && !(length > 0 && std::isfinite(length)))
            throw Error(ErrorKind::bad_value, "a vector of the periodic box is too short or too long",
                        Where{.field = "periodic"});
        repeats_[k] = given;
        if (!repeats_[k]) open[opens++] = k;
    }
    // Open directions are made perpendicular to the others.
    if (D == 2 && opens == 1) {
        const int k = open[0], other = 1 - k;
        v[k][0] = -v[other][1], v[k][1] = v[other][0];
    } else if (D == 3 && opens == 1) {
        cross((open[0] + 1) % 3, (open[0] + 2) % 3, open[0]);
    } else if (D == 3 && opens == 2) {
        const int kept = 3 - open[0] - open[1];
        int small = 0;
        for (int c = 1; c < 3; ++c)
            if (std::abs(v[kept][c]) < std::abs(v[kept][small])) small = c;
        for (int c = 0; c < 3; ++c) v[open[0]][c] = c == small ? 1 : 0;
        cross(kept, open[0], open[1]);
        cross(kept, open[1], open[0]);
    }
    // inverse_[k] . x is the coordinate along vector k; the cofactors of the matrix whose rows are the vectors.
    double volume = 0, size = 1;
    double cofactor[3][3];
    for (int k = 0; k < 3; ++k)
        for (int c = 0; c < 3; ++c)
            cofactor[k][c] = v[(k + 1) % 3][(c + 1) % 3] * v[(k + 2) % 3][(c + 2) % 3] -
                             v[(k + 1) % 3][(c + 2) % 3] * v[(k + 2) % 3][(c + 1) % 3];
    for (int c = 0; c < 3; ++c) volume += v[0][c] * cofactor[0][c];
    for (int k = 0; k < 3; ++k) size *= std::hypot(v[k][0], v[k][1], v[k][2]);
    if (!(std::abs(volume) > 1e-12 * size) || !std::isfinite(volume))
        throw Error(ErrorKind::bad_value, "the vectors of the periodic box are flat", Where{.field = "periodic"});
    for (int k = 0; k < D; ++k) {
        double length = 0;
        for (int c = 0; c < D; ++c) {
            inverse_[k][c] = cofactor[k][c] / volume;
            length += inverse_[k][c] * inverse_[k][c];
        }
        height_[k] = 1 / std::sqrt(length);
    }
}

template <int D, class T>
void Lattice<D, T>::fractions(const Vec<D, T>& point, double* f) const {
    for (int k = 0; k < D; ++k) {
        f[k] = 0;
        for (int c = 0; c < D; ++c)
            f[k] += inverse_[k][c] * (static_cast<double>(point[c]) - static_cast<double>(box_.origin[c]));
    }
}

template <int D, class T>
Shift Lattice<D, T>::turns(const Vec<D, T>& point, std::size_t index) const {
    double f[D];
    fractions(point, f);
    Shift n{};
    for (int k = 0; k < D; ++k) {
        if (!repeats_[k]) continue;
        const double whole = std::floor(f[k]);
        if (!(std::abs(whole) <= 0x1p30))
            throw Error(ErrorKind::bad_value, "the point is too many periodic boxes away", Where{.index = index});
        n[k] = static_cast<std::int32_t>(whole);
    }
    return n;
}

template <int D, class T>
double Lattice<D, T>::magnitude_at(double coordinate) const {
    double sum = magnitude_ + coordinate;
    for (int k = 0; k < D; ++k) {
        if (!repeats_[k]) continue;
        double turns = 2, length = 0;
        for (int c = 0; c < D; ++c) {
            turns += std::abs(inverse_[k][c]) * (coordinate + std::abs(static_cast<double>(box_.origin[c])));
            length += std::abs(static_cast<double>(box_.vectors[k][c]));
        }
        sum += turns * length;
    }
    return sum;
}

template <int D, class T>
Vec<D, T> Lattice<D, T>::offset(const Shift& n) const {
    Vec<D, T> sum{};
    for (int k = 0; k < D; ++k) {
        if (n[k] == 0) continue;
        for (int c = 0; c < D; ++c) sum[c] += static_cast<T>(n[k]) * box_.vectors[k][c];
    }
    return sum;
}

template <int D, class T>
void Lattice<D, T>::images_near(const T* lo, const T* hi, double reach, std::int32_t* from, std::int32_t* to) const {
    QUADRAT_ASSERT(active_ && reach >= 0);
    constexpr double tolerance = 1e-4, most = 0x1p30;
    for (int k = 0; k < D; ++k) {
        if (!repeats_[k]) continue;
        double middle = 0, half = 0;
        for (int c = 0; c < D; ++c) {
            const double l = static_cast<double>(lo[c]), h = static_cast<double>(hi[c]);
            middle += inverse_[k][c] * (l / 2 + h / 2 - static_cast<double>(box_.origin[c]));
            half += std::abs(inverse_[k][c]) * (h / 2 - l / 2);
        }
        const double margin = half + reach / height_[k] + tolerance;
        from[k] = static_cast<std::int32_t>(std::clamp(std::ceil(middle - margin - most_[k]), -most, most));
        to[k] = static_cast<std::int32_t>(std::clamp(std::floor(middle + margin - least_[k]), -most, most));
    }
}

template <int D, class T>
Wrapped<D, T> Wrapped<D, T>::of(const Lattice<D, T>& lattice, std::span<const Vec<D, T>> given,
                                std::span<const std::uint8_t> erased, Executor* executor) {
    QUADRAT_ASSERT(lattice.active() && (erased.empty() || erased.size() == given.size()));
    constexpr std::size_t grain = 16384;
    struct Span {
        double lo[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, hi[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
        bool turned = false;
        void add(const double* f) {
            for (int k = 0; k < D; ++k) lo[k] = std::min(lo[k], f[k]), hi[k] = std::max(hi[k], f[k]);
        }
    };
    const auto join = [](Span a, const Span& b) {
        for (int k = 0; k < 3; ++k) a.lo[k] = std::min(a.lo[k], b.lo[k]), a.hi[k] = std::max(a.hi[k], b.hi[k]);
        a.turned = a.turned || b.turned;
        return a;
    };
    const auto gone = [&](std::size_t i) { return !erased.empty() && erased[i]; };
    // Most callers keep their points in the box: then nothing is copied.
    Span all = base::parallel_reduce(
        executor, given.size(), grain, Span(),
        [&](std::size_t begin, std::size_t end) {
            Span part;
            for (std::size_t i = begin; i < end; ++i) {
                if (gone(i)) continue;
                double f[D];
                lattice.fractions(given[i], f);
                for (int k = 0; k < D; ++k)
                    part.turned = part.turned || (lattice.repeats(k) && !(f[k] >= 0 && f[k] < 1));
                part.add(f);
            }
            return part;
        },
        join);
    Wrapped w;
    if (all.turned) {
        w.points.resize(given.size());
        w.turns.resize(given.size());
        all = base::parallel_reduce(
            executor, given.size(), grain, Span(),
            [&](std::size_t begin, std::size_t end) {
                Span part;
                for (std::size_t i = begin; i < end; ++i) {
                    if (gone(i)) continue;
                    w.turns[i] = lattice.turns(given[i], i);
                    const Vec<D, T> offset = lattice.offset(w.turns[i]);
                    for (int k = 0; k < D; ++k) w.points[i][k] = given[i][k] - offset[k];
                    double f[D];
                    lattice.fractions(w.points[i], f);
                    part.add(f);
                }
                return part;
            },
            join);
    }
    for (int k = 0; k < D; ++k)
        if (all.lo[k] <= all.hi[k]) w.lo[k] = all.lo[k], w.hi[k] = all.hi[k];
    return w;
}

template <int D, class T>
void Images<D, T>::wrap(const Lattice<D, T>& lattice, std::span<const Vec<D, T>> points,
                        std::span<const std::uint8_t> erased) {
    QUADRAT_ASSERT(lattice.active() && (erased.empty() || erased.size() == points.size()));
    wrapped.assign(points.size(), Vec<D, T>{});
    turns.assign(points.size(), Shift{});
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!erased.empty() && erased[i]) continue;
        turns[i] = lattice.turns(points[i], i);
        const Vec<D, T> offset = lattice.offset(turns[i]);
        for (int k = 0; k < D; ++k) wrapped[i][k] = points[i][k] - offset[k];
    }
}

template <int D, class T>
void Images<D, T>::make(const Lattice<D, T>& lattice, double reach, std::span<const std::uint8_t> erased,
                        std::uint64_t max_bytes, std::vector<Record<D, T>>& records) {
    constexpr double tolerance = 1e-4;  // of a box: far more than rounding, far less than the cost of an image
    constexpr double each = sizeof(Record<D, T>) + sizeof(std::uint32_t) + sizeof(Shift) + 2 * sizeof(Vec<D, T>);
    QUADRAT_ASSERT(lattice.active() && (erased.empty() || erased.size() == wrapped.size()));
    QUADRAT_ASSERT(source.empty() && shift.empty());
    for (std::size_t i = 0; i < wrapped.size(); ++i) {
        if (!erased.empty() && erased[i]) continue;
        double f[D];
        lattice.fractions(wrapped[i], f);
        std::int32_t first[3] = {0, 0, 0}, last[3] = {0, 0, 0};
        double count = 1;
        for (int k = 0; k < D; ++k) {
            if (!lattice.repeats(k)) continue;
            const double margin = reach / lattice.height(k) + tolerance;
            const double low = std::ceil(-margin - f[k]), high = std::floor(1 + margin - f[k]);
            count *= high - low + 1;
            first[k] = static_cast<std::int32_t>(std::max(low, -0x1p30));
            last[k] = static_cast<std::int32_t>(std::min(high, 0x1p30));
        }
        const double bytes = (static_cast<double>(source.size()) + count) * each;
        if (bytes > static_cast<double>(max_bytes) ||
            static_cast<double>(wrapped.size() + source.size()) + count > 0xfffffff0u)
            throw Error(ErrorKind::too_large,
                        "the radius covers so many periodic images that they need more than " +
                            std::to_string(max_bytes) + " bytes",
                        Where{.field = "periodic"});
        for (std::int32_t c = first[2]; c <= last[2]; ++c)
            for (std::int32_t b = first[1]; b <= last[1]; ++b)
                for (std::int32_t a = first[0]; a <= last[0]; ++a) {
                    if (a == 0 && b == 0 && c == 0) continue;
                    const Shift n{{a, b, c}};
                    const Vec<D, T> offset = lattice.offset(n);
                    Record<D, T> record;
                    for (int k = 0; k < D; ++k) record.v[k] = wrapped[i][k] + offset[k];
                    record.id = static_cast<std::uint32_t>(wrapped.size() + source.size());
                    records.push_back(record);
                    source.push_back(static_cast<std::uint32_t>(i));
                    shift.push_back(n);
                }
    }
}

template class Lattice<2, float>;
template class Lattice<3, float>;
template class Lattice<2, double>;
template class Lattice<3, double>;
template struct Wrapped<2, float>;
template struct Wrapped<3, float>;
template struct Wrapped<2, double>;
template struct Wrapped<3, double>;
template struct Images<2, float>;
template struct Images<3, float>;
template struct Images<2, double>;
template struct Images<3, double>;

}  // namespace quadrat::neighbors

namespace quadrat {

template <int D, class T>
Vec<D, T> wrap(const Periodic<D, T>& box, const Vec<D, T>& point) {
    const neighbors::Lattice<D, T> lattice(box);
    Vec<D, T> image = point;
    if (!lattice.active()) return image;
    const Vec<D, T> offset = lattice.offset(lattice.turns(point, 0));
    for (int k = 0; k < D; ++k) image[k] = point[k] - offset[k];
    return image;
}

template Vec<2, float> wrap(const Periodic<2, float>&, const Vec<2, float>&);
template Vec<3, float> wrap(const Periodic<3, float>&, const Vec<3, float>&);
template Vec<2, double> wrap(const Periodic<2, double>&, const Vec<2, double>&);
template Vec<3, double> wrap(const Periodic<3, double>&, const Vec<3, double>&);

}  // namespace quadrat
