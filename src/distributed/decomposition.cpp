#include <quadrat/distributed/decomposition.hpp>
#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "base/assert.hpp"
#include "cells/validate.hpp"
#include "distributed/cuts.hpp"
#include "distributed/images.hpp"
#include "distributed/routes.hpp"

namespace quadrat {

using namespace distributed;

namespace {

/// A point of the box: its centre, or along an infinite axis its finite end, or 0.
template <int D, class T>
Vec<D, double> anchor(const Box<D, T>& box) {
    Vec<D, double> c;
    for (int k = 0; k < D; ++k) {
        const double lo = box.lo[k], hi = box.hi[k];
        c[k] = 0.5 * lo + 0.5 * hi;  // halves first: no overflow
        if (!std::isfinite(c[k])) c[k] = std::isfinite(lo) ? lo : std::isfinite(hi) ? hi : 0;
    }
    return c;
}

template <int D, class T>
bool bounded(const Box<D, T>& box) {
    bool finite = true;
    for (int k = 0; k < D; ++k) finite = finite && std::isfinite(box.lo[k]) && std::isfinite(box.hi[k]);
    return finite;
}
template <int D, class T>
bool bounded(const Vec<D, T>&) {
    return true;
}

template <int D, class T>
void check(std::span<const Box<D, T>> boxes, Executor* executor) {
    cells::check_boxes<D, T>(boxes, executor);
}
template <int D, class T>
void check(std::span<const Vec<D, T>> points, Executor* executor) {
    cells::check_points<D, T>(points, executor);
}

}  // namespace

template <int D, class T>
struct Decomposition<D, T>::Impl {
    std::shared_ptr<const Communicator> comm;
    Options options;
    CutTree<D> tree;
    Region<D> region;
    bool cut = false;  // there are cuts
    double best = 1;   // the imbalance that the last cuts left
    DecompositionStats stats;

    Impl(MPI_Comm given, const Options& o) : comm(std::make_shared<Communicator>(given)), options(o) {
        together(*comm, [&] {
            if (!(options.imbalance >= 1))
                throw Error(ErrorKind::bad_value, "must be at least 1", {.field = "imbalance"});
            if (options.cuts == CutSource::zoltan && !have_zoltan())
                throw Error(ErrorKind::unsupported, "this build has no Zoltan", {.field = "cuts"});
            if (options.periodic.active()) (void)wrap(options.periodic, options.periodic.origin);  // flat vectors throw
        });
        region = tree.region(comm->rank());
    }

    [[nodiscard]] Vec<D, double> place(const Box<D, T>& box) const { return anchor(box); }
    [[nodiscard]] Vec<D, double> place(const Vec<D, T>& point) const {
        const Vec<D, T> inside = options.periodic.active() ? wrap(options.periodic, point) : point;
        Vec<D, double> result;
        for (int k = 0; k < D; ++k) result[k] = inside[k];
        return result;
    }

    // Collective.
    template <class Item>
    void make_cuts(std::span<const Item> items) {
        Centers<D> centers;
        together(*comm, [&] {
            centers.reserve(items.size());
            for (const Item& item : items) {
                if (!bounded(item)) continue;
                centers.push_back(place(item));
                for (double& x : centers.back().v) x = std::clamp(x, -1e300, 1e300);
            }
        });
        const bool zoltan =
            options.cuts == CutSource::zoltan || (options.cuts == CutSource::automatic && have_zoltan());
        tree = zoltan ? CutMaker<D>::by_zoltan(*comm, centers) : CutMaker<D>::by_sample(*comm, centers);
        region = tree.region(comm->rank());
        cut = true;
        stats.ghosts = stats.sent = stats.halo_messages = 0;
        ++stats.cuts;
    }

    // Collective. Who leaves, by the present cuts.
    template <class Item>
    Migration migration(std::span<const Item> items) {
        Routes routes;
        together(*comm, [&] {
            check<D, T>(items, options.executor);
            cells::check_count(items.size());
            const int me = comm->rank();
            routes = by_rank(collect_routes(options.executor, items.size(),
                                            [&](std::size_t i, auto&& emit) {
                                                const Vec<D, double> at = place(items[i]);
                                                if (region.holds(at)) return;
                                                const int home = tree.leaf_of(at);
                                                if (home != me) emit(home);
                                            }),
                             comm->size());
        });
        Exchange exchange(comm, routes.counts);
        check_incoming(exchange, items.size(), sizeof(Item));
        return Migration(std::move(exchange), std::move(routes.items), items.size());
    }

    // Collective. Before anything is allocated for what comes in.
    void check_incoming(const Exchange& exchange, std::size_t have, std::size_t item_bytes) const {
        together(*comm, [&] {
            const std::size_t need = exchange.incoming() * (item_bytes + sizeof(std::uint64_t));
            if (need > options.max_bytes)
                throw Error(ErrorKind::too_large,
                            std::to_string(exchange.incoming()) + " bodies from other ranks need " +
                                std::to_string(need) +
                                " bytes, more than max_bytes = " + std::to_string(options.max_bytes),
                            {.field = "max_bytes"});
            cells::check_count(have + exchange.incoming());
        });
    }

    // Collective. Ghosts do not count: bisection cannot mend what they add.
    double imbalance_after(const Migration& m) const {
        const std::uint64_t total = comm->sum(m.after());
        return total ? static_cast<double>(comm->max(m.after())) * comm->size() / static_cast<double>(total) : 1;
    }

    template <class Item>
    Migration update(std::span<const Item> items) {
        together(*comm, [&] { check<D, T>(items, options.executor); });
        const bool first = !cut;
        if (first) make_cuts(items);
        Migration result = migration(items);
        stats.imbalance = imbalance_after(result);
        // What cuts cannot mend (bodies at one place) must not be cut again in every step.
        const bool again = !first && stats.imbalance > std::max(options.imbalance, 1.05 * best);
        if (again) {
            make_cuts(items);
            result = migration(items);
            stats.imbalance = imbalance_after(result);
        }
        if (first || again) best = stats.imbalance;
        stats.migrated = result.leaving();
        return result;
    }

    Halo finish_halo(Routes routes, std::size_t own, std::size_t item_bytes) {
        Exchange exchange(comm, routes.counts);
        check_incoming(exchange, own, item_bytes);
        stats.ghosts = exchange.incoming();
        stats.sent = exchange.outgoing();
        stats.halo_messages = exchange.messages();
        return Halo(std::move(exchange), std::move(routes.items), own);
    }

    Halo halo_of(std::span<const Box<D, T>> boxes) {
        Routes routes;
        together(*comm, [&] {
            check<D, T>(boxes, options.executor);
            const int me = comm->rank();
            routes = by_rank(collect_routes(options.executor, boxes.size(),
                                            [&](std::size_t i, auto&& emit) {
                                                if (region.holds(boxes[i])) return;
                                                tree.for_each_leaf(boxes[i], [&](int leaf) {
                                                    if (leaf != me) emit(leaf);
                                                });
                                            }),
                             comm->size());
        });
        return finish_halo(std::move(routes), boxes.size(), sizeof(Box<D, T>));
    }

    // Each image of each point, as a box of twice the reach. Offsets that take none of the own points to where points
    // are (the domain) are left out at once; with one rank in ten along each axis these are most of them.
    std::vector<Route> routes_of(std::span<const Vec<D, T>> points, double far, const Box<D, double>& domain,
                                 const Box<D, double>& mine) const {
        const int me = comm->rank();
        std::vector<Route> all;
        for (const Vec<D, double>& offset : image_offsets(options.periodic, far)) {
            const auto around = [&](const Vec<D, double>& lo, const Vec<D, double>& hi) {
                Box<D, double> box;
                for (int k = 0; k < D; ++k) {
                    box.lo[k] = lo[k] + offset[k] - far;
                    box.hi[k] = hi[k] + offset[k] + far;
                }
                return box;
            };
            if (points.empty() || !overlap(around(mine.lo, mine.hi), domain)) continue;
            const auto part = collect_routes(options.executor, points.size(), [&](std::size_t i, auto&& emit) {
                const Vec<D, double> at = place(points[i]);
                const Box<D, double> box = around(at, at);
                if (region.holds(box) || !overlap(box, domain)) return;
                tree.for_each_leaf(box, [&](int leaf) {
                    if (leaf != me) emit(leaf);
                });
            });
            all.insert(all.end(), part.begin(), part.end());
        }
        return all;
    }

    Halo halo_of(std::span<const Vec<D, T>> points, T radius) {
        Box<D, double> mine, domain;
        for (int k = 0; k < D; ++k) {
            mine.lo[k] = infinity;
            mine.hi[k] = -infinity;
        }
        together(*comm, [&] {
            cells::check_radius(radius);
            check<D, T>(points, options.executor);
            for (const Vec<D, T>& p : points) {
                const Vec<D, double> at = place(p);
                for (int k = 0; k < D; ++k) {
                    mine.lo[k] = std::min(mine.lo[k], at[k]);
                    mine.hi[k] = std::max(mine.hi[k], at[k]);
                }
            }
        });
        MPI_Allreduce(mine.lo.v, domain.lo.v, D, MPI_DOUBLE, MPI_MIN, comm->handle());
        MPI_Allreduce(mine.hi.v, domain.hi.v, D, MPI_DOUBLE, MPI_MAX, comm->handle());
        Routes routes;
        together(*comm, [&] {
            const double far = reach(radius, options.periodic);
            std::vector<Route> found = routes_of(points, far, domain, mine);
            routes =
                options.periodic.active() ? by_rank_once(std::move(found), comm->size()) : by_rank(found, comm->size());
        });
        return finish_halo(std::move(routes), points.size(), sizeof(Vec<D, T>));
    }
};

template <int D, class T>
Decomposition<D, T>::Decomposition(MPI_Comm comm, const Options& options)
    : impl_(std::make_unique<Impl>(comm, options)) {}
template <int D, class T>
Decomposition<D, T>::~Decomposition() = default;
template <int D, class T>
Decomposition<D, T>::Decomposition(Decomposition&&) noexcept = default;
template <int D, class T>
Decomposition<D, T>& Decomposition<D, T>::operator=(Decomposition&&) noexcept = default;

template <int D, class T>
Migration Decomposition<D, T>::update(std::span<const Box<D, T>> boxes) {
    return impl_->update(boxes);
}
template <int D, class T>
Migration Decomposition<D, T>::update(std::span<const Vec<D, T>> points) {
    return impl_->update(points);
}
template <int D, class T>
Halo Decomposition<D, T>::halo(std::span<const Box<D, T>> boxes) {
    return impl_->halo_of(boxes);
}
template <int D, class T>
Halo Decomposition<D, T>::halo(std::span<const Vec<D, T>> points, T radius) {
    return impl_->halo_of(points, radius);
}
template <int D, class T>
int Decomposition<D, T>::home(const Box<D, T>& box) const {
    return impl_->tree.leaf_of(impl_->place(box));
}
template <int D, class T>
int Decomposition<D, T>::home(const Vec<D, T>& point) const {
    return impl_->tree.leaf_of(impl_->place(point));
}
template <int D, class T>
const Region<D>& Decomposition<D, T>::region() const {
    return impl_->region;
}
template <int D, class T>
const std::shared_ptr<const Communicator>& Decomposition<D, T>::comm() const {
    return impl_->comm;
}
template <int D, class T>
DecompositionStats Decomposition<D, T>::stats() const {
    return impl_->stats;
}

template class Decomposition<2, float>;
template class Decomposition<3, float>;
template class Decomposition<2, double>;
template class Decomposition<3, double>;

}  // namespace quadrat
