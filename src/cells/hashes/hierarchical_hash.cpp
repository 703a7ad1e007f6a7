#include <quadrat/cells/hierarchical_hash.hpp>

#include "cells/hashes/classed_hash.hpp"
#include "cells/hashes/on_the_fly.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <string>

namespace quadrat {
namespace {

cells::ClassedHashOptions classed(const HierarchicalHashOptions& o) {
    return {.executor = o.executor,
            .smallest = o.smallest,
            .levels = o.levels,
            .fixed_length = o.table == HierarchicalHashOptions::Table::fixed,
            .length = o.length,
            .table_per_class = o.table_per_class,
            .max_bytes = o.max_bytes};
}

}  // namespace

template <int D, class T>
struct HierarchicalHash<D, T>::Impl {
    explicit Impl(const Options& o) : options(o) {}

    Options options;
    cells::OnTheFly<D, T> points;
};

template <int D, class T>
HierarchicalHash<D, T>::HierarchicalHash(const Options& options)
    : Base(classed(options)), impl_(std::make_unique<Impl>(options)) {
    if (options.particle_levels < 1 || options.particle_levels > 16)
        throw Error(ErrorKind::bad_value, "must be 1..16", {.field = "particle_levels"});
}
template <int D, class T>
HierarchicalHash<D, T>::~HierarchicalHash() = default;
template <int D, class T>
HierarchicalHash<D, T>::HierarchicalHash(HierarchicalHash&&) noexcept = default;
template <int D, class T>
HierarchicalHash<D, T>& HierarchicalHash<D, T>::operator=(HierarchicalHash&&) noexcept = default;

template <int D, class T>
void HierarchicalHash<D, T>::build(std::span<const Box<D, T>> start, std::span<const Box<D, T>> end) {
    if (start.size() != end.size())
        throw Error(ErrorKind::bad_shape, std::to_string(start.size()) + " boxes at the start, " +
                                              std::to_string(end.size()) + " at the end");
    cells::check_boxes(start, impl_->options.executor);
    cells::check_boxes(end, impl_->options.executor);
    std::vector<Box<D, T>> path(start.begin(), start.end());
    for (std::size_t i = 0; i < path.size(); ++i)
        for (int k = 0; k < D; ++k) {
            path[i].lo[k] = std::min(path[i].lo[k], end[i].lo[k]);
            path[i].hi[k] = std::max(path[i].hi[k], end[i].hi[k]);
        }
    Base::build(path);
}

template <int D, class T>
void HierarchicalHash<D, T>::find_neighbors(std::span<const Vec<D, T>> points, T radius, NeighborList& out) {
    cells::check_radius(radius);
    cells::check_points(points, impl_->options.executor);
    this->count_tests(impl_->points.find(points, radius, impl_->options.particle_levels, impl_->options.executor,
                                         impl_->options.max_bytes, out));
}

template <int D, class T>
std::vector<HashCell> HierarchicalHash<D, T>::cells() const {
    std::vector<HashCell> result;
    this->hash().for_each_cell([&](const cells::CellSlot& s) {
        HashCell cell{s.key, s.has_children != 0, {}};
        this->hash().for_each_object(s, [&](std::uint32_t o) { cell.objects.push_back(o); });
        result.push_back(std::move(cell));
    });
    std::sort(result.begin(), result.end(), [](const HashCell& a, const HashCell& b) { return a.key < b.key; });
    return result;
}

template <int D, class T>
HashStats HierarchicalHash<D, T>::stats() const {
    HashStats result = Base::stats();
    result.bytes += impl_->points.bytes();
    return result;
}

template class HierarchicalHash<2, float>;
template class HierarchicalHash<3, float>;
template class HierarchicalHash<2, double>;
template class HierarchicalHash<3, double>;

}  // namespace quadrat
