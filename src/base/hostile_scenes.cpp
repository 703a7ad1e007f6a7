// The hostile half of base/scenes.hpp.
#include "base/scenes.hpp"

#include <limits>
#include <utility>

namespace quadrat::base {
namespace {

template <int D, class T>
class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] T between(double lo, double hi) { return static_cast<T>(random_.uniform(lo, hi)); }
    [[nodiscard]] Vec<D, T> point(double lo, double hi) {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = between(lo, hi);
        return p;
    }
    [[nodiscard]] Box<D, T> box(double lo, double hi, double size_lo, double size_hi) {
        Box<D, T> b;
        b.lo = point(lo, hi);
        for (int k = 0; k < D; ++k) b.hi[k] = b.lo[k] + between(size_lo, size_hi);
        return b;
    }
    [[nodiscard]] std::vector<Box<D, T>> boxes(std::size_t n, double lo, double hi, double size_lo, double size_hi) {
        std::vector<Box<D, T>> result(n);
        for (auto& b : result) b = box(lo, hi, size_lo, size_hi);
        return result;
    }
    [[nodiscard]] std::vector<Vec<D, T>> points(std::size_t n, double lo, double hi) {
        std::vector<Vec<D, T>> result(n);
        for (auto& p : result) p = point(lo, hi);
        return result;
    }
    [[nodiscard]] SplitMix& random() { return random_; }

  private:
    SplitMix random_;
};

template <int D, class T>
Vec<D, T> all(T x) {
    Vec<D, T> p;
    for (int k = 0; k < D; ++k) p[k] = x;
    return p;
}

template <int D, class T>
Vec<D, T> first_axis(T x, T rest = 0) {
    Vec<D, T> p = all<D, T>(rest);
    p[0] = x;
    return p;
}

}  // namespace

template <int D, class T>
std::vector<NamedBoxes<D, T>> hostile_boxes(std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    constexpr double side = D == 2 ? 12 : 6;
    Maker<D, T> make(seed);
    std::vector<NamedBoxes<D, T>> result;
    const auto add = [&](const char* name, std::vector<Box<D, T>> boxes) {
        result.push_back({name, std::move(boxes)});
    };
    add("empty", {});
    add("one", make.boxes(1, 0, 1, 0, 1));
    add("two apart", {{all<D, T>(0), all<D, T>(1)}, {all<D, T>(2), all<D, T>(3)}});
    add("two touching", {{all<D, T>(0), all<D, T>(1)}, {all<D, T>(1), all<D, T>(2)}});
    add("identical", std::vector<Box<D, T>>(150, Box<D, T>{all<D, T>(T(0.3)), all<D, T>(T(1.3))}));
    add("all in one cell", make.boxes(150, 0, 0.01, 0, 0.01));
    {
        auto boxes = make.boxes(300, -side, side, 0, 0);
        for (std::size_t i = 0; i < 60; ++i) boxes[i] = boxes[299 - i];
        add("zero size", std::move(boxes));
    }
    {
        // Boxes on the integer lattice: each touches its neighbours in a face, an edge or a corner only.
        std::vector<Box<D, T>> boxes;
        const int edge = D == 2 ? 16 : 6;
        for (int i = 0; i < (D == 2 ? edge * edge : edge * edge * edge); ++i) {
            Box<D, T> b;
            int rest = i;
            for (int k = 0; k < D; ++k, rest /= edge) {
                b.lo[k] = static_cast<T>(rest % edge - edge / 2);
                b.hi[k] = b.lo[k] + 1;
            }
            boxes.push_back(b);
        }
        add("touching lattice", std::move(boxes));
    }
    {
        // A size that rounds to the cell's but touches three cells (docs/concepts.md, "The predicate").
        std::vector<Box<D, T>> boxes = make.boxes(100, -2, 2, 0, 1);
        for (int i = -2; i <= 2; ++i) {
            boxes.push_back({all<D, T>(static_cast<T>(i) - T(1e-9)), all<D, T>(static_cast<T>(i + 1))});
            boxes.push_back({all<D, T>(static_cast<T>(i)), all<D, T>(static_cast<T>(i + 1) + T(1e-9))});
            boxes.push_back({all<D, T>(T(-1e-9)), all<D, T>(T(1))});
            boxes.push_back({all<D, T>(T(6.64762926)), all<D, T>(T(7.47858286))});
        }
        add("cell borders", std::move(boxes));
    }
    add("negative", make.boxes(300, -2 * side - 1000, -1000, 0.1, 1.5));
    {
        auto boxes = make.boxes(250, -1e30, 1e30, 0, 3e29);
        for (int i = 0; i < 50; ++i) boxes.push_back(make.box(-1, 1, 0, 1));
        add("huge", std::move(boxes));
    }
    {
        const double tiny = static_cast<double>(Limits::denorm_min());
        std::vector<Box<D, T>> boxes(200);
        for (auto& b : boxes)
            for (int k = 0; k < D; ++k) {
                b.lo[k] = static_cast<T>(tiny * static_cast<double>(make.random().below(40)));
                b.hi[k] = b.lo[k] + static_cast<T>(tiny * static_cast<double>(make.random().below(8)));
            }
        boxes.push_back({all<D, T>(-1), all<D, T>(1)});
        add("denormal", std::move(boxes));
    }
    {
        auto boxes = make.boxes(150, -side, side, 1e-6, 1e-5);
        for (int i = 0; i < 100; ++i) boxes.push_back(make.box(-side, side, 0.1, 1));
        for (int i = 0; i < 30; ++i) boxes.push_back(make.box(-1e6, 1e6, 1e5, 1e6));
        add("sizes over twelve decades", std::move(boxes));
    }
    {
        auto boxes = make.boxes(250, 0, side, 0.5, 1);
        boxes.push_back({all<D, T>(T(1e9)), all<D, T>(T(1e9))});
        boxes.push_back({first_axis<D, T>(T(-3e12)), first_axis<D, T>(T(-3e12), 1)});
        add("outlier a billion cells away", std::move(boxes));
    }
    {
        auto boxes = make.boxes(200, 0, side, 0.3, 1);
        for (int i = 0; i < 40; ++i) {
            Box<D, T> b = make.box(0, side, 0.1, 0.3);
            const int axis = static_cast<int>(make.random().below(D));
            b.lo[axis] = T(-1e5);
            b.hi[axis] = T(1e5);
            boxes.push_back(b);
        }
        add("long needles", std::move(boxes));
    }
    {
        auto boxes = make.boxes(200, 0, side, 0.3, 1);
        boxes.push_back({all<D, T>(-Limits::infinity()), all<D, T>(Limits::infinity())});
        for (int k = 0; k < D; ++k) {
            Box<D, T> half = {all<D, T>(-Limits::infinity()), all<D, T>(Limits::infinity())};
            half.hi[k] = T(1.5);
            boxes.push_back(half);
            half.lo[k] = half.hi[k] = T(3);
            boxes.push_back(half);
            Box<D, T> beam = make.box(0, side, 0.1, 0.3);
            beam.hi[k] = Limits::infinity();
            boxes.push_back(beam);
        }
        add("infinite", std::move(boxes));
    }
    add("extremes of the type", {{all<D, T>(Limits::lowest()), all<D, T>(Limits::lowest())},
                                 {all<D, T>(Limits::max()), all<D, T>(Limits::max())},
                                 {all<D, T>(Limits::lowest()), all<D, T>(Limits::max())},
                                 {all<D, T>(T(-0.0)), all<D, T>(T(0.0))},
                                 {all<D, T>(T(0.0)), all<D, T>(T(-0.0))}});
    return result;
}

template <int D, class T>
std::vector<NamedPoints<D, T>> hostile_points(std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    constexpr double side = D == 2 ? 12 : 6;
    Maker<D, T> make(seed);
    std::vector<NamedPoints<D, T>> result;
    const auto add = [&](const char* name, std::vector<Vec<D, T>> points, T radius) {
        result.push_back({name, std::move(points), radius});
    };
    add("empty", {}, T(1));
    add("one", make.points(1, 0, 1), T(1));
    add("two at exactly r", {all<D, T>(0), first_axis<D, T>(T(0.5))}, T(0.5));
    add("coincident", std::vector<Vec<D, T>>(150, all<D, T>(T(0.7))), T(0.1));
    add("rounded neighbours", {first_axis<D, T>(T(-1e-9)), first_axis<D, T>(T(0.1)), first_axis<D, T>(T(0.2))}, T(0.1));
    {
        std::vector<Vec<D, T>> points;
        for (int i = 0; i < (D == 2 ? 400 : 512); ++i) {
            const int edge = D == 2 ? 20 : 8;
            Vec<D, T> p;
            int rest = i;
            for (int k = 0; k < D; ++k, rest /= edge) p[k] = static_cast<T>(rest % edge - edge / 2) * T(0.1);
            points.push_back(p);
        }
        add("on cell borders, r the pitch", points, T(0.1));
        add("on cell borders, r twice the pitch", std::move(points), T(0.2));
    }
    add("negative", make.points(300, -1000 - 2 * side, -1000), T(1));
    add("radius beyond the extent", make.points(150, -1, 1), T(1000));
    {
        auto points = make.points(250, 0, side);
        points.push_back(all<D, T>(T(1e12)));
        points.push_back(first_axis<D, T>(T(-1e12), 1));
        add("outlier 1e12 radii away", std::move(points), T(1));
    }
    {
        auto points = make.points(200, -1e30, 1e30);
        for (int i = 0; i < 50; ++i) points.push_back(make.point(-1, 1));
        add("coordinates of 1e30", points, T(3e29));
        add("coordinates of 1e30, radius 1", points, T(1));
        add("coordinates of 1e30, radius 1e-30", std::move(points), T(1e-30));
    }
    add("radius 1e-30", make.points(200, 0, 6e-30), T(1e-30));
    {
        const double tiny = static_cast<double>(Limits::denorm_min());
        std::vector<Vec<D, T>> points(200);
        for (auto& p : points)
            for (int k = 0; k < D; ++k) p[k] = static_cast<T>(tiny * static_cast<double>(make.random().below(60)));
        add("denormal", points, static_cast<T>(9 * tiny));
        add("denormal, radius 1", std::move(points), T(1));
    }
    add("negative zero", {all<D, T>(T(-0.0)), all<D, T>(T(0.0)), all<D, T>(Limits::denorm_min())}, T(1));
    add("extremes of the type",
        {all<D, T>(Limits::lowest()), all<D, T>(Limits::max()), all<D, T>(0), all<D, T>(Limits::max())}, Limits::max());
    return result;
}

#define QUADRAT_INSTANTIATE(D, T)                                              \
    template std::vector<NamedBoxes<D, T>> hostile_boxes<D, T>(std::uint64_t); \
    template std::vector<NamedPoints<D, T>> hostile_points<D, T>(std::uint64_t);
QUADRAT_INSTANTIATE(2, float)
QUADRAT_INSTANTIATE(2, double)
QUADRAT_INSTANTIATE(3, float)
QUADRAT_INSTANTIATE(3, double)
#undef QUADRAT_INSTANTIATE

}  // namespace quadrat::base
