// Pairs of homes that lie far apart with the boxes of a large grid: what moves, among what rests. Nearly every line of
// memory that is read is read once, and comes from far away, so it is asked for early: homes are taken a few dozen at a
// time, in three passes. The first asks for where the rows of their cells start, the second reads that and asks for the
// records, the third tests them. Records (Copy::columns_and_records), because a row holds two or three boxes: these are
// one or two cache lines of records, and seven of columns.
//
// Departure from HHG 3.6: as in pair_kernel.cpp, cells of a row are one range.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "broad_phase/sorted/kernels/few_homes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "broad_phase/sorted/kernels/pair_kernel.hpp"
#include "broad_phase/sorted/kernels/row_range-inl.hpp"

#include <algorithm>
#include <vector>

#ifndef QUADRAT_BROAD_PHASE_FEW_HOMES_ONCE
#define QUADRAT_BROAD_PHASE_FEW_HOMES_ONCE
namespace quadrat::broad_phase {

inline constexpr std::size_t homes_at_once = 32;
inline constexpr std::size_t bytes_of_line = 64;
inline constexpr std::size_t most_lines = 8;  // of a row that are asked for early

/// A row of cells that a home can meet: first where its ends are found, then the ends.
struct RowOfHome {
    const std::uint32_t *from, *to;
    std::uint32_t begin, end;
    std::uint32_t home;
};

}  // namespace quadrat::broad_phase
#endif

HWY_BEFORE_NAMESPACE();
namespace quadrat::broad_phase::HWY_NAMESPACE {

template <int D, class T>
class FewHomes {
  public:
    FewHomes(const GridView<D, T>& homes, const GridView<D, T>& grid, PairBuffer& out)
        : homes_(homes),
          grid_(grid),

          filtered_(homes.filter.group && grid.filter.group),
          out_(out) {}

    // Homes [begin, end), homes_at_once at most.
    void take(std::size_t begin, std::size_t end) {
        rows_.clear();
        for (std::size_t h = begin; h < end; ++h) list_rows(static_cast<std::uint32_t>(h));
        for (RowOfHome& row : rows_) ask_for_records(row);
        for (const RowOfHome& row : rows_) test(row);
        out_.settle();
    }
    [[nodiscard]] std::uint64_t tests() const { return tests_; }

  private:
    HWY_INLINE void list_rows(std::uint32_t home) {
        T lo[D], hi[D];
        for (int k = 0; k < D; ++k) {
            lo[k] = homes_.lo[k][home];
            hi[k] = homes_.hi[k][home];
            if (lo[k] > grid_.shape.inside.hi[k] || hi[k] < grid_.shape.inside.lo[k]) return;
        }
        const Axis<T>& x = grid_.shape.axis[0];
        const std::int32_t first = std::max(0, x.cell(lo[0]) - x.reach), last = x.cell(hi[0]);
        for_each_row(grid_.shape, lo, hi, [&](std::uint32_t row) {
            const std::uint32_t* const start = grid_.start + std::size_t{row} * grid_.shape.bins();
            rows_.push_back({start + first, start + last + 1, 0, 0, home});
            __builtin_prefetch(start + first);
            __builtin_prefetch(start + last + 1);
        });
    }

    HWY_INLINE void ask_for_records(RowOfHome& row) const {
        row.begin = *row.from;
        row.end = *row.to;
        const auto* at = reinterpret_cast<const char*>(grid_.records + row.begin);
        const auto* const end =
            std::min(reinterpret_cast<const char*>(grid_.records + row.end), at + most_lines * bytes_of_line);
        for (; at < end; at += bytes_of_line) __builtin_prefetch(at);
    }

    // A pair is written before it is known to be one: whether two boxes overlap is in no order.
    HWY_INLINE void test(const RowOfHome& row) {
        const std::uint32_t id = static_cast<std::uint32_t>(homes_.id[row.home]);
        Box<D, T> home;
        for (int k = 0; k < D; ++k) home.lo[k] = homes_.lo[k][row.home], home.hi[k] = homes_.hi[k][row.home];
        tests_ += row.end - row.begin;
        Pair* end = out_.reserve(row.end - row.begin + std::size_t{1});
        for (std::uint32_t i = row.begin; i < row.end; ++i) {
            const Record<D, T>& r = grid_.records[i];
            int inside = 0;
            for (int k = 0; k < D; ++k) inside += int{r.box.lo[k] <= home.hi[k]} + int{r.box.hi[k] >= home.lo[k]};
            bool hit = inside == 2 * D;
            if (filtered_ && hit) hit = may_meet(row.home, i);
            *end = {id, r.id};
            end += hit;
        }
        out_.set_end(end);
    }

    [[nodiscard]] bool may_meet(std::uint32_t home, std::uint32_t i) const {
        return (homes_.filter.group[home] & grid_.filter.mask[i]) != 0 &&
               (homes_.filter.mask[home] & grid_.filter.group[i]) != 0;
    }

    const GridView<D, T>&homes_, &grid_;
    const bool filtered_;
    PairBuffer& out_;
    std::vector<RowOfHome> rows_;
    std::uint64_t tests_ = 0;
};

template <int D, class T>
std::uint64_t PairsOfFewHomes(const GridView<D, T>& homes, std::size_t begin, std::size_t end,
                              const GridView<D, T>& grid, PairBuffer& out) {
    FewHomes<D, T> few(homes, grid, out);
    for (std::size_t h = begin; h < end; h += homes_at_once) few.take(h, std::min(end, h + homes_at_once));
    return few.tests();
}

const base::PerKind<FewHomesKernel>& FewHomesKernels() {
    static constexpr auto table = base::PerKind<FewHomesKernel>::from(
        []<int D, class T>() { return FewHomesKernel<D, T>{PairsOfFewHomes<D, T>}; });
    return table;
}

}  // namespace quadrat::broad_phase::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace quadrat::broad_phase {

HWY_EXPORT(FewHomesKernels);

const base::PerKind<FewHomesKernel>& few_homes_kernels() {
    return HWY_DYNAMIC_DISPATCH(FewHomesKernels)();
}

}  // namespace quadrat::broad_phase
#endif
