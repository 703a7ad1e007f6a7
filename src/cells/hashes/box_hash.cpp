#include <quadrat/cells/box_hash.hpp>

#include "cells/hashes/classed_hash.hpp"
#include "cells/segment_test.hpp"
#include "cells/validate.hpp"

#include <algorithm>
#include <atomic>

namespace quadrat {

template <int D, class T, class Scheme>
struct BoxHash<D, T, Scheme>::Boxes {
    explicit Boxes(const cells::ClassedHashOptions& options) : hash(options) {}

    Hash hash;
    // Of the last search: const calls may run concurrently.
    mutable std::atomic<std::uint64_t> tests{0}, cells{0};

    void count(const cells::SearchWork& work) const {
        tests = work.tests;
        cells = work.cells;
    }
};

template <int D, class T, class Scheme>
BoxHash<D, T, Scheme>::BoxHash(const cells::ClassedHashOptions& options) : boxes_(std::make_unique<Boxes>(options)) {
    if (options.smallest != 0) cells::check_radius(options.smallest, "smallest");
    if (options.levels < 0 || options.levels > 62)
        throw Error(ErrorKind::bad_value, "must be 0..62", {.field = "levels"});
    if (options.length > cells::ClassedHashOptions::longest)
        throw Error(ErrorKind::bad_value, "must be below 2^32 - 1", {.field = "length"});
}
template <int D, class T, class Scheme>
BoxHash<D, T, Scheme>::~BoxHash() = default;
template <int D, class T, class Scheme>
BoxHash<D, T, Scheme>::BoxHash(BoxHash&&) noexcept = default;
template <int D, class T, class Scheme>
BoxHash<D, T, Scheme>& BoxHash<D, T, Scheme>::operator=(BoxHash&&) noexcept = default;

template <int D, class T, class Scheme>
const cells::ClassedHash<D, T, Scheme>& BoxHash<D, T, Scheme>::hash() const {
    return boxes_->hash;
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::count_tests(std::uint64_t tests) const {
    boxes_->count({.tests = tests});
}

template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::build(std::span<const Box<D, T>> boxes) {
    boxes_->hash.build(boxes);
}
template <int D, class T, class Scheme>
std::uint32_t BoxHash<D, T, Scheme>::insert(std::span<const Box<D, T>> boxes) {
    return boxes_->hash.append(boxes);
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::update(std::span<const Box<D, T>> boxes) {
    boxes_->hash.update(boxes);
}
template <int D, class T, class Scheme>
Id BoxHash<D, T, Scheme>::insert(const Box<D, T>& box) {
    return boxes_->hash.insert(box);
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::erase(Id id) {
    boxes_->hash.erase(id);
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::move(Id id, const Box<D, T>& box) {
    boxes_->hash.move(id, box);
}
template <int D, class T, class Scheme>
bool BoxHash<D, T, Scheme>::contains(Id id) const {
    return hash().objects().contains(id);
}
template <int D, class T, class Scheme>
Id BoxHash<D, T, Scheme>::id(std::uint32_t slot) const {
    return hash().objects().id(slot);
}
template <int D, class T, class Scheme>
std::size_t BoxHash<D, T, Scheme>::size() const {
    return hash().objects().live();
}
template <int D, class T, class Scheme>
std::size_t BoxHash<D, T, Scheme>::slots() const {
    return hash().objects().size();
}

template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::find_pairs(std::vector<Pair>& out) const {
    boxes_->count(hash().find_pairs(out));
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::find_pairs(std::span<const Box<D, T>> queries, std::vector<Pair>& out) const {
    boxes_->count(hash().find_pairs(queries, out));
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::partners(std::uint32_t q, std::vector<std::uint32_t>& found) const {
    hash().partners(q, found);
}

template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::find(const Vec<D, T>& point, std::vector<std::uint32_t>& out) const {
    find(Box<D, T>{point, point}, out);
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::find(const Box<D, T>& box, std::vector<std::uint32_t>& out) const {
    cells::check_box(box, 0);
    out.clear();
    hash().find(box, out);
}
template <int D, class T, class Scheme>
void BoxHash<D, T, Scheme>::find(const Segment<D, T>& segment, std::vector<std::uint32_t>& out) const {
    cells::check_point(segment.a);
    cells::check_point(segment.b);
    out.clear();
    hash().find(cells::bounds(segment), out);
    const auto boxes = hash().objects().boxes();
    std::erase_if(out, [&](std::uint32_t o) { return !cells::meets(segment, boxes[o]); });
}

template <int D, class T, class Scheme>
HashStats BoxHash<D, T, Scheme>::stats() const {
    return {boxes_->tests, boxes_->cells, hash().bytes()};
}

template class BoxHash<2, float, cells::UniformScheme>;
template class BoxHash<3, float, cells::UniformScheme>;
template class BoxHash<2, double, cells::UniformScheme>;
template class BoxHash<3, double, cells::UniformScheme>;
template class BoxHash<2, float, cells::MultilevelScheme>;
template class BoxHash<3, float, cells::MultilevelScheme>;
template class BoxHash<2, double, cells::MultilevelScheme>;
template class BoxHash<3, double, cells::MultilevelScheme>;
template class BoxHash<2, float, cells::HierarchicalScheme>;
template class BoxHash<3, float, cells::HierarchicalScheme>;
template class BoxHash<2, double, cells::HierarchicalScheme>;
template class BoxHash<3, double, cells::HierarchicalScheme>;

}  // namespace quadrat
