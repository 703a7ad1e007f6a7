#include "broad_phase/sorted/crowded_cells.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t first_look_least = 256, first_look_most = 4096;  // members that are looked at to see a crowd
constexpr std::size_t one_in = 100;   // objects, where dense and wrapped grids are compared
constexpr double crowded_from = 64;   // others that an object shares its cell with; a grid more costs less than these
constexpr std::size_t trimmed = 256;  // of so many, the first and the last do not count where bounds are found
// A grid takes the place of another one, others being what an object shares its cell with (decision 0086, which says
// what was measured; of these numbers only that the choice no longer flipped from one step to the next):
//   wrapped      where the one that spans the world has half as many again, and `few_others` more: with fewer there is
//                nothing to gain, and rows of a wrapped grid hold boxes from all over the world;
//   for a crowd  where that leaves it fewer by a tenth: what lies on top of each other shares a cell in any grid, and
//                the tenth is what estimates from a sample may differ by;
//   many grids   where they halve the others of all, for each is searched against each.
constexpr double wrapped_spares = 1.5, few_others = 0.4, crowd_keeps = 0.9, many_spare = 2;

// Cells as long as wide: finer bins along x do not keep neighbours apart. Nothing for what the grid does not take.
template <int D, class T>
std::optional<std::array<std::int32_t, D>> cell_of(const GridShape<D, T>& shape, const Box<D, T>& box) {
    std::int32_t c[D];
    if (!shape.quantise(box, c)) return {};
    std::array<std::int32_t, D> cell;
    std::copy(c, c + D, cell.begin());
    cell[0] /= shape.axis[0].reach;
    return cell;
}

struct Crowd {
    double others = 0;      // that an object shares its cell with
    std::size_t worst = 0;  // a member in the fullest cell
};

// Looks at `count` of the members, each in the first of the grids that takes it.
template <int D, class T>
Crowd crowd(std::span<const Box<D, T>> sample, std::span<const std::uint32_t> members,
            std::span<const GridShape<D, T>> grids, double share, std::size_t count) {
    QUADRAT_ASSERT(count != 0 && count <= members.size());
    std::vector<std::pair<std::uint64_t, std::uint32_t>> cells;
    cells.reserve(count);
    const double stride = static_cast<double>(members.size()) / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t member = members[static_cast<std::size_t>(static_cast<double>(i) * stride)];
        const auto taken = std::find_if(grids.begin(), grids.end(), [&](const GridShape<D, T>& g) {
            return cell_of(g, sample[member]).has_value();
        });
        if (taken == grids.end()) continue;
        const auto cell = *cell_of(*taken, sample[member]);
        auto key = static_cast<std::uint64_t>(taken - grids.begin());
        for (int k = D - 1; k >= 0; --k) {
            // As the grid stores them: what lies in one place of a wrapped grid is in one cell.
            const std::int32_t stored = cell[static_cast<std::size_t>(k)] & (k > 0 ? taken->axis[k].mask : -1);
            key = (key ^ static_cast<std::uint32_t>(stored)) * 0x9e3779b97f4a7c15u;
            key ^= key >> 29;
        }
        cells.emplace_back(key, member);
    }
    std::sort(cells.begin(), cells.end());
    Crowd found;
    double pairs = 0;
    std::size_t run = 0, longest = 0;
    for (std::size_t i = 1; i < cells.size(); ++i) {
        run = cells[i].first == cells[i - 1].first ? run + 1 : 0;
        pairs += static_cast<double>(run);
        if (run > longest) {
            longest = run;
            found.worst = cells[i].second;
        }
    }
    if (!cells.empty()) found.others = 2 * pairs / static_cast<double>(cells.size()) * share * stride;
    return found;
}

template <int D, class T>
double others_in(std::span<const Box<D, T>> sample, std::span<const std::uint32_t> members,
                 const GridShape<D, T>& shape, double share, std::size_t count) {
    return crowd<D, T>(sample, members, std::span(&shape, 1), share, count).others;
}

template <int D, class T>
GridShape<D, T> best_shape(std::span<const Box<D, T>> sample, std::span<const std::uint32_t> members,
                           const GridDemand<D, T>& demand, double share) {
    const GridShape<D, T> dense = GridShape<D, T>::fitting(demand, Overflow::enlarge);
    const GridShape<D, T> hashed = GridShape<D, T>::fitting(demand, Overflow::wrap);
    if (!hashed.wrapped()) return dense;
    // Cells of a grid that is wrapped are small, but its rows hold boxes from all over the world.
    const std::size_t count = std::min(members.size(), std::max(first_look_least, demand.objects / one_in));
    const double others = others_in(sample, members, dense, share, count);
    return others > wrapped_spares * others_in(sample, members, hashed, share, count) + few_others ? hashed : dense;
}

template <int D, class T>
struct Part {
    std::vector<std::uint32_t> members;
    GridDemand<D, T> demand;
    Box<D, T> inside;
};

// The members in and around the fullest cell, without those few that would make their bounds much larger.
template <int D, class T>
Part<D, T> part_around(std::span<const Box<D, T>> sample, std::span<const std::uint32_t> members,
                       const GridShape<D, T>& shape, std::size_t worst) {
    const auto middle = cell_of(shape, sample[worst]);
    QUADRAT_ASSERT(middle.has_value());  // a member of the grid
    std::vector<std::uint32_t> near;
    for (const std::uint32_t m : members) {
        const auto cell = cell_of(shape, sample[m]);
        bool beside = cell.has_value();
        for (std::size_t k = 0; beside && k < D; ++k) beside = std::abs(std::int64_t{(*cell)[k]} - (*middle)[k]) <= 1;
        if (beside) near.push_back(m);
    }
    Part<D, T> part;
    Box<D, T> corners;
    const std::size_t cut = near.size() / trimmed;
    std::vector<T> values(near.size());
    const auto ranked = [&](std::size_t rank, auto&& value) {
        for (std::size_t i = 0; i < near.size(); ++i) values[i] = value(sample[near[i]]);
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
        return values[rank];
    };
    for (int k = 0; k < D; ++k) {
        const auto lo = [k](const Box<D, T>& b) { return b.lo[k]; };
        corners.lo[k] = ranked(cut, lo);
        corners.hi[k] = ranked(near.size() - 1 - cut, lo);
        part.demand.largest[k] = ranked(near.size() - 1 - cut, [k](const Box<D, T>& b) { return b.hi[k] - b.lo[k]; });
        const T margin = (corners.hi[k] - corners.lo[k]) / 8 + 2 * part.demand.largest[k];
        corners.lo[k] -= margin;
        corners.hi[k] += margin;
    }
    part.inside = {corners.lo, corners.hi};
    for (int k = 0; k < D; ++k) part.inside.hi[k] += 2 * part.demand.largest[k];
    GridDemand<D, T> seen;
    for (const std::uint32_t m : members) {
        const Box<D, T>& b = sample[m];
        bool in = true;
        for (int k = 0; k < D; ++k)
            in = in && b.lo[k] >= corners.lo[k] && b.lo[k] <= corners.hi[k] &&
                 b.hi[k] - b.lo[k] <= part.demand.largest[k];
        if (!in) continue;
        seen.include(b, part.members.empty());
        part.members.push_back(m);
    }
    part.demand.first_corner = seen.first_corner;
    part.demand.last_corner = seen.last_corner;
    for (int k = 0; k < D; ++k) part.demand.largest[k] *= T(1 + 0x1p-6);
    return part;
}

template <int D, class T>
GridDemand<D, T> demand_of(std::span<const Box<D, T>> sample, std::span<const std::uint32_t> members, double share) {
    GridDemand<D, T> demand;
    demand.objects = static_cast<std::size_t>(std::ceil(share * static_cast<double>(members.size())));
    for (std::size_t i = 0; i < members.size(); ++i) demand.include(sample[members[i]], i == 0);
    return demand;
}

// Appends a grid for each crowd and one for the rest.
template <int D, class T>
void refine(std::span<const Box<D, T>> sample, std::vector<std::uint32_t> members, GridDemand<D, T> demand,
            double share, std::size_t room, std::vector<GridShape<D, T>>& grids) {
    QUADRAT_ASSERT(room != 0);
    QUADRAT_ASSERT(std::is_sorted(members.begin(), members.end()));  // some of them are looked for
    const std::size_t last = grids.size() + room;
    for (;;) {
        const GridShape<D, T> shape = best_shape<D, T>(sample, members, demand, share);
        const Crowd all = crowd<D, T>(sample, members, std::span(&shape, 1), share, members.size());
        Part<D, T> part;
        if (grids.size() + 1 < last && all.others > crowded_from)
            part = part_around<D, T>(sample, members, shape, all.worst);
        const std::size_t count = part.members.size();
        if (count == 0 || count == members.size()) return grids.push_back(shape);
        part.demand.objects = static_cast<std::size_t>(std::ceil(share * static_cast<double>(count)));
        const GridShape<D, T> own = best_shape<D, T>(sample, part.members, part.demand, share);
        // Where many lie on top of each other no grid keeps them apart.
        if (!(others_in<D, T>(sample, part.members, own, share, count) <
              crowd_keeps * others_in<D, T>(sample, part.members, shape, share, count)))
            return grids.push_back(shape);
        std::erase_if(members,
                      [&](std::uint32_t m) { return std::binary_search(part.members.begin(), part.members.end(), m); });
        const std::size_t first = grids.size();
        refine<D, T>(sample, std::move(part.members), part.demand, share, last - first - 1, grids);
        for (std::size_t g = first; g < grids.size(); ++g)
            if (!grids[g].bounded()) grids[g].inside = part.inside;
        // Sizes that the sample missed among the rest must still find room.
        const Vec<D, T> largest = demand.largest;
        demand = demand_of<D, T>(sample, members, share);
        demand.largest = largest;
    }
}

}  // namespace

template <int D, class T>
void CrowdedCells<D, T>::spread_out(std::span<const Box<D, T>> sample, std::vector<std::uint32_t> members,
                                    const GridDemand<D, T>& demand, double share, std::size_t room,
                                    std::vector<GridShape<D, T>>& grids) {
    const auto root = static_cast<std::size_t>(std::sqrt(share * static_cast<double>(members.size())));
    const std::size_t look = std::min(members.size(), std::clamp(root, first_look_least, first_look_most));
    const GridShape<D, T> one = best_shape<D, T>(sample, members, demand, share);
    std::vector<GridShape<D, T>> many;
    if (room > 1 && others_in<D, T>(sample, members, one, share, look) > crowded_from) {
        std::sort(members.begin(), members.end());  // refine looks for some of them
        refine<D, T>(sample, members, demand, share, room, many);
    }
    if (many.size() > 1 && many_spare * crowd<D, T>(sample, members, many, share, members.size()).others <
                               others_in<D, T>(sample, members, one, share, members.size()))
        grids.insert(grids.end(), many.begin(), many.end());
    else
        grids.push_back(one);
}

template class CrowdedCells<2, float>;
template class CrowdedCells<3, float>;
template class CrowdedCells<2, double>;
template class CrowdedCells<3, double>;

}  // namespace quadrat::broad_phase
