#include <quadrat/distributed/neighbors.hpp>
#include <quadrat/error.hpp>
#include <quadrat/neighbors/cell_index.hpp>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "cells/validate.hpp"
#include "distributed/local_ids.hpp"
#include "distributed/stopwatch.hpp"

namespace quadrat {

template <int D, class T>
struct DistributedNeighbors<D, T>::Impl {
    using VecT = Vec<D, T>;

    // Everything that an update replaces, so that one that fails replaces nothing.
    struct Held {
        std::vector<VecT> points;  // own and ghosts
        std::vector<std::uint64_t> ids;
        std::vector<std::uint8_t> groups;  // 0: own, 1: ghost
        Halo halo;
    };

    Decomposition<D, T> decomposition;
    T radius;
    CellIndex<D, T> index;
    bool index_is_current = true;
    Held held;
    DistributedSeconds seconds;

    Impl(MPI_Comm comm, T r, const Options& o)
        : decomposition(comm, o),
          radius(checked(*decomposition.comm(), r)),
          index({.radius = r, .periodic = o.periodic, .max_bytes = o.max_bytes, .executor = o.executor}) {
        held.halo = decomposition.halo(std::span<const VecT>(), radius);
    }
    static T checked(const Communicator& comm, T radius) {
        together(comm, [&] { cells::check_radius(radius); });
        return radius;
    }

    [[nodiscard]] const Communicator& comm() const { return *decomposition.comm(); }

    Migration replace(std::span<const VecT> given, std::vector<std::uint64_t>&& new_ids) {
        distributed::Stopwatch watch;
        Held next;
        together(comm(), [&] { next.points.assign(given.begin(), given.end()); });
        next.ids = std::move(new_ids);
        Migration migration = decomposition.update(std::span<const VecT>(next.points));
        migration.apply(next.points);
        migration.apply(next.ids);
        seconds.migrate = watch.lap();
        next.halo = decomposition.halo(std::span<const VecT>(next.points), radius);
        next.halo.send(next.points);
        next.halo.send(next.ids);
        seconds.halo = watch.lap();
        together(comm(), [&] {
            next.groups.assign(next.points.size(), 1);
            std::fill_n(next.groups.begin(), next.halo.own(), std::uint8_t{0});
        });
        std::swap(held, next);
        try {
            together(comm(), [&] { distributed::timed(seconds.build, seconds.build_cpu, [&] { fill_index(); }); });
        } catch (...) {
            std::swap(held, next);
            index_is_current = false;
            throw;
        }
        return migration;
    }

    void fill_index() {
        index_is_current = false;
        index.build(std::span<const VecT>(held.points));
        index_is_current = true;
    }

    void find(NeighborList& out, const DistributedRowOptions& wanted) {
        // Own points see everyone, ghosts see nobody: their rows stay empty.
        const std::uint64_t searches[2] = {3, 0};
        NeighborOptions options;
        options.distances = wanted.distances;
        options.vectors = wanted.vectors;
        options.shifts = wanted.shifts;
        if (held.halo.ghosts() > 0) {
            options.groups = held.groups;
            options.searches = searches;
        }
        together(comm(), [&] {
            if (!index_is_current) fill_index();
            distributed::timed(seconds.find, seconds.find_cpu, [&] { index.find_neighbors(out, options); });
        });
    }
};

template <int D, class T>
DistributedNeighbors<D, T>::DistributedNeighbors(MPI_Comm comm, T radius, const Options& options)
    : impl_(std::make_unique<Impl>(comm, radius, options)) {}
template <int D, class T>
DistributedNeighbors<D, T>::~DistributedNeighbors() = default;
template <int D, class T>
DistributedNeighbors<D, T>::DistributedNeighbors(DistributedNeighbors&&) noexcept = default;
template <int D, class T>
DistributedNeighbors<D, T>& DistributedNeighbors<D, T>::operator=(DistributedNeighbors&&) noexcept = default;

template <int D, class T>
Migration DistributedNeighbors<D, T>::insert(std::span<const Vec<D, T>> points, std::span<const std::uint64_t> ids) {
    return impl_->replace(points, distributed::ids_or_numbers(impl_->comm(), points.size(), ids));
}
template <int D, class T>
Migration DistributedNeighbors<D, T>::update(std::span<const Vec<D, T>> points) {
    std::vector<std::uint64_t> own;
    together(impl_->comm(), [&] {
        detail::check_length(points.size(), impl_->held.halo.own());
        own.assign(impl_->held.ids.begin(), impl_->held.ids.begin() + static_cast<std::ptrdiff_t>(points.size()));
    });
    return impl_->replace(points, std::move(own));
}
template <int D, class T>
void DistributedNeighbors<D, T>::find_neighbors(NeighborList& out, const DistributedRowOptions& options) const {
    impl_->find(out, options);
}
template <int D, class T>
std::size_t DistributedNeighbors<D, T>::own() const {
    return impl_->held.halo.own();
}
template <int D, class T>
std::size_t DistributedNeighbors<D, T>::held() const {
    return impl_->held.points.size();
}
template <int D, class T>
std::uint64_t DistributedNeighbors<D, T>::id(std::uint32_t index) const {
    QUADRAT_ASSERT(index < impl_->held.ids.size());
    return impl_->held.ids[index];
}
template <int D, class T>
std::span<const std::uint64_t> DistributedNeighbors<D, T>::ids() const {
    return impl_->held.ids;
}
template <int D, class T>
const Halo& DistributedNeighbors<D, T>::halo() const {
    return impl_->held.halo;
}
template <int D, class T>
const Decomposition<D, T>& DistributedNeighbors<D, T>::decomposition() const {
    return impl_->decomposition;
}
template <int D, class T>
DecompositionStats DistributedNeighbors<D, T>::stats() const {
    return impl_->decomposition.stats();
}
template <int D, class T>
const DistributedSeconds& DistributedNeighbors<D, T>::seconds() const {
    return impl_->seconds;
}

template class DistributedNeighbors<2, float>;
template class DistributedNeighbors<3, float>;
template class DistributedNeighbors<2, double>;
template class DistributedNeighbors<3, double>;

}  // namespace quadrat
