// The hostile half of workloads/scenes.hpp: tables of names and makers. The makers of a table share one stream of
// random numbers and are called in its order, so a new row goes to the end, or the golden values of the tests change.
#include "workloads/scenes.hpp"

#include <limits>
#include <utility>

#include "base/random.hpp"

namespace quadrat::workloads {
namespace {

template <int D, class T>
class Maker {
  public:
    using Limits = std::numeric_limits<T>;
    static constexpr double side = D == 2 ? 12 : 6;
    static constexpr double tiny = static_cast<double>(Limits::denorm_min());

    explicit Maker(std::uint64_t seed) : random_(seed) {}

    [[nodiscard]] static Vec<D, T> all(T x) {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = x;
        return p;
    }
    [[nodiscard]] static Vec<D, T> first_axis(T x, T rest = 0) {
        Vec<D, T> p = all(rest);
        p[0] = x;
        return p;
    }
    [[nodiscard]] static Box<D, T> cube(T lo, T hi) { return {all(lo), all(hi)}; }

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
    /// So many times the smallest number of the type, fewer than `bound`.
    [[nodiscard]] T denormal(std::uint64_t bound) {
        return static_cast<T>(tiny * static_cast<double>(random_.below(bound)));
    }
    [[nodiscard]] int axis() { return static_cast<int>(random_.below(D)); }

  private:
    base::SplitMix random_;
};

template <int D, class T>
struct HostileBoxes : Maker<D, T> {
    using Base = Maker<D, T>;
    using Base::all, Base::axis, Base::box, Base::boxes, Base::cube, Base::denormal, Base::first_axis, Base::side;
    using typename Base::Limits;
    using Boxes = std::vector<Box<D, T>>;
    using Base::Base;

    Boxes empty() { return {}; }
    Boxes one() { return boxes(1, 0, 1, 0, 1); }
    Boxes two_apart() { return {cube(0, 1), cube(2, 3)}; }
    Boxes two_touching() { return {cube(0, 1), cube(1, 2)}; }
    Boxes identical() { return Boxes(150, cube(T(0.3), T(1.3))); }
    Boxes in_one_cell() { return boxes(150, 0, 0.01, 0, 0.01); }
    Boxes zero_size() {
        Boxes result = boxes(300, -side, side, 0, 0);
        for (std::size_t i = 0; i < 60; ++i) result[i] = result[299 - i];
        return result;
    }
    /// Boxes on the integer lattice: each touches its neighbours in a face, an edge or a corner only.
    Boxes touching_lattice() {
        const int edge = D == 2 ? 16 : 6;
        Boxes result(static_cast<std::size_t>(D == 2 ? edge * edge : edge * edge * edge));
        for (std::size_t i = 0; i < result.size(); ++i) {
            int rest = static_cast<int>(i);
            for (int k = 0; k < D; ++k, rest /= edge) {
                result[i].lo[k] = static_cast<T>(rest % edge - edge / 2);
                result[i].hi[k] = result[i].lo[k] + 1;
            }
        }
        return result;
    }
    /// Sizes that round to the cell's but touch three cells (docs/concepts.md, "The predicate").
    Boxes cell_borders() {
        Boxes result = boxes(100, -2, 2, 0, 1);
        for (int i = -2; i <= 2; ++i) {
            result.push_back(cube(static_cast<T>(i) - T(1e-9), static_cast<T>(i + 1)));
            result.push_back(cube(static_cast<T>(i), static_cast<T>(i + 1) + T(1e-9)));
            result.push_back(cube(T(-1e-9), T(1)));
            result.push_back(cube(T(6.64762926), T(7.47858286)));
        }
        return result;
    }
    Boxes negative() { return boxes(300, -2 * side - 1000, -1000, 0.1, 1.5); }
    Boxes huge() {
        Boxes result = boxes(250, -1e30, 1e30, 0, 3e29);
        for (int i = 0; i < 50; ++i) result.push_back(box(-1, 1, 0, 1));
        return result;
    }
    Boxes denormals() {
        Boxes result(200);
        for (auto& b : result)
            for (int k = 0; k < D; ++k) {
                b.lo[k] = denormal(40);
                b.hi[k] = b.lo[k] + denormal(8);
            }
        result.push_back(cube(-1, 1));
        return result;
    }
    Boxes twelve_decades() {
        Boxes result = boxes(150, -side, side, 1e-6, 1e-5);
        for (int i = 0; i < 100; ++i) result.push_back(box(-side, side, 0.1, 1));
        for (int i = 0; i < 30; ++i) result.push_back(box(-1e6, 1e6, 1e5, 1e6));
        return result;
    }
    Boxes outlier() {
        Boxes result = boxes(250, 0, side, 0.5, 1);
        result.push_back(cube(T(1e9), T(1e9)));
        result.push_back({first_axis(T(-3e12)), first_axis(T(-3e12), 1)});
        return result;
    }
    Boxes needles() {
        Boxes result = boxes(200, 0, side, 0.3, 1);
        for (int i = 0; i < 40; ++i) {
            Box<D, T> b = box(0, side, 0.1, 0.3);
            const int along = axis();
            b.lo[along] = T(-1e5);
            b.hi[along] = T(1e5);
            result.push_back(b);
        }
        return result;
    }
    Boxes infinite() {
        const Box<D, T> everything = cube(-Limits::infinity(), Limits::infinity());
        Boxes result = boxes(200, 0, side, 0.3, 1);
        result.push_back(everything);
        for (int k = 0; k < D; ++k) {
            Box<D, T> half = everything;
            half.hi[k] = T(1.5);
            result.push_back(half);
            half.lo[k] = half.hi[k] = T(3);
            result.push_back(half);
            Box<D, T> beam = box(0, side, 0.1, 0.3);
            beam.hi[k] = Limits::infinity();
            result.push_back(beam);
        }
        return result;
    }
    Boxes extremes() {
        return {cube(Limits::lowest(), Limits::lowest()), cube(Limits::max(), Limits::max()),
                cube(Limits::lowest(), Limits::max()), cube(T(-0.0), T(0.0)), cube(T(0.0), T(-0.0))};
    }

    struct Row {
        const char* name;
        Boxes (HostileBoxes::*make)();
    };
    static constexpr Row table[] = {
        {"empty", &HostileBoxes::empty},
        {"one", &HostileBoxes::one},
        {"two apart", &HostileBoxes::two_apart},
        {"two touching", &HostileBoxes::two_touching},
        {"identical", &HostileBoxes::identical},
        {"all in one cell", &HostileBoxes::in_one_cell},
        {"zero size", &HostileBoxes::zero_size},
        {"touching lattice", &HostileBoxes::touching_lattice},
        {"cell borders", &HostileBoxes::cell_borders},
        {"negative", &HostileBoxes::negative},
        {"huge", &HostileBoxes::huge},
        {"denormal", &HostileBoxes::denormals},
        {"sizes over twelve decades", &HostileBoxes::twelve_decades},
        {"outlier a billion cells away", &HostileBoxes::outlier},
        {"long needles", &HostileBoxes::needles},
        {"infinite", &HostileBoxes::infinite},
        {"extremes of the type", &HostileBoxes::extremes},
    };
};

}  // namespace

template <int D, class T>
std::vector<NamedBoxes<D, T>> hostile_boxes(std::uint64_t seed) {
    HostileBoxes<D, T> makers(seed);
    std::vector<NamedBoxes<D, T>> result;
    for (const auto& row : HostileBoxes<D, T>::table) result.push_back({row.name, (makers.*row.make)()});
    return result;
}

template <int D, class T>
std::vector<NamedPoints<D, T>> hostile_points(std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    constexpr double side = Maker<D, T>::side, tiny = Maker<D, T>::tiny;
    Maker<D, T> make(seed);
    std::vector<NamedPoints<D, T>> result;
    const auto add = [&](const char* name, std::vector<Vec<D, T>> points, T radius) {
        result.push_back({name, std::move(points), radius});
    };
    add("empty", {}, T(1));
    add("one", make.points(1, 0, 1), T(1));
    add("two at exactly r", {make.all(0), make.first_axis(T(0.5))}, T(0.5));
    add("coincident", std::vector<Vec<D, T>>(150, make.all(T(0.7))), T(0.1));
    add("rounded neighbours", {make.first_axis(T(-1e-9)), make.first_axis(T(0.1)), make.first_axis(T(0.2))}, T(0.1));
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
        points.push_back(make.all(T(1e12)));
        points.push_back(make.first_axis(T(-1e12), 1));
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
        std::vector<Vec<D, T>> points(200);
        for (auto& p : points)
            for (int k = 0; k < D; ++k) p[k] = make.denormal(60);
        add("denormal", points, static_cast<T>(9 * tiny));
        add("denormal, radius 1", std::move(points), T(1));
    }
    add("negative zero", {make.all(T(-0.0)), make.all(T(0.0)), make.all(Limits::denorm_min())}, T(1));
    add("extremes of the type",
        {make.all(Limits::lowest()), make.all(Limits::max()), make.all(0), make.all(Limits::max())}, Limits::max());
    return result;
}

template std::vector<NamedBoxes<2, float>> hostile_boxes(std::uint64_t);
template std::vector<NamedBoxes<3, float>> hostile_boxes(std::uint64_t);
template std::vector<NamedBoxes<2, double>> hostile_boxes(std::uint64_t);
template std::vector<NamedBoxes<3, double>> hostile_boxes(std::uint64_t);
template std::vector<NamedPoints<2, float>> hostile_points(std::uint64_t);
template std::vector<NamedPoints<3, float>> hostile_points(std::uint64_t);
template std::vector<NamedPoints<2, double>> hostile_points(std::uint64_t);
template std::vector<NamedPoints<3, double>> hostile_points(std::uint64_t);

}  // namespace quadrat::workloads
