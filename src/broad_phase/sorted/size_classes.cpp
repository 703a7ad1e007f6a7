#include "broad_phase/sorted/size_classes.hpp"

#include "base/assert.hpp"
#include "broad_phase/sorted/crowded_cells.hpp"
#include "broad_phase/sorted/kernels/half_stencil.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t max_shapes = 16;
constexpr double cost_of_columns = 40;  // of an object, in the units of Model, where there are several grids

template <int D, class T>
struct SizeClass {
    std::vector<std::uint32_t> members;  // positions in the sample
    GridDemand<D, T> demand;
};

template <int D, class T>
GridDemand<D, T> join(const GridDemand<D, T>& a, const GridDemand<D, T>& b) {
    GridDemand<D, T> both = a;
    both.objects += b.objects;
    for (int k = 0; k < D; ++k) {
        both.first_corner[k] = std::min(a.first_corner[k], b.first_corner[k]);
        both.last_corner[k] = std::max(a.last_corner[k], b.last_corner[k]);
        both.largest[k] = std::max(a.largest[k], b.largest[k]);
    }
    return both;
}

// The numbers of a grid that the model needs; lengths in units of the caller, boxes taken as evenly spread.
template <int D, class T>
struct Model {
    double objects;
    double extent[D], size[D], edge[D], cells[D];
    double per_cell = 0;

    explicit Model(const GridDemand<D, T>& demand) : objects(static_cast<double>(demand.objects)) {
        double left = std::max(64.0, 2 * objects), total = 1;
        for (int k = D - 1; k >= 0; --k) {
            size[k] = std::max(double(demand.largest[k]), double(std::numeric_limits<T>::denorm_min()));
            extent[k] = std::max(2 * (double(demand.last_corner[k]) / 2 - double(demand.first_corner[k]) / 2), size[k]);
            cells[k] = std::max(1.0, std::min(extent[k] / size[k], std::pow(left, 1.0 / (k + 1))));
            left /= cells[k];
            edge[k] = extent[k] / cells[k];
            total *= cells[k];
        }
        per_cell = objects / total;
    }

    // Of about a third of a nanosecond: the constants come from timing the kernels, with AVX2 and AVX-512 (decision
    // 0083).
    [[nodiscard]] double within() const { return objects * (40 + rows_to_search<D> * (8 + per_cell)); }

    // Cost of finding the pairs of a (homes) and b.
    [[nodiscard]] static double between(const Model& a, const Model& b) {
        const double run = std::min(8 / std::max(a.per_cell, 1e-9) * a.edge[0], a.extent[0]) + a.size[0];
        double rows = 1, kept = std::min(1.0, (run + b.size[0]) / b.extent[0]);
        double candidates = kept * b.objects;
        for (int k = 1; k < D; ++k) {
            const double reach = a.edge[k] + a.size[k];
            const double covered = std::min(b.cells[k], reach / b.edge[k] + 2);
            rows *= covered;
            candidates *= covered / b.cells[k];
            kept *= std::min(1.0, (reach + b.size[k]) / b.extent[k]);
        }
        return a.objects / 8 * (108 + 11 * rows + 1.8 * candidates) + a.objects * (36 + 1.1 * kept * b.objects);
    }
};

template <int D, class T>
double volume(const GridDemand<D, T>& demand) {
    double v = 1;
    for (int k = 0; k < D; ++k) v *= std::max(double(demand.largest[k]), 1e-300);
    return v;
}

template <int D, class T>
struct Costs {
    explicit Costs(const GridDemand<D, T>& demand) : model(demand), volume(broad_phase::volume(demand)) {}
    Model<D, T> model;
    double volume;
};

// The smaller boxes look for the larger ones.
template <int D, class T>
double cross_cost(const Costs<D, T>& a, const Costs<D, T>& b) {
    return a.volume <= b.volume ? Model<D, T>::between(a.model, b.model) : Model<D, T>::between(b.model, a.model);
}

// floor(log2(x)) of a normal x > 0; all subnormals count as one. The sign is 0, so a shift leaves the exponent:
//   float   s eeeeeeee mmm..m (23)     double   s eeeeeeeeeee mmm..m (52)
int exponent(float x) {
    std::uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>(bits >> 23) - 127;
}
int exponent(double x) {
    std::uint64_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<int>(bits >> 52) - 1023;
}

template <int D, class T>
std::vector<SizeClass<D, T>> shapes_of(std::span<const Box<D, T>> sample, std::size_t objects) {
    std::map<std::array<int, D>, SizeClass<D, T>> by_shape;
    auto last = by_shape.end();  // many boxes have the shape of the one before
    for (std::uint32_t i = 0; i < sample.size(); ++i) {
        std::array<int, D> key;
        for (int k = 0; k < D; ++k) {
            const T size = sample[i].hi[k] - sample[i].lo[k];
            // Classes by powers of four, cut at sizes that nobody chooses: a million edges of 1, as differences of
            // rounded coordinates, lie on both sides of 1.
            key[k] = size > 0 ? exponent(size * T(1.37)) >> 1 : std::numeric_limits<int>::min();
        }
        bool same = last != by_shape.end();
        for (int k = 0; same && k < D; ++k) same = last->first[k] == key[k];
        if (!same) last = by_shape.try_emplace(key).first;
        SizeClass<D, T>& shape = last->second;
        shape.demand.include(sample[i], shape.members.empty());
        shape.members.push_back(i);
    }
    std::vector<SizeClass<D, T>> shapes;
    const double scale = static_cast<double>(objects) / static_cast<double>(std::max<std::size_t>(1, sample.size()));
    for (auto& [key, shape] : by_shape) {
        shape.demand.objects = static_cast<std::size_t>(std::ceil(static_cast<double>(shape.members.size()) * scale));
        shapes.push_back(std::move(shape));
    }
    return shapes;
}

template <int D, class T>
void merge(std::vector<SizeClass<D, T>>& classes, std::size_t a, std::size_t b) {
    classes[a].demand = join(classes[a].demand, classes[b].demand);
    classes[a].members.insert(classes[a].members.end(), classes[b].members.begin(), classes[b].members.end());
    classes.erase(classes.begin() + static_cast<std::ptrdiff_t>(b));
}

template <int D, class T>
void sort_by_volume(std::vector<SizeClass<D, T>>& classes) {
    std::sort(classes.begin(), classes.end(),
              [](const auto& a, const auto& b) { return volume(a.demand) < volume(b.demand); });
}

// Too many shapes: joins the rarest with the one nearest in volume.
template <int D, class T>
void join_rare(std::vector<SizeClass<D, T>>& classes) {
    while (classes.size() > max_shapes) {
        sort_by_volume(classes);
        std::size_t rare = 0;
        for (std::size_t i = 1; i + 1 < classes.size(); ++i)
            if (classes[i].demand.objects < classes[rare].demand.objects) rare = i;
        merge(classes, rare, rare + 1);
    }
}

// Joins the two classes whose union saves most, until none saves anything. The costs between classes are kept: a union
// changes those of one class only.
template <int D, class T>
class Merging {
  public:
    explicit Merging(std::vector<SizeClass<D, T>>& classes) : classes_(classes) {
        for (const auto& c : classes) costs_.emplace_back(c.demand);
        cross_.assign(classes.size(), std::vector<double>(classes.size(), 0));
        for (std::size_t a = 0; a < classes.size(); ++a)
            for (std::size_t b = a + 1; b < classes.size(); ++b)
                cross_[a][b] = cross_[b][a] = cross_cost(costs_[a], costs_[b]);
    }

    /// Joins one pair; false if that saves nothing.
    bool step() {
        double best = 0;
        std::size_t best_a = 0, best_b = 0;
        for (std::size_t a = 0; a < classes_.size(); ++a)
            for (std::size_t b = a + 1; b < classes_.size(); ++b)
                if (const double gain = gain_of(a, b); gain > best) {
                    best = gain;
                    best_a = a;
                    best_b = b;
                }
        if (best > 0) apply(best_a, best_b);
        return best > 0;
    }

    /// Cost of all pairs, of `objects` objects.
    [[nodiscard]] double total(std::size_t objects) const {
        double sum = costs_.size() > 1 ? cost_of_columns * static_cast<double>(objects) : 0;
        for (std::size_t a = 0; a < costs_.size(); ++a) {
            sum += costs_[a].model.within();
            for (std::size_t b = a + 1; b < costs_.size(); ++b) sum += cross_[a][b];
        }
        return sum;
    }

  private:
    [[nodiscard]] double gain_of(std::size_t a, std::size_t b) const {
        const Costs<D, T> both(join(classes_[a].demand, classes_[b].demand));
        double gain = costs_[a].model.within() + costs_[b].model.within() + cross_[a][b] - both.model.within();
        for (std::size_t c = 0; c < classes_.size(); ++c)
            if (c != a && c != b) gain += cross_[a][c] + cross_[b][c] - cross_cost(both, costs_[c]);
        return gain;
    }

    void apply(std::size_t a, std::size_t b) {
        QUADRAT_ASSERT(a < b && b < classes_.size());
        const auto at = static_cast<std::ptrdiff_t>(b);
        merge(classes_, a, b);
        costs_[a] = Costs<D, T>(classes_[a].demand);
        costs_.erase(costs_.begin() + at);
        cross_.erase(cross_.begin() + at);
        for (auto& row : cross_) row.erase(row.begin() + at);
        for (std::size_t c = 0; c < classes_.size(); ++c)
            if (c != a) cross_[a][c] = cross_[c][a] = cross_cost(costs_[a], costs_[c]);
    }

    std::vector<SizeClass<D, T>>& classes_;
    std::vector<Costs<D, T>> costs_;
    std::vector<std::vector<double>> cross_;
};

template <int D, class T>
void join_what_saves(std::vector<SizeClass<D, T>>& classes, std::size_t objects) {
    Merging<D, T> merging(classes);
    while (classes.size() > 1 && merging.step()) {
    }
    if (classes.size() == 1) return;
    // Two of many may gain nothing where all of them do: sticks in three directions.
    GridDemand<D, T> all = classes[0].demand;
    for (std::size_t c = 1; c < classes.size(); ++c) all = join(all, classes[c].demand);
    if (Model<D, T>(all).within() <= merging.total(objects))
        while (classes.size() > 1) merge(classes, 0, classes.size() - 1);
}

}  // namespace

template <int D, class T>
std::vector<GridShape<D, T>> SizeClasses<D, T>::choose(std::span<const Box<D, T>> sample, std::size_t objects) {
    QUADRAT_ASSERT(sample.size() <= objects);
    if (sample.empty()) return {};
    std::vector<SizeClass<D, T>> classes = shapes_of(sample, objects);
    join_rare(classes);
    join_what_saves(classes, objects);
    sort_by_volume(classes);

    std::vector<GridShape<D, T>> grids;
    const double share = static_cast<double>(objects) / static_cast<double>(sample.size());
    for (std::size_t c = 0; c < classes.size(); ++c) {
        // The sample may have missed the very largest.
        if (sample.size() < objects)
            for (int k = 0; k < D; ++k) classes[c].demand.largest[k] *= T(1 + 0x1p-6);
        const std::size_t room = max_shapes - grids.size() - (classes.size() - c - 1);
        CrowdedCells<D, T>::spread_out(sample, std::move(classes[c].members), classes[c].demand, share, room, grids);
    }
    return grids;
}

template class SizeClasses<2, float>;
template class SizeClasses<3, float>;
template class SizeClasses<2, double>;
template class SizeClasses<3, double>;

}  // namespace quadrat::broad_phase
