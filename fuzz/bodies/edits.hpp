// Bytes as a sequence of edits of a broad phase: insert, move, erase, bulk insert, bulk update, and where there are
// such filters, half-spaces, rest and wake, many edits at once and events, bad boxes and stale ids, with the pairs,
// events and queries held against brute force. Run by the fuzzer, by the replay of its corpus and, on millions of
// random bytes, by tests/broad_phase.
#pragma once

#include <quadrat/broad_phase.hpp>
#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "fuzz/bodies/require.hpp"

namespace quadrat::fuzz {

struct EditLimits {
    std::size_t objects = 48;      ///< more are not inserted
    std::size_t check_every = 24;  ///< edits between two comparisons
};

/// Zeros behind the end.
class Bytes {
  public:
    explicit Bytes(std::span<const std::byte> data) : data_(data) {}
    [[nodiscard]] bool empty() const { return at_ >= data_.size(); }
    std::uint8_t next() { return empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(data_[at_++]); }
    std::size_t below(std::size_t bound) { return (std::size_t{next()} << 8 | next()) % bound; }

  private:
    std::span<const std::byte> data_;
    std::size_t at_ = 0;
};

template <class Structure, int D, class T>
class EditedSet {
    static_assert(EditableBroadPhase<Structure, D, T>);

    static constexpr bool filtered = requires(Structure s, Id id) { s.set_filter(id, Filter{}); };

  public:
    EditedSet(const typename Structure::Options& options, const EditLimits& limits)
        : structure_(options), limits_(limits) {}

    /// Returns the number of edits.
    std::size_t run(Bytes bytes) {
        std::size_t edits = 0;
        while (!bytes.empty()) {
            edit(bytes);
            if (++edits % limits_.check_every == 0) check(bytes);
        }
        check(bytes);
        return edits;
    }

  private:
    struct Object {
        Id id;
        Box<D, T> box;
        Filter filter = {};
        std::optional<HalfSpace<D, T>> half_space = {};  // then the box is not used
        bool asleep = false;
    };

    void edit(Bytes& bytes) {
        const std::uint8_t what = bytes.next();
        if (what == 0) {  // what is rare
            const std::uint8_t which = bytes.next();
            if (which < 30) return bulk_update(bytes);
            if (which < 60) return many(bytes);
            if (which < 120) return bulk_insert(bytes);
            if (which < 200) return stale(bytes);
            if (which < 220) return insert_half_space(bytes);
            if (which < 250) return set_filter(bytes);
            return clear(bytes);
        }
        if (live_.size() < 3 || (what < 100 && live_.size() < limits_.objects)) {
            const Box<D, T> box = any_box(bytes);
            if (!legal(box)) return refuse([&] { structure_.insert(box); });
            live_.push_back({structure_.insert(box), box});
            require(live_.back().id.generation != 0);
            return;
        }
        Object& object = live_[bytes.below(live_.size())];
        if (what < 190) {
            const Box<D, T> box = any_box(bytes);
            if (!legal(box)) return refuse([&] { structure_.move(object.id, box); });
            structure_.move(object.id, box);
            moved(object, box);
        } else {
            structure_.erase(object.id);
            require(!structure_.contains(object.id));
            dead_ = object.id;
            object = live_.back();
            live_.pop_back();
        }
    }

    // A coarse lattice, so that faces touch; now and then something hostile.
    Box<D, T> any_box(Bytes& bytes) {
        static constexpr double sizes[] = {0, 0.25, 0.5, 1, 1, 1, 2, 5};
        Box<D, T> box;
        for (int k = 0; k < D; ++k) {
            box.lo[k] = T(0.25) * T(static_cast<std::int8_t>(bytes.next()));
            box.hi[k] = box.lo[k] + T(sizes[bytes.next() % 8]);
        }
        const int axis = bytes.next() % D;
        constexpr T infinity = std::numeric_limits<T>::infinity();
        const auto scale = [&](T by) {
            for (int k = 0; k < D; ++k) box.hi[k] = box.lo[k] + (box.hi[k] - box.lo[k]) * by;
        };
        switch (bytes.next()) {
            case 255:
                box.hi[axis] = infinity;
                break;
            case 254:
                box.lo[axis] = -infinity;
                break;
            case 253:
                box.lo[axis] = std::numeric_limits<T>::quiet_NaN();
                break;
            case 252:
                box.hi[axis] = box.lo[axis] - 1;
                break;
            case 251:
                box.lo[axis] += T(1e9), box.hi[axis] += T(1e9);
                break;
            case 250:
                box.lo[axis] *= T(1e30), box.hi[axis] = box.lo[axis] + T(1e30);
                break;
            case 249:
                scale(T(1e6));
                break;
            case 248:
                scale(T(1e-6));
                break;
            default:
                break;
        }
        return box;
    }

    static bool legal(const Box<D, T>& box) {
        bool ok = true;
        for (int k = 0; k < D; ++k)
            ok = ok && box.lo[k] <= box.hi[k] && box.lo[k] < std::numeric_limits<T>::infinity() &&
                 box.hi[k] > -std::numeric_limits<T>::infinity();
        return ok;
    }

    template <class Fn>
    static void refuse(Fn&& fn, ErrorKind kind = ErrorKind::bad_value) {
        try {
            fn();
        } catch (const Error& error) {
            return require(error.kind() == kind);
        }
        require(false);
    }

    static void moved(Object& object, const Box<D, T>& box) {
        object.box = box;
        object.half_space.reset();
        object.asleep = false;
    }

    // Batches by id: rest, wake, move and erase; an id may be named more than once but by erase.
    void many(Bytes& bytes) {
        if constexpr (filtered) {
            if (live_.empty()) return;
            const std::uint8_t what = bytes.next();
            std::vector<std::size_t> some(bytes.below(2 * live_.size()));
            for (std::size_t& i : some) i = bytes.below(live_.size());
            if (what % 4 == 3) {
                std::sort(some.begin(), some.end());
                some.erase(std::unique(some.begin(), some.end()), some.end());
                if (some.size() > live_.size() / 2 && what % 8 != 7) some.resize(live_.size() / 2);
            }
            std::vector<Id> ids;
            for (const std::size_t i : some) ids.push_back(live_[i].id);
            const std::span<const Id> span(ids);
            if (what % 4 <= 1) {
                what % 4 == 0 ? structure_.rest(span) : structure_.wake(span);
                for (const std::size_t i : some) live_[i].asleep = what % 4 == 0;
            } else if (what % 4 == 2) {
                std::vector<Box<D, T>> boxes;
                bool good = true;
                for (std::size_t i = 0; i < some.size(); ++i) {
                    boxes.push_back(any_box(bytes));
                    good = good && legal(boxes.back());
                }
                const std::span<const Box<D, T>> new_boxes(boxes);
                if (!good) return refuse([&] { structure_.move(span, new_boxes); });
                structure_.move(span, new_boxes);
                for (std::size_t i = 0; i < some.size(); ++i) moved(live_[some[i]], boxes[i]);
            } else {
                structure_.erase(span);
                for (std::size_t i = some.size(); i-- != 0;) {
                    dead_ = live_[some[i]].id;
                    live_[some[i]] = live_.back();
                    live_.pop_back();
                }
                if (!ids.empty()) refuse([&] { structure_.erase(span); }, ErrorKind::stale_id);
            }
        }
    }

    // Pairs of ids, those of the step before and those of now.
    void check_events(const std::vector<Pair>& pairs) {
        if constexpr (filtered) {
            const auto less = [](const IdPair& a, const IdPair& b) {
                const auto key = [](const IdPair& p) {
                    return std::tuple(p.first.slot, p.second.slot, p.first.generation, p.second.generation);
                };
                return key(a) < key(b);
            };
            const auto sorted = [&](std::vector<IdPair> some) {
                std::sort(some.begin(), some.end(), less);
                return some;
            };
            std::vector<IdPair> now;
            for (const Pair& p : pairs) {
                const Id a = live_[p.first].id, b = live_[p.second].id;
                now.push_back(a.slot < b.slot ? IdPair{a, b} : IdPair{b, a});
            }
            now = sorted(std::move(now));
            const auto without = [&](const std::vector<IdPair>& all, const std::vector<IdPair>& some) {
                std::vector<IdPair> rest;
                std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest), less);
                return rest;
            };
            structure_.find_events(events_);
            require(sorted({events_.begun().begin(), events_.begun().end()}) == without(now, before_));
            require(sorted({events_.ended().begin(), events_.ended().end()}) == without(before_, now));
            require(events_.persisting().size() + events_.begun().size() == now.size());
            for (const Pair& p : events_.persisting())
                require(std::binary_search(before_.begin(), before_.end(),
                                           IdPair{structure_.id(p.first), structure_.id(p.second)}, less));
            before_ = std::move(now);
        }
    }

    void bulk_update(Bytes& bytes) {
        std::vector<Box<D, T>> boxes(structure_.slots());
        for (auto& box : boxes) box.lo[0] = std::numeric_limits<T>::quiet_NaN();  // of erased slots: ignored
        bool good = true;
        std::vector<Object> next = live_;
        for (Object& object : next) {
            if (object.half_space || object.asleep) continue;  // they stay
            if (bytes.next() % 2) object.box = any_box(bytes);
            boxes[object.id.slot] = object.box;
            good = good && legal(object.box);
        }
        const std::span<const Box<D, T>> span(boxes);
        if (!good) return refuse([&] { structure_.update(span); });
        structure_.update(span);
        live_ = next;
    }

    void bulk_insert(Bytes& bytes) {
        const std::size_t count = bytes.next() % 8;
        if (live_.size() + count > limits_.objects) return;
        std::vector<Box<D, T>> boxes;
        bool good = true;
        for (std::size_t i = 0; i < count; ++i) {
            boxes.push_back(any_box(bytes));
            good = good && legal(boxes.back());
        }
        const std::span<const Box<D, T>> span(boxes);
        if (!good) return refuse([&] { structure_.insert(span); });
        const std::uint32_t first = structure_.insert(span);
        for (std::uint32_t i = 0; i < count; ++i) live_.push_back({structure_.id(first + i), boxes[i]});
    }

    // Normals are small whole numbers times a power of two, so that sums are exact.
    void insert_half_space(Bytes& bytes) {
        if constexpr (filtered) {
            if (live_.size() >= limits_.objects) return;
            HalfSpace<D, T> h;
            const int scale = bytes.next() % 3 * 40 - 40;
            bool zero = true;
            for (int k = 0; k < D; ++k) {
                h.normal[k] = std::ldexp(T(bytes.next() % 7) - 3, scale);
                zero = zero && h.normal[k] == 0;
            }
            h.offset = std::ldexp(T(0.25) * T(static_cast<std::int8_t>(bytes.next())), scale);
            if (zero) return refuse([&] { structure_.insert(h); });
            const Filter filter = any_filter(bytes);
            live_.push_back({structure_.insert(h, filter), Box<D, T>{}, filter, h});
        }
    }

    void set_filter(Bytes& bytes) {
        if constexpr (filtered) {
            if (live_.empty()) return;
            Object& object = live_[bytes.below(live_.size())];
            object.filter = any_filter(bytes);
            structure_.set_filter(object.id, object.filter);
        }
    }

    static Filter any_filter(Bytes& bytes) {
        const std::uint8_t bits = bytes.next();
        return bits % 3 == 0 ? Filter{} : Filter{1u << bits % 4, 0xfu & ~(1u << bits / 4 % 4)};
    }

    static bool may_meet(const Object& a, const Object& b) {
        return !(a.asleep && b.asleep) && (a.filter.group & b.filter.mask) != 0 &&
               (b.filter.group & a.filter.mask) != 0;
    }

    static bool reaches(const HalfSpace<D, T>& h, const Box<D, T>& box) {
        long double least = 0;
        for (int k = 0; k < D; ++k)
            if (h.normal[k] != 0)
                least += static_cast<long double>(h.normal[k]) * (h.normal[k] > 0 ? box.lo : box.hi)[k];
        return !(least > static_cast<long double>(h.offset));
    }

    // Apart only if the normals are opposite: q = -r p with r > 0, tried by cross products.
    static bool meet(const HalfSpace<D, T>& p, const HalfSpace<D, T>& q) {
        using Real = long double;
        int axis = 0;
        for (int k = 0; k < D; ++k)
            if (p.normal[k] != 0) axis = k;
        if (!(Real(p.normal[axis]) * Real(q.normal[axis]) < 0)) return true;
        for (int k = 0; k < D; ++k)
            if (Real(q.normal[k]) * Real(p.normal[axis]) != Real(p.normal[k]) * Real(q.normal[axis])) return true;
        const Real r = std::abs(Real(q.normal[axis])), s = std::abs(Real(p.normal[axis]));
        return Real(q.offset) * s >= -r * Real(p.offset);
    }

    static bool meet(const Object& a, const Object& b) {
        if (a.half_space && b.half_space) return meet(*a.half_space, *b.half_space);
        if (a.half_space) return reaches(*a.half_space, b.box);
        if (b.half_space) return reaches(*b.half_space, a.box);
        return overlap(a.box, b.box);
    }

    void stale(Bytes& bytes) {
        const Id unknown{static_cast<std::uint32_t>(structure_.slots() + bytes.next()), 1};
        for (const Id id : {dead_, unknown, Id{}}) {
            refuse([&] { structure_.erase(id); }, ErrorKind::stale_id);
            refuse([&] { structure_.move(id, Box<D, T>{}); }, ErrorKind::stale_id);
            require(!structure_.contains(id));
        }
    }

    // Everything goes, one by one, and a bulk insert into what is left.
    void clear(Bytes& bytes) {
        for (const Object& object : live_) structure_.erase(object.id);
        live_.clear();
        require(structure_.size() == 0);
        bulk_insert(bytes);
    }

    void check(Bytes& bytes) {
        require(structure_.size() == live_.size());
        std::vector<std::uint32_t> number(structure_.slots(), ~std::uint32_t{0});
        boxes_.clear();
        bool plain = true;  // boxes that all may meet
        for (std::uint32_t i = 0; i < live_.size(); ++i) {
            plain = plain && !live_[i].half_space && live_[i].filter == Filter{} && !live_[i].asleep;
            if constexpr (filtered) require(structure_.resting(live_[i].id) == live_[i].asleep);
            require(structure_.contains(live_[i].id) && structure_.id(live_[i].id.slot) == live_[i].id);
            require(number[live_[i].id.slot] == ~std::uint32_t{0});
            number[live_[i].id.slot] = i;
            boxes_.push_back(live_[i].box);
        }
        const auto normal = [&](std::vector<Pair>& pairs) {
            for (Pair& p : pairs) {
                require(p.first < p.second && p.second < number.size());
                const std::uint32_t a = number[p.first], b = number[p.second];
                require(a < live_.size() && b < live_.size());
                p = {std::min(a, b), std::max(a, b)};
            }
            std::sort(pairs.begin(), pairs.end());
        };
        std::vector<Pair> expected, found, streamed;
        BruteForce<D, T> oracle;
        oracle.build(std::span<const Box<D, T>>(boxes_));
        oracle.find_pairs(expected);
        if (!plain) {
            std::erase_if(expected, [&](Pair p) {
                const Object &a = live_[p.first], &b = live_[p.second];
                return a.half_space || b.half_space || !may_meet(a, b);
            });
            for (std::uint32_t i = 0; i < live_.size(); ++i)
                for (std::uint32_t j = 0; j < live_.size(); ++j) {
                    const bool first = live_[i].half_space && (!live_[j].half_space || i < j);
                    if (first && may_meet(live_[i], live_[j]) && meet(live_[i], live_[j]))
                        expected.push_back({std::min(i, j), std::max(i, j)});
                }
            std::sort(expected.begin(), expected.end());
        }
        structure_.find_pairs(found);
        normal(found);
        require(found == expected);
        structure_.for_each_pair([&](Pair p) { streamed.push_back(p); });
        normal(streamed);
        require(streamed == expected);
        check_events(expected);
        const Box<D, T> query = any_box(bytes);
        if (!legal(query)) return;
        std::vector<std::uint32_t> slots, overlapping;
        structure_.find(query, slots);
        for (std::uint32_t& s : slots) {
            require(s < number.size());
            s = number[s];
        }
        std::sort(slots.begin(), slots.end());
        for (std::uint32_t i = 0; i < boxes_.size(); ++i)
            if (live_[i].half_space ? reaches(*live_[i].half_space, query) : overlap(boxes_[i], query))
                overlapping.push_back(i);
        require(slots == overlapping);
    }

    Structure structure_;
    EditLimits limits_;
    std::vector<Object> live_;
    std::vector<Box<D, T>> boxes_;
    Id dead_;
    PairEvents events_;
    std::vector<IdPair> before_;
};

template <int D, class T>
std::size_t edit_one(std::uint8_t structure, Bytes bytes, const EditLimits& limits) {
    using Table = HierarchicalHashOptions::Table;
    switch (structure % 7) {
        case 0:
            return EditedSet<HashGridHierarchy<D, T>, D, T>({.all_pairs_below = 0}, limits).run(bytes);
        case 1:
            return EditedSet<HashGridHierarchy<D, T>, D, T>({}, limits).run(bytes);
        case 2:
            return EditedSet<HashGridHierarchy<D, T>, D, T>({.update = UpdateStrategy::individual, .factor = 3}, limits)
                .run(bytes);
        case 3:
            return EditedSet<HierarchicalHash<D, T>, D, T>({}, limits).run(bytes);
        case 4:
            return EditedSet<HierarchicalHash<D, T>, D, T>({.table = Table::fixed, .length = 37}, limits).run(bytes);
        case 5:
            return EditedSet<HashGridHierarchy<D, T>, D, T>({.update = UpdateStrategy::reinsert}, limits).run(bytes);
        default:
            return EditedSet<MultilevelHash<D, T>, D, T>({}, limits).run(bytes);
    }
}

/// The first two bytes choose the structure, the dimension and the scalar; the others are edits. Returns their number.
inline std::size_t edits(std::span<const std::byte> data, const EditLimits& limits = {}) {
    Bytes bytes(data);
    const std::uint8_t structure = bytes.next(), kind = bytes.next();
    switch (kind % 4) {
        case 0:
            return edit_one<2, float>(structure, bytes, limits);
        case 1:
            return edit_one<3, float>(structure, bytes, limits);
        case 2:
            return edit_one<2, double>(structure, bytes, limits);
        default:
            return edit_one<3, double>(structure, bytes, limits);
    }
}

}  // namespace quadrat::fuzz
