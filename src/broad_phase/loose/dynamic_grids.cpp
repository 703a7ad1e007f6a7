#include "broad_phase/loose/dynamic_grids.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace quadrat::broad_phase {
namespace {

constexpr double smallest_cell = 1e-300, largest_cell = 1e300;

// The square root in the first cell size puts the first object in the middle of its class (HHG 3.3.2).
double cell_size(double first, double factor, std::int32_t exponent) {
    const double size = first * std::pow(factor, exponent);
    return std::clamp(size, smallest_cell, largest_cell);
}

// Shrinking starts at this share of the load at which a grid has just grown.
constexpr std::size_t shrink_share = 16;
constexpr int largest_bits = 30;
constexpr std::size_t empty_grids = 2;  // that stay: an object that changes its size to and fro finds its grid again

int bits_for(std::uint32_t cells) {
    int bits = 2;  // fewer cells would be neighbours of themselves
    while ((1u << bits) < cells) ++bits;
    return bits;
}

}  // namespace

template <int D, class T>
std::size_t DynamicGrids<D, T>::cells() const {
    std::size_t sum = 0;
    for (const Level& level : levels_) sum += level.head.size();
    return sum;
}

template <int D, class T>
std::size_t DynamicGrids<D, T>::bytes() const {
    std::size_t sum = node_.bytes() + levels_.capacity() * sizeof(Level);
    for (const Level& level : levels_)
        sum += (level.head.capacity() + level.members.capacity()) * sizeof(level.head[0]);
    return sum;
}

template <int D, class T>
bool DynamicGrids<D, T>::holds(std::uint32_t slot) const {
    if (slot >= node_.size()) return false;
    const Node& node = node_[slot];
    return std::any_of(levels_.begin(), levels_.end(), [&](const Level& level) {
        return level.exponent == node.exponent && node.position < level.members.size() &&
               level.members[node.position] == slot;
    });
}

template <int D, class T>
void DynamicGrids<D, T>::reserve_slots(std::size_t count) {
    if (count > node_.size()) node_.resize_keep(count);
}

// Only occupied cells are touched (HHG 2.6). Grids that were in use keep their cells, the others go.
template <int D, class T>
void DynamicGrids<D, T>::clear() {
    std::erase_if(levels_, [](const Level& level) { return level.members.empty(); });
    for (Level& level : levels_) {
        for (const std::uint32_t s : level.members) level.head[node_[s].cell] = none;
        level.members.clear();
    }
    if (levels_.empty()) first_size_ = 0;
    size_ = 0;
}

template <int D, class T>
typename DynamicGrids<D, T>::Level& DynamicGrids<D, T>::level_with(std::int32_t exponent) {
    auto at = std::lower_bound(levels_.begin(), levels_.end(), exponent,
                               [](const Level& level, std::int32_t e) { return level.exponent < e; });
    if (at != levels_.end() && at->exponent == exponent) return *at;
    Level level;
    level.exponent = exponent;
    if (exponent == of_points) {
        level.quantiser = cells::Quantiser<D>(1.0);  // until there are some
    } else {
        level.quantiser = cells::Quantiser<D>(cell_size(first_size_, options_.factor, exponent));
        level.smaller = cell_size(first_size_, options_.factor, exponent - 1);
    }
    const int bits = bits_for(std::max(options_.initial_cells, options_.min_cells));
    std::fill_n(level.bits, D, bits);
    level.head.assign(std::size_t{1} << (D * bits), none);
    // HHG 3.9 reserves so many places in every cell; cells are lists here, and the grid reserves them once.
    level.members.reserve(options_.row_reserve != 0
                              ? options_.row_reserve
                              : static_cast<std::size_t>(std::min(2 * std::pow(options_.factor, D), 1024.0)));
    return *levels_.insert(at, std::move(level));
}

// The smallest exponent whose cells are at least as large as the size: HHG's rule (3.3.1) up to equality. Logarithms,
// because a quotient may underflow, and then steps, because they round.
template <int D, class T>
std::int32_t DynamicGrids<D, T>::exponent_for(double size) const {
    QUADRAT_ASSERT(size > 0 && first_size_ > 0);
    const auto edge = [&](std::int32_t e) { return cell_size(first_size_, options_.factor, e); };
    size = std::clamp(size, smallest_cell, largest_cell);
    auto e =
        static_cast<std::int32_t>(std::floor((std::log(size) - std::log(first_size_)) / std::log(options_.factor)));
    while (edge(e) < size) ++e;
    while (edge(e - 1) >= size && edge(e - 1) < edge(e)) --e;
    return e;
}

// The grid of the first cell size for which the box touches at most two cells per axis. Most boxes belong to a grid
// that exists, which costs a few comparisons.
template <int D, class T>
typename DynamicGrids<D, T>::Level& DynamicGrids<D, T>::level_for(const Box<D, T>& box, cells::Cell<D>& cell) {
    double size = 0;
    for (int k = 0; k < D; ++k) size = std::max(size, double(box.hi[k]) - double(box.lo[k]));
    if (size == 0) {
        Level& level = level_with(of_points);
        cell = level.quantiser.cell(box.lo);
        return level;
    }
    if (first_size_ == 0) first_size_ = std::clamp(size * std::sqrt(options_.factor), smallest_cell, largest_cell);
    const auto fits = [&](const cells::Quantiser<D>& quantiser) {
        bool ok = true;
        for (int k = 0; k < D; ++k) {
            cell[k] = quantiser.cell(double(box.lo[k]), k);
            ok = ok && quantiser.cell(double(box.hi[k]), k) - cell[k] <= 1;
        }
        return ok;
    };
    for (Level& level : levels_)
        if (level.exponent != of_points && size <= level.quantiser.edge(0)) {
            if (size > level.smaller && fits(level.quantiser)) return level;
            break;
        }
    for (std::int32_t exponent = exponent_for(size);; ++exponent)
        if (fits(cells::Quantiser<D>(cell_size(first_size_, options_.factor, exponent)))) return level_with(exponent);
}

template <int D, class T>
void DynamicGrids<D, T>::link(Level& level, std::uint32_t slot, std::uint32_t cell) {
    Node& node = node_[slot];
    node.cell = cell;
    node.exponent = level.exponent;
    node.previous = none;
    node.next = level.head[cell];
    if (node.next != none) node_[node.next].previous = slot;
    level.head[cell] = slot;
}

template <int D, class T>
void DynamicGrids<D, T>::unlink(Level& level, std::uint32_t slot) {
    const Node& node = node_[slot];
    if (node.next != none) node_[node.next].previous = node.previous;
    (node.previous == none ? level.head[node.cell] : node_[node.previous].next) = node.next;
}

template <int D, class T>
void DynamicGrids<D, T>::insert(std::uint32_t slot, const Box<D, T>& box) {
    QUADRAT_ASSERT(slot < node_.size());
    cells::Cell<D> cell;
    Level& level = level_for(box, cell);
    node_[slot].box = box;
    link(level, slot, level.index(cell));
    node_[slot].position = static_cast<std::uint32_t>(level.members.size());
    level.members.push_back(slot);
    ++size_;
    // HHG 3.4: grow when there are more objects than cells / 8.
    if (level.members.size() * options_.cells_per_object > level.head.size()) resize(level, 1);
    if (level.exponent == of_points && --level.unfitted == 0) fit_to_points(level);
}

template <int D, class T>
void DynamicGrids<D, T>::link_all(Level& level) {
    std::fill(level.head.begin(), level.head.end(), none);
    for (const std::uint32_t s : level.members) link(level, s, level.index(level.quantiser.cell(node_[s].box.lo)));
}

// Cells of which each has about half a point, by a sample: along each axis the shortest interval that holds half of it
// is what counts, so that a few that lie far away do not. Called once in so many insertions as there are points, which
// is constant for each.
template <int D, class T>
void DynamicGrids<D, T>::fit_to_points(Level& level) {
    QUADRAT_ASSERT(level.exponent == of_points && !level.members.empty());
    constexpr std::size_t largest_sample = 255;
    const std::size_t n = level.members.size(), sample = std::min(n, largest_sample), half = (sample + 1) / 2;
    level.unfitted = std::max<std::size_t>(64, 2 * n);
    double width[D];
    std::vector<double> x(sample);
    for (int k = 0; k < D; ++k) {
        for (std::size_t i = 0; i < sample; ++i) x[i] = double(node_[level.members[i * n / sample]].box.lo[k]);
        std::sort(x.begin(), x.end());
        width[k] = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i + half <= sample; ++i) width[k] = std::min(width[k], x[i + half - 1] - x[i]);
    }
    // An axis that is shorter than a cell has no share in their number. Logarithms, because products may overflow.
    std::sort(width, width + D, std::greater<>());
    double edge = 0, log_volume = -std::log(2 * double(n));
    for (int k = 0; k < D && width[k] > edge; ++k) {
        log_volume += std::log(width[k]);
        edge = std::exp(log_volume / (k + 1));
    }
    if (!(edge > 0)) return;
    level.quantiser = cells::Quantiser<D>(std::clamp(edge, smallest_cell, largest_cell));
    link_all(level);
}

template <int D, class T>
void DynamicGrids<D, T>::erase(std::uint32_t slot) {
    QUADRAT_ASSERT(holds(slot));
    Level& level = level_with(node_[slot].exponent);
    unlink(level, slot);
    const std::uint32_t last = level.members.back();
    level.members[node_[slot].position] = last;
    node_[last].position = node_[slot].position;
    level.members.pop_back();
    --size_;
    if (level.members.size() * options_.cells_per_object * shrink_share < level.head.size()) resize(level, -1);
    if (!level.members.empty()) return;
    const auto empty = [](const Level& l) { return l.members.empty(); };
    if (static_cast<std::size_t>(std::count_if(levels_.begin(), levels_.end(), empty)) > empty_grids)
        levels_.erase(
            std::find_if(levels_.begin(), levels_.end(), [&](const Level& l) { return empty(l) && &l != &level; }));
}

template <int D, class T>
bool DynamicGrids<D, T>::move(std::uint32_t slot, const Box<D, T>& box) {
    cells::Cell<D> cell;
    const Level& level = level_for(box, cell);
    if (level.exponent == node_[slot].exponent && level.index(cell) == node_[slot].cell) {
        node_[slot].box = box;
        return false;
    }
    erase(slot);
    insert(slot, box);
    return true;
}

// Doubles (+1) or halves (-1) every axis and links all objects again.
template <int D, class T>
void DynamicGrids<D, T>::resize(Level& level, int by_bits) {
    const int smallest = bits_for(options_.min_cells);
    int total = 0;
    for (int k = 0; k < D; ++k) total += level.bits[k] + by_bits;
    if (total > largest_bits || level.bits[0] + by_bits < smallest) return;
    for (int k = 0; k < D; ++k) level.bits[k] += by_bits;
    level.head.resize(std::size_t{1} << total);
    level.head.shrink_to_fit();
    link_all(level);
}

// Half of the neighbours (figure 17): every pair of adjacent cells is looked at from one side. Distinct, since an axis
// has at least four cells.
template <int D, class T>
std::uint32_t DynamicGrids<D, T>::forward_cells(const Level& level, std::uint32_t cell,
                                                std::uint32_t (&ahead)[13]) const {
    cells::Cell<D> at;
    std::uint32_t rest = cell;
    for (int k = 0; k < D; ++k) {
        at[k] = rest & ((1u << level.bits[k]) - 1);
        rest >>= level.bits[k];
    }
    constexpr int total = D == 3 ? 27 : 9;
    std::uint32_t n = 0;
    for (int code = total / 2 + 1; code < total; ++code) {
        cells::Cell<D> c = at;
        int left = code;
        for (int k = 0; k < D; ++k) {
            c[k] += left % 3 - 1;
            left /= 3;
        }
        ahead[n++] = level.index(c);
    }
    return n;
}

template class DynamicGrids<2, float>;
template class DynamicGrids<3, float>;
template class DynamicGrids<2, double>;
template class DynamicGrids<3, double>;

}  // namespace quadrat::broad_phase
