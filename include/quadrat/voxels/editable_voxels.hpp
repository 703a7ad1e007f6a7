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

#include <algorithm>

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
    /// Takes packed voxels, as they are. Other channels of its grid stay, and rows of inserted positions get their
    /// background there.
    ///
    /// packed: not constrained, as erased and inserted positions could not be told apart: Error{unsupported}.
    /// options: how repack() builds. Default: as SparseVoxels::pack.
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
    /// the next insert(), erase() or repack(). O(1).
    [[nodiscard]] const T* find(const Voxel<D>& p) const {
        const std::uint32_t k = packed_.index().find(p);
        if (k != VoxelIndex<D>::absent && !is_erased(k)) return packed_.values().data() + k;
        const std::uint32_t added = added_.find(p);
        return added == voxels::EditMap<D>::none ? nullptr : values_.data() + added;
    }
    [[nodiscard]] T* find(const Voxel<D>& p) { return const_cast<T*>(std::as_const(*this).find(p)); }
    /// A copy of the value at p, or `background` if nothing is stored there.
    [[nodiscard]] T at(const Voxel<D>& p, const T& background = T{}) const {
        const T* v = find(p);
        return v ? *v : background;
    }
    /// out[i] = at(p[i], background), with many reads of the packed set under way at once. Throws Error{bad_shape} if
    /// the spans differ in length, with nothing written.
    void at(std::span<const Voxel<D>> p, std::span<T> out, const T& background = T{}) const {
        if (p.size() != out.size()) throw Error(ErrorKind::bad_shape, "positions and results differ in number");
        constexpr std::size_t block = 256;
        std::uint32_t places[block];
        for (std::size_t begin = 0; begin < p.size(); begin += block) {
            const std::size_t count = std::min(block, p.size() - begin);
            packed_.index().find(p.subspan(begin, count), std::span(places, count), packed_.values().data(), sizeof(T));
            for (std::size_t i = 0; i < count; ++i) {
                if (places[i] != VoxelIndex<D>::absent && !is_erased(places[i])) {
                    out[begin + i] = packed_.values()[places[i]];
                    continue;
                }
                const std::uint32_t k = added_.find(p[begin + i]);
                out[begin + i] = k == voxels::EditMap<D>::none ? background : values_[k];
            }
        }
    }

    /// Stores a value at p; true if nothing was there before. Amortised O(1).
    ///
    /// p: any position; with all others it spans at most 2^21 cells on each axis, or Error{bad_value} with the axis,
    ///    and nothing is stored. At most 2^27 positions, or Error{too_large}.
    bool insert(const Voxel<D>& p, const T& value) {
        if (T* v = find(p)) {
            *v = value;
            return false;
        }
        if (size() >= std::size_t{1} << 27) throw Error(ErrorKind::too_large, "more than 2^27 positions");
        const std::uint32_t k = packed_.index().find(p);
        if (k != VoxelIndex<D>::absent) {  // it was erased
            erased_[k >> 6] &= ~(std::uint64_t{1} << (k & 63));
            --erased_count_;
            packed_.values()[k] = value;
            return true;
        }
        widen(p);
        values_.push_back(value);
        try {
            added_.add(p);
        } catch (...) {
            values_.pop_back();
            throw;
        }
        return true;
    }
    /// Removes the value at p; true if there was one. O(1), the first time O(values) for the bits.
    bool erase(const Voxel<D>& p) {
        const std::uint32_t k = packed_.index().find(p);
        if (k != VoxelIndex<D>::absent) {
            if (is_erased(k)) return false;
            if (erased_.empty()) erased_.resize((std::size_t{packed_.index().values()} + 63) / 64);
            erased_[k >> 6] |= std::uint64_t{1} << (k & 63);
            ++erased_count_;
            return true;
        }
        const std::uint32_t added = added_.find(p);
        if (added == voxels::EditMap<D>::none) return false;
        added_.remove(added);
        values_[added] = values_.back();
        values_.pop_back();
        return true;
    }

    /// How many positions are stored.
    [[nodiscard]] std::size_t size() const { return packed_.size() - erased_count_ + added_.size(); }
    /// How many of them are in the overlay, and how many of the packed ones are erased.
    [[nodiscard]] std::size_t inserted() const { return added_.size(); }
    [[nodiscard]] std::size_t erased() const { return erased_count_; }
    /// True where a repack saves memory and the second look: an eighth of the positions is in the overlay, or a quarter
    /// of the packed ones is erased. Counts alone decide.
    [[nodiscard]] bool should_repack() const {
        return added_.size() * 8 > size() + 512 || erased_count_ * 4 > packed_.size() + 512;
    }
    /// The packed set, erased positions included. Its values may be changed through find() alone.
    [[nodiscard]] const SparseVoxels<T, D>& packed() const { return packed_; }
    /// What is held and what it takes, the overlay included.
    [[nodiscard]] VoxelStats stats() const {
        VoxelStats s = packed_.stats();
        s.entries = size();
        s.values += values_.size();
        s.value_bytes += values_.size() * sizeof(T);
        s.index_bytes += added_.bytes() + erased_.size() * 8;
        return s;
    }

    /// fn(position, value&) for every entry once: packed ones in the order of VoxelIndex::for_each, then inserted ones
    /// in the order of their insertion, in which an erased one gave its place to the last. Values may be written;
    /// nothing may be inserted or erased meanwhile.
    template <class Fn>
    void for_each(Fn&& fn) {
        visit(*this, fn);
    }
    template <class Fn>
    void for_each(Fn&& fn) const {
        visit(*this, fn);
    }

    /// One packed set of all positions, with the options of the constructor; the overlay is empty then. Costs a build,
    /// and memory for both sets. If it throws, all is as it was.
    void repack() {
        std::vector<Voxel<D>> positions;
        std::vector<std::uint32_t> from;  // places in the packed set, then numbers of inserted positions
        positions.reserve(size());
        from.reserve(size());
        packed_.index().for_each([&](const Voxel<D>& p, std::uint32_t k) {
            if (is_erased(k)) return;
            positions.push_back(p);
            from.push_back(k);
        });
        const std::size_t kept = positions.size();
        positions.insert(positions.end(), added_.positions().begin(), added_.positions().end());
        VoxelOptions options = options_;
        options.value_bytes = std::max(packed_.grid().value_bytes(), sizeof(T));
        VoxelGrid<D> grid;
        grid.index = VoxelIndex<D>::build(positions, options);
        if (packed_.grid().channels.empty())
            grid.add_channel("values", ValueTraits<T>::type, ValueTraits<T>::components);
        std::vector<std::byte> rows;
        const std::uint8_t* own = reinterpret_cast<const std::uint8_t*>(packed_.values().data());
        std::string name = "values";
        bool found = false;
        for (const Channel& c : packed_.grid().channels) {
            const std::size_t width = c.value_bytes();
            const bool mine = !found && c.buffer.data.get() == own && width == sizeof(T);
            found |= mine;
            rows.assign(positions.size() * width, std::byte{0});
            for (std::size_t i = 0; i < positions.size(); ++i) {
                std::byte* to = rows.data() + i * width;
                if (i < kept)
                    std::memcpy(to, c.buffer.data.get() + from[i] * width, width);
                else if (mine)
                    std::memcpy(to, &values_[i - kept], width);
                else if (c.background.size() == width)
                    std::memcpy(to, c.background.data(), width);
            }
            if (mine) name = c.name;
            Channel& out = grid.add_channel(c.name, c.type, c.components, positions, rows);
            out.background = c.background;
            out.shape = c.shape;
        }
        if (packed_.grid().channels.empty())
            for (std::size_t i = 0; i < positions.size(); ++i)
                std::memcpy(grid.channels[0].buffer.data.get() + grid.index.find(positions[i]) * sizeof(T), &values_[i],
                            sizeof(T));
        grid.transform = packed_.grid().transform;
        grid.notes = packed_.grid().notes;
        *this = EditableVoxels(SparseVoxels<T, D>(std::move(grid), name), options_);
    }

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
    void widen(const Voxel<D>& p) {
        const bool first = size() == 0 && packed_.size() == 0;
        Voxel<D> low = first ? p : low_, high = first ? p : high_;
        for (int a = 0; a < D; ++a) {
            low[a] = std::min(low[a], p[a]);
            high[a] = std::max(high[a], p[a]);
            if (std::int64_t{high[a]} - low[a] >= std::int64_t{1} << 21)
                throw Error(ErrorKind::bad_value, "positions may span at most 2^21 cells on an axis",
                            {.column = static_cast<std::uint64_t>(a)});
        }
        low_ = low;
        high_ = high;
    }

    SparseVoxels<T, D> packed_;
    VoxelOptions options_ = {};
    std::vector<std::uint64_t> erased_;  // a bit for each place, empty while none is erased
    std::size_t erased_count_ = 0;
    voxels::EditMap<D> added_;
    std::vector<T> values_;  // of added_, by its numbers
    Voxel<D> low_ = {}, high_ = {};
};

}  // namespace quadrat
