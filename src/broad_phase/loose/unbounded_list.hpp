// The global list of HHG 3.3: objects that fit no cell, tested against everything. Infinite boxes and half-spaces.
#pragma once

#include "base/assert.hpp"
#include "broad_phase/loose/half_space_tests.hpp"

#include <quadrat/geometry.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

namespace quadrat::broad_phase {

template <int D, class T>
class UnboundedList {
  public:
    struct Object {
        std::uint32_t slot;
        Box<D, T> box;                                      ///< of a half-space: everything
        std::optional<ScaledHalfSpace<D>> half_space = {};  ///< what counts, if there is one

        [[nodiscard]] bool reaches(const Box<D, T>& other) const {
            return half_space ? meets(*half_space, other) : overlap(box, other);
        }
        [[nodiscard]] bool reaches(const Object& other) const {
            if (!half_space) return other.reaches(box);
            return other.half_space ? meets(*half_space, *other.half_space) : reaches(other.box);
        }
        /// Calls visit(slot, box) or visit(slot, half-space).
        template <class Visit>
        void show(Visit&& visit) const {
            half_space ? visit(slot, *half_space) : visit(slot, box);
        }
    };

    [[nodiscard]] std::size_t size() const { return objects_.size(); }
    [[nodiscard]] const Object& operator[](std::size_t i) const { return objects_[i]; }
    [[nodiscard]] auto begin() const { return objects_.begin(); }
    [[nodiscard]] auto end() const { return objects_.end(); }
    [[nodiscard]] bool is_half_space(std::uint32_t slot) const {
        const auto at = at_.find(slot);
        return at != at_.end() && objects_[at->second].half_space.has_value();
    }
    [[nodiscard]] std::vector<Object> half_spaces() const {
        std::vector<Object> some;
        for (const Object& object : objects_)
            if (object.half_space) some.push_back(object);
        return some;
    }

    void insert(const Object& object) {
        QUADRAT_ASSERT(!at_.contains(object.slot));
        at_[object.slot] = objects_.size();
        objects_.push_back(object);
    }
    void insert(std::uint32_t slot, const HalfSpace<D, T>& half_space) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        Object object{slot, {}, ScaledHalfSpace<D>(half_space)};
        for (int k = 0; k < D; ++k) {
            object.box.lo[k] = -infinity;
            object.box.hi[k] = infinity;
        }
        insert(object);
    }
    void erase(std::uint32_t slot) {
        QUADRAT_ASSERT(at_.contains(slot));
        const std::size_t at = at_[slot];
        at_.erase(slot);
        if (at + 1 != objects_.size()) {
            objects_[at] = objects_.back();
            at_[objects_[at].slot] = at;
        }
        objects_.pop_back();
    }
    void clear() {
        objects_.clear();
        at_.clear();
    }

    [[nodiscard]] std::size_t bytes() const {
        return objects_.capacity() * sizeof(Object) + at_.size() * (sizeof(*at_.begin()) + 2 * sizeof(void*)) +
               at_.bucket_count() * sizeof(void*);
    }

  private:
    std::vector<Object> objects_;
    std::unordered_map<std::uint32_t, std::size_t> at_;  // position of each slot
};

}  // namespace quadrat::broad_phase
