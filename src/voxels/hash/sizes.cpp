#include "voxels/hash/sizes.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace quadrat::voxels {
namespace {

constexpr double longest_row = 32768;  // of a table that is wide on one axis alone

// Candidate sizes around the wanted edge, accepted by `fits`.
template <class Fits>
std::vector<std::uint32_t> candidates(double edge, double spread, Fits&& fits) {
    const double margin = std::max(3.0, edge * spread);
    const auto lo = static_cast<std::uint32_t>(std::max(1.0, std::floor(edge - margin)));
    const auto hi = static_cast<std::uint32_t>(std::min<double>(largest_size, std::ceil(edge + margin)));
    std::vector<std::uint32_t> out;
    for (std::uint32_t s = lo; s <= hi; ++s)
        if (fits(s)) out.push_back(s);
    return out;
}

struct Shape {
    Sizes sizes{1, 1, 1};
    std::uint64_t cells = 0;
    std::uint32_t spread = 0;
};

// The best product of one candidate per axis: nearest to `cells` from the allowed side, then the most cubic.
Shape best_shape(int dims, std::uint64_t cells, bool below, const std::vector<std::uint32_t> (&axis)[3]) {
    Shape best;
    const auto consider = [&](const Sizes& s) {
        const std::uint64_t have = product(s);
        if (below ? have > cells : have < cells) return;
        const auto [lo, hi] = std::minmax_element(s.begin(), s.begin() + dims);
        const Shape now{s, have, *hi - *lo};
        const bool closer = below ? now.cells > best.cells : now.cells < best.cells;
        if (best.cells == 0 || closer || (now.cells == best.cells && now.spread < best.spread)) best = now;
    };
    const auto last_axis = [&](std::uint64_t rest, const std::vector<std::uint32_t>& list, auto&& use) {
        const double want = static_cast<double>(cells) / static_cast<double>(rest);
        auto it = std::lower_bound(list.begin(), list.end(), want,
                                   [](std::uint32_t s, double w) { return static_cast<double>(s) < w; });
        if (it != list.end()) use(*it);
        if (it != list.begin()) use(*std::prev(it));
    };
    for (const std::uint32_t x : axis[0]) {
        if (dims == 2) {
            last_axis(x, axis[1], [&](std::uint32_t y) { consider({x, y, 1}); });
            continue;
        }
        for (const std::uint32_t y : axis[1])
            last_axis(std::uint64_t{x} * y, axis[2], [&](std::uint32_t z) { consider({x, y, z}); });
    }
    return best;
}

double edge_of(int dims, double cells) {
    return dims == 1 ? cells : dims == 2 ? std::sqrt(cells) : std::cbrt(cells);
}

}  // namespace

Folding folding(int dims, std::uint64_t cells, const Sizes& extent) {
    Folding f{{}, dims};
    auto rest = static_cast<double>(cells);
    for (bool again = true; again && f.wide > 1;) {
        again = false;
        for (int a = 0; a < dims && f.wide > 1; ++a) {
            const std::uint32_t e = extent[static_cast<std::size_t>(a)];
            std::uint32_t& thin = f.thin[static_cast<std::size_t>(a)];
            // The last axis may not become longer than a size can be.
            if (thin != 0 || e == 0 || e > edge_of(f.wide, rest) || (f.wide == 2 && rest / e > longest_row)) continue;
            thin = e;
            rest = std::max(1.0, rest / e);
            --f.wide;
            again = true;
        }
    }
    return f;
}

// Of the table. Each variant has a third of a percent more cells, an eighth of the slack of compact construction and
// enough for another shape. Candidates within 15 % of the edge give at least one product near the wanted one for every
// number of cells (Sizes.AreCoprimeAndLargeEnough: within 3 %); below an edge of 12, even sizes are allowed as well.
Sizes table_sizes(int dims, std::uint64_t cells, unsigned variant, const Sizes& extent) {
    QUADRAT_ASSERT(dims == 2 || dims == 3);
    cells = std::max<std::uint64_t>(cells + cells * variant / 300, 1);
    const Folding fold = folding(dims, cells, extent);
    const double edge = edge_of(fold.wide, std::ceil(static_cast<double>(cells) / fold.cells()));
    const auto list = candidates(edge, 0.15, [&](std::uint32_t s) { return edge < 12 || s % 2 == 1; });
    std::vector<std::uint32_t> axis[3];
    for (std::size_t a = 0; a < 3; ++a) axis[a] = fold.thin[a] ? std::vector{fold.thin[a]} : list;
    return best_shape(dims, cells, false, axis).sizes;
}

Sizes offset_sizes(int dims, std::uint64_t cells, const Sizes& table, const Folding& fold, const Sizes& extent,
                   bool below) {
    QUADRAT_ASSERT((dims == 2 || dims == 3) && fold.wide >= 1 && fold.wide <= dims);
    cells = std::max<std::uint64_t>(cells, 1);
    const double edge = edge_of(fold.wide, static_cast<double>(cells));
    // Rules are dropped one by one where the size is too small to have a choice: first the near sizes with all rules,
    // then wider ones. A result may be 10 % from the wanted number, below an edge of 8, where the next size is far, 50.
    // The spreads were set by hand, not measured apart.
    for (int strict = 3; strict >= 0; --strict)
        for (const double spread : {0.08, 0.25, 0.6}) {
            std::vector<std::uint32_t> axis[3];
            for (int a = 0; a < dims; ++a) {
                axis[a] = {1};
                if (fold.thin[static_cast<std::size_t>(a)]) continue;
                axis[a] = candidates(edge, spread, [&](std::uint32_t s) {
                    const std::uint32_t m = table[a];
                    if (std::gcd(m, s) != 1) return false;
                    if (strict >= 1 && std::uint64_t{m} * s < extent[a]) return false;
                    if (strict >= 2 && s > 2 && (m % s == 1 || m % s == s - 1)) return false;
                    return strict < 3 || s < 8 || s % 2 == 1;
                });
            }
            const Shape best = best_shape(dims, cells, below, axis);
            const auto ratio = static_cast<double>(best.cells) / static_cast<double>(cells);
            const double most = edge < 8 ? 1.5 : 1.1;
            if (best.cells != 0 && (strict == 0 || (ratio < most && ratio > 2 - most))) return best.sizes;
        }
    // Nothing coprime nearby (only for tiny tables): sizes of 1 are coprime to all.
    Sizes one{1, 1, 1};
    if (!below) {
        for (int a = 0; a < dims; ++a) {
            if (fold.thin[static_cast<std::size_t>(a)]) continue;
            std::uint32_t s = static_cast<std::uint32_t>(std::ceil(edge));
            while (std::gcd(s, table[a]) != 1) ++s;
            one[a] = s;
        }
    }
    return one;
}

}  // namespace quadrat::voxels
