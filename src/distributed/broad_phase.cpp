#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/distributed/broad_phase.hpp>
#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "broad_phase/spheres.hpp"
#include "distributed/local_ids.hpp"
#include "distributed/stopwatch.hpp"

namespace quadrat {
template <int D, class T>
struct DistributedBroadPhase<D, T>::Impl {
    using BoxT = Box<D, T>;
    using SphereT = Sphere<D, T>;

    // Everything that an update replaces, so that one that fails replaces nothing.
    struct Held {
        std::vector<BoxT> boxes;           // own and ghosts; those of the spheres, if these are spheres
        std::vector<SphereT> spheres;      // or none
        std::vector<std::uint64_t> ids;    // of the boxes
        std::vector<std::uint8_t> beyond;  // whether the box reaches other ranks
        Region<D> region;
        Halo halo;
    };

    Decomposition<D, T> decomposition;
    Options options;
    HashGridHierarchy<D, T> grid;
    bool grid_is_current = true;
    bool are_spheres = false;
    Held held;
    std::vector<HalfSpace<D, T>> half_spaces;
    std::vector<std::uint64_t> half_space_ids;
    std::vector<std::uint64_t> ids;  // of all local indices

    Impl(MPI_Comm comm, const Options& o)
        : decomposition(comm, o), options(o), grid({.executor = o.executor, .max_bytes = o.max_bytes}) {
        held.halo = decomposition.halo(std::span<const BoxT>());
        held.region = decomposition.region();
    }

    [[nodiscard]] const Communicator& comm() const { return *decomposition.comm(); }

    DistributedSeconds seconds;

    // Collective. `spheres` are empty, or as many as the boxes.
    Migration replace(std::vector<BoxT> boxes, std::vector<SphereT> spheres, std::vector<std::uint64_t> new_ids,
                      bool now_spheres) {
        distributed::Stopwatch watch;
        Migration migration = decomposition.update(std::span<const BoxT>(boxes));
        Held next{std::move(boxes), std::move(spheres), std::move(new_ids), {}, decomposition.region(), {}};
        migration.apply(next.boxes);
        migration.apply(next.ids);
        if (now_spheres) migration.apply(next.spheres);
        seconds.migrate = watch.lap();
        next.halo = decomposition.halo(std::span<const BoxT>(next.boxes));
        next.halo.send(next.boxes);
        next.halo.send(next.ids);
        if (now_spheres) next.halo.send(next.spheres);
        seconds.halo = watch.lap();
        std::vector<std::uint64_t> all_ids;
        together(comm(), [&] {
            next.beyond.resize(next.boxes.size());
            for (std::size_t i = 0; i < next.boxes.size(); ++i) next.beyond[i] = !next.region.holds(next.boxes[i]);
            all_ids.reserve(next.ids.size() + half_space_ids.size());
            all_ids = next.ids;
            all_ids.insert(all_ids.end(), half_space_ids.begin(), half_space_ids.end());
            if (now_spheres && !half_spaces.empty())
                throw Error(ErrorKind::bad_shape, "half-spaces do not go with spheres", {.field = "spheres"});
        });
        std::swap(held, next);
        std::swap(ids, all_ids);
        const bool were_spheres = std::exchange(are_spheres, now_spheres);
        try {
            together(comm(), [&] { distributed::timed(seconds.build, seconds.build_cpu, [&] { fill_grid(); }); });
        } catch (...) {
            std::swap(held, next);
            std::swap(ids, all_ids);
            are_spheres = were_spheres;
            grid_is_current = false;
            throw;
        }
        return migration;
    }

    // A grid is moved where it can be, which keeps its memory and its classes.
    void fill_grid() {
        grid_is_current = false;
        const bool same = grid.slots() == held.boxes.size() + half_spaces.size() && half_spaces.empty() &&
                          grid.size() == grid.slots() && !held.boxes.empty() && grid_has_spheres == are_spheres;
        if (!same) grid.clear();
        const std::span<const BoxT> boxes = held.boxes;
        const std::span<const SphereT> spheres = held.spheres;
        if (are_spheres)
            same ? grid.update(spheres) : static_cast<void>(grid.insert(spheres));
        else
            same ? grid.update(boxes) : static_cast<void>(grid.insert(boxes));
        for (const auto& h : half_spaces) grid.insert(h);
        grid_has_spheres = are_spheres;
        grid_is_current = true;
    }
    bool grid_has_spheres = false;

    /// Whether this rank reports a pair that it found; p.first < p.second.
    [[nodiscard]] bool mine(const Pair& p) const {
        if (p.second >= held.boxes.size()) {  // a half-space: every rank knows it
            if (p.first < held.boxes.size()) return p.first < held.halo.own();
            return comm().rank() == 0;
        }
        if (!held.beyond[p.first] || !held.beyond[p.second]) return true;
        const BoxT &a = held.boxes[p.first], &b = held.boxes[p.second];
        Vec<D, T> corner;
        for (int k = 0; k < D; ++k) corner[k] = std::max(a.lo[k], b.lo[k]);
        return held.region.holds(corner);
    }

    void find(std::vector<Pair>& out) {
        together(comm(), [&] {
            if (!grid_is_current) fill_grid();
            distributed::timed(seconds.find, seconds.find_cpu, [&] {
                grid.find_pairs(out);
                out.erase(std::remove_if(out.begin(), out.end(), [&](const Pair& p) { return !mine(p); }), out.end());
            });
        });
    }

    Migration insert_boxes(std::span<const BoxT> given, std::span<const std::uint64_t> given_ids) {
        std::vector<BoxT> boxes;
        together(comm(), [&] { boxes.assign(given.begin(), given.end()); });
        return replace(std::move(boxes), {}, distributed::ids_or_numbers(comm(), given.size(), given_ids), false);
    }
    Migration insert_spheres(std::span<const SphereT> given, std::span<const std::uint64_t> given_ids) {
        auto new_ids = distributed::ids_or_numbers(comm(), given.size(), given_ids);
        return replace_spheres(given, std::move(new_ids));
    }
    Migration replace_spheres(std::span<const SphereT> given, std::vector<std::uint64_t> new_ids) {
        std::vector<BoxT> boxes;
        std::vector<SphereT> spheres;
        together(comm(), [&] {
            boxes.reserve(given.size());
            for (std::size_t i = 0; i < given.size(); ++i) boxes.push_back(broad_phase::checked_box_of(given[i], i));
            spheres.assign(given.begin(), given.end());
        });
        return replace(std::move(boxes), std::move(spheres), std::move(new_ids), true);
    }
    std::vector<std::uint64_t> own_ids(std::size_t given, bool for_spheres) const {
        std::vector<std::uint64_t> own;
        together(comm(), [&] {
            detail::check_length(given, held.halo.own());
            if (for_spheres != are_spheres)
                throw Error(ErrorKind::bad_shape, "spheres and boxes cannot be mixed in one structure",
                            {.field = for_spheres ? "spheres" : "boxes"});
            own.assign(held.ids.begin(), held.ids.begin() + static_cast<std::ptrdiff_t>(given));
        });
        return own;
    }
};

template <int D, class T>
DistributedBroadPhase<D, T>::DistributedBroadPhase(MPI_Comm comm, const Options& options)
    : impl_(std::make_unique<Impl>(comm, options)) {}
template <int D, class T>
DistributedBroadPhase<D, T>::~DistributedBroadPhase() = default;
template <int D, class T>
DistributedBroadPhase<D, T>::DistributedBroadPhase(DistributedBroadPhase&&) noexcept = default;
template <int D, class T>
DistributedBroadPhase<D, T>& DistributedBroadPhase<D, T>::operator=(DistributedBroadPhase&&) noexcept = default;

template <int D, class T>
Migration DistributedBroadPhase<D, T>::insert(std::span<const Box<D, T>> boxes, std::span<const std::uint64_t> ids) {
    return impl_->insert_boxes(boxes, ids);
}
template <int D, class T>
Migration DistributedBroadPhase<D, T>::insert(std::span<const Sphere<D, T>> spheres,
                                              std::span<const std::uint64_t> ids) {
    return impl_->insert_spheres(spheres, ids);
}
template <int D, class T>
Migration DistributedBroadPhase<D, T>::update(std::span<const Box<D, T>> boxes) {
    auto ids = impl_->own_ids(boxes.size(), false);
    std::vector<Box<D, T>> copy;
    together(impl_->comm(), [&] { copy.assign(boxes.begin(), boxes.end()); });
    return impl_->replace(std::move(copy), {}, std::move(ids), false);
}
template <int D, class T>
Migration DistributedBroadPhase<D, T>::update(std::span<const Sphere<D, T>> spheres) {
    auto ids = impl_->own_ids(spheres.size(), true);
    return impl_->replace_spheres(spheres, std::move(ids));
}

template <int D, class T>
void DistributedBroadPhase<D, T>::set_half_spaces(std::span<const HalfSpace<D, T>> half_spaces,
                                                  std::span<const std::uint64_t> ids) {
    Impl& s = *impl_;
    together(s.comm(), [&] {
        detail::check_length(ids.size(), half_spaces.size());
        HashGridHierarchy<D, T> checked;
        for (std::size_t i = 0; i < half_spaces.size(); ++i) try {
                checked.insert(half_spaces[i]);
            } catch (const Error& e) {
                throw Error(e.kind(), e.message(), {.index = i, .field = e.where().field});
            }
        if (s.are_spheres && !half_spaces.empty())
            throw Error(ErrorKind::bad_shape, "half-spaces do not go with spheres", {.field = "half_spaces"});
    });
    auto all = distributed::gather_all(s.comm(), half_spaces);
    auto all_ids = distributed::gather_all(s.comm(), ids);
    together(s.comm(), [&] {
        std::vector<std::uint64_t> local = s.held.ids;
        local.insert(local.end(), all_ids.begin(), all_ids.end());
        s.ids = std::move(local);
    });
    s.half_spaces = std::move(all);
    s.half_space_ids = std::move(all_ids);
    s.grid_is_current = false;
}

template <int D, class T>
void DistributedBroadPhase<D, T>::find_pairs(std::vector<Pair>& out) const {
    impl_->find(out);
}
template <int D, class T>
void DistributedBroadPhase<D, T>::find_pairs(std::vector<GlobalPair>& out) const {
    std::vector<Pair> local;
    impl_->find(local);
    together(impl_->comm(), [&] {
        out.resize(local.size());
        for (std::size_t k = 0; k < local.size(); ++k) {
            const auto [a, b] = std::minmax(impl_->ids[local[k].first], impl_->ids[local[k].second]);
            out[k] = {a, b};
        }
    });
}

template <int D, class T>
std::size_t DistributedBroadPhase<D, T>::own() const {
    return impl_->held.halo.own();
}
template <int D, class T>
std::size_t DistributedBroadPhase<D, T>::held() const {
    return impl_->held.boxes.size();
}
template <int D, class T>
std::size_t DistributedBroadPhase<D, T>::size() const {
    return impl_->ids.size();
}
template <int D, class T>
std::uint64_t DistributedBroadPhase<D, T>::id(std::uint32_t index) const {
    QUADRAT_ASSERT(index < impl_->ids.size());
    return impl_->ids[index];
}
template <int D, class T>
std::span<const std::uint64_t> DistributedBroadPhase<D, T>::ids() const {
    return impl_->ids;
}
template <int D, class T>
const Halo& DistributedBroadPhase<D, T>::halo() const {
    return impl_->held.halo;
}
template <int D, class T>
const Decomposition<D, T>& DistributedBroadPhase<D, T>::decomposition() const {
    return impl_->decomposition;
}
template <int D, class T>
DecompositionStats DistributedBroadPhase<D, T>::stats() const {
    return impl_->decomposition.stats();
}
template <int D, class T>
const DistributedSeconds& DistributedBroadPhase<D, T>::seconds() const {
    return impl_->seconds;
}

template class DistributedBroadPhase<2, float>;
template class DistributedBroadPhase<3, float>;
template class DistributedBroadPhase<2, double>;
template class DistributedBroadPhase<3, double>;

}  // namespace quadrat
