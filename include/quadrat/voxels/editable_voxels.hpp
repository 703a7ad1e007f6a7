// Sparse voxels whose positions come and go: packed ones, as they are, with an overlay. What is erased from the packed
// set is marked by a bit, what is added lies in a small hash table, and repack() makes one packed set of both again.
//
//     position --- packed? ---+--- yes, and not erased ---> value in the packed set
//                             +--- no, or erased ---------> added? ---> value in the overlay
//
// Take it where edits are few beside what is packed, as in sculpting, mapping or streaming; a plain hash map where
// everything changes all the time; SparseVoxels where positions are fixed.
#pragma once

#include <quadrat/voxels/detail/edit_map.hpp>
#include <quadrat/voxels/sparse_voxels.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace quadrat {

/// Values of T at positions that can be inserted and erased, exact at any time.
///
///     quadrat::EditableVoxels<float> voxels(quadrat::SparseVoxels<float>::pack(coordinates, values));
///     voxels.insert({12, -3, 40}, 1.5f);
///     voxels.erase({12, -3, 41});
///     if (voxels.should_repack()) voxels.repack();
///
/// Thread safety: const calls may run concurrently, with each other alone. Movable, not copyable; one that was moved
/// from can be assigned to or destroyed.
template <class T, int D = 3>
class EditableVoxels {
  public:
    /// No positions.
    EditableVoxels() = default;
    /// Takes packed voxels, as they are: O(1). Other channels of its grid stay, and rows of inserted positions get
    /// their background there.
    ///
    /// packed: not constrained, as erased and inserted positions could not be told apart: Error{unsupported}.
    /// options: how repack() builds; its value_bytes is not looked at. What it points to (an executor, a stop) must
    ///          live until the last repack(). Default: as SparseVoxels::pack.
    explicit EditableVoxels(SparseVoxels<T, D> packed, const VoxelOptions& options = {})
        : packed_(std::move(packed)), options_(options) {
        if (!packed_.index().exact())
            throw Error(ErrorKind::unsupported, "constrained voxels cannot be edited", {.field = "encoding"});
        for (int a = 0; a < D && packed_.size() != 0; ++a) {
            low_[a] = packed_.index().origin()[a];
            high_[a] = low_[a] + static_cast<std::int32_t>(packed_.index().extent()[static_cast<std::size_t>(a)] - 1);
        }
    }

    /// The value at p, or null. A pointer to a packed value stays valid until repack(), one to an inserted value until
    /// the next insert(), erase() or repack(). O(1): one lookup in the packed set, and a second one in the overlay
    /// where that has nothing.
    ///
    /// p: any position.
    [[nodiscard]] const T* find(const Voxel<D>& p) const {
        const std::uint32_t k = packed_.index().find(p);
        if (k != VoxelIndex<D>::absent && !is_erased(k)) return packed_.values().data() + k;
        const std::uint32_t added = added_.find(p);
        return added == voxels::EditMap<D>::none ? nullptr : values_.data() + added;
    }
    /// The same, to be written; the position stays as it is, packed or inserted.
    [[nodiscard]] T* find(const Voxel<D>& p) { return const_cast<T*>(std::as_const(*this).find(p)); }
    /// A copy of the value at p, or `background` if nothing is stored there. O(1).
    ///
    /// p: any position.
    /// background: any value; that of the channel is not looked at. Default: T{}.
    [[nodiscard]] T at(const Voxel<D>& p, const T& background = T{}) const {
        const T* v = find(p);
        return v ? *v : background;
    }
    /// out[i] = at(p[i], background), with many reads of the packed set under way at once. Allocates nothing, and runs
    /// on the calling thread.
    ///
    /// p: any positions, also some of them twice.
    /// out: as long as p, or Error{bad_shape} with nothing written.
    void at(std::span<const Voxel<D>> p, std::span<T> out, const T& background = T{}) const;

    /// Stores a value at p; true if nothing was there before. Amortised O(1). Invalidates pointers to inserted values
    /// if p is new, and none otherwise. If it throws, nothing is stored.
    ///
    /// p: any position; with all that were stored since the last repack() it spans at most 2^21 cells on each axis, or
    ///    Error{bad_value} with the axis. At most 2^27 positions are stored, or Error{too_large}.
    /// value: is copied.
    bool insert(const Voxel<D>& p, const T& value);
    /// Removes the value at p; true if there was one. O(1), the first time O(values) for the bits. Invalidates pointers
    /// to inserted values if p was inserted, and that to its own.
    ///
    /// p: any position.
    bool erase(const Voxel<D>& p);

    /// How many positions are stored.
    [[nodiscard]] std::size_t size() const { return packed_.size() - erased_count_ + added_.size(); }
    /// How many of them are in the overlay. One that was erased from the packed set and inserted again is not.
    [[nodiscard]] std::size_t inserted() const { return added_.size(); }
    /// How many positions of the packed set are erased; size() does not count them.
    [[nodiscard]] std::size_t erased() const { return erased_count_; }
    /// True where a repack saves memory and the second look: an eighth of the positions is in the overlay, or a quarter
    /// of the packed ones is erased, and 64 or 128 beyond, so that small sets are left alone. Counts alone decide.
    /// O(1).
    [[nodiscard]] bool should_repack() const {
        return added_.size() * 8 > size() + 512 || erased_count_ * 4 > packed_.size() + 512;
    }
    /// The packed set, erased positions included. Its values may be changed through find() alone. Valid until repack().
    [[nodiscard]] const SparseVoxels<T, D>& packed() const { return packed_; }
    /// What is held and what it takes, the overlay included: its positions and the bits of erased ones count as index.
    /// O(channels).
    [[nodiscard]] VoxelStats stats() const;

    /// fn(position, value&) for every entry once: packed ones in the order of VoxelIndex::for_each, then inserted ones
    /// in the order of their insertion, in which an erased one gave its place to the last. Values may be written;
    /// nothing may be inserted or erased meanwhile. O(n), and the number of positions in the bounding box for some
    /// encodings. Throws what fn throws.
    template <class Fn>
    void for_each(Fn&& fn) {
        visit(*this, fn);
    }
    /// The same, to be read.
    template <class Fn>
    void for_each(Fn&& fn) const {
        visit(*this, fn);
    }

    /// One packed set of all positions, with the options of the constructor; the overlay is empty then. Costs a build,
    /// and memory for both sets. Invalidates all pointers to values, and packed(). Throws what VoxelIndex::build
    /// throws; then all is as it was.
    void repack();

  private:
    [[nodiscard]] bool is_erased(std::uint32_t k) const {
        return erased_count_ != 0 && (erased_[k >> 6] >> (k & 63) & 1) != 0;
    }
    template <class Self, class Fn>
    static void visit(Self& self, Fn& fn) {
        self.packed_.index().for_each([&](const Voxel<D>& p, std::uint32_t k) {
            if (!self.is_erased(k)) fn(p, self.packed_.values()[k]);
        });
        for (std::size_t k = 0; k < self.values_.size(); ++k) fn(self.added_.positions()[k], self.values_[k]);
    }
    // Keeps the box of all positions that were ever stored since the last repack within what can be packed.
    void widen(const Voxel<D>& p);

    SparseVoxels<T, D> packed_;
    VoxelOptions options_ = {};
    std::vector<std::uint64_t> erased_;  // a bit for each place, empty while none is erased
    std::size_t erased_count_ = 0;
    voxels::EditMap<D> added_;
    std::vector<T> values_;  // of added_, by its numbers
    Voxel<D> low_ = {}, high_ = {};
};

}  // namespace quadrat

#include <quadrat/voxels/detail/editable_voxels.hpp>
