// Position hashes (Lefebvre & Hoppe 2006, section 5): two sweeps over the domain find the slots in which h_0 of the
// stored position is that of another one; those get another parameter k. An empty slot gets a (k, v) that no position
// of the domain has there.
#include <quadrat/error.hpp>

#include "voxels/index/build.hpp"
#include "voxels/index/encodings.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace quadrat::voxels {
namespace {

constexpr std::uint32_t nobody = 0xffffffffu;
constexpr std::uint64_t room = std::uint64_t{1} << 25;  // positions held at once; each part is one more sweep

Error too_sparse(const std::string& why) {
    return Error(ErrorKind::unsupported, why + "the data is too sparse for position hashes", {.field = "encoding"});
}

template <int D>
class PositionHashTags {
  public:
    using Local = LocalOf<D>;

    PositionHashTags(std::span<const Voxel<D>> positions, const Draft<D>& draft, std::uint8_t* tags)
        : positions_(positions),
          hash_(draft.hash),
          extent_(draft.parts.extent),
          tags_(tags),
          owner_(draft.hash.slots(), nobody),
          conflict_(draft.hash.slots()),
          others_(draft.hash.slots()) {
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const Local local = local_in(hash_, positions[i]);
            const std::uint32_t s = hash_.place(local).slot;
            QUADRAT_ASSERT(owner_[s] == nobody);
            owner_[s] = static_cast<std::uint32_t>(i);
            put(s, 0, hash_local<D>(local, 0));
        }
    }

    void run() {
        sweep([&](const Local& local, std::uint32_t s) {
            if (hash_local<D>(local, 0) == tags_[2 * std::size_t{s} + 1] && !is_owner(s, local)) conflict_[s] = 1;
        });
        sweep([&](const Local&, std::uint32_t s) { others_[s] += conflict_[s]; });
        const auto slots = static_cast<std::uint32_t>(owner_.size());
        for (std::uint32_t begin = 0; begin < slots;) begin = resolve_part(begin);
    }

  private:
    template <class Visit>
    void sweep(Visit&& visit) const {
        for_each_cell<D>(extent_, [&](const Local& local, std::uint64_t) { visit(local, hash_.place(local).slot); });
    }
    [[nodiscard]] bool is_owner(std::uint32_t s, const Local& local) const {
        return owner_[s] != nobody && local_in(hash_, positions_[owner_[s]]) == local;
    }
    void put(std::uint32_t s, std::uint32_t k, std::uint32_t v) {
        QUADRAT_ASSERT(k < 256 && v < 256);
        tags_[2 * std::size_t{s}] = static_cast<std::uint8_t>(k);
        tags_[2 * std::size_t{s} + 1] = static_cast<std::uint8_t>(v);
    }

    // Slots from `begin` on whose positions fit the room; returns the first that does not.
    std::uint32_t resolve_part(std::uint32_t begin) {
        const auto slots = static_cast<std::uint32_t>(owner_.size());
        std::vector<std::uint64_t> first(1, 0);
        std::uint32_t end = begin;
        for (; end < slots && (end == begin || first.back() + others_[end] <= room); ++end)
            first.push_back(first.back() + others_[end]);
        if (first.back() == 0) return end;
        std::vector<Local> members(first.back());
        std::vector<std::uint64_t> fill(first.begin(), first.end() - 1);
        sweep([&](const Local& local, std::uint32_t s) {
            if (s >= begin && s < end && conflict_[s] && !is_owner(s, local)) members[fill[s - begin]++] = local;
        });
        for (std::uint32_t s = begin; s < end; ++s)
            if (conflict_[s]) resolve(s, {members.data() + first[s - begin], members.data() + fill[s - begin]});
        return end;
    }

    // Finds a parameter by which the slot's position is unlike all others there.
    void resolve(std::uint32_t s, std::span<const Local> others) {
        for (std::uint32_t k = 0; k < 256; ++k) {
            bool used[256] = {};
            for (const Local& m : others) used[hash_local<D>(m, k)] = true;
            std::uint32_t v = 0;
            if (owner_[s] == nobody)
                while (v < 256 && used[v]) ++v;
            else
                v = hash_local<D>(local_in(hash_, positions_[owner_[s]]), k);
            if (v < 256 && !used[v]) return put(s, k, v);
        }
        throw too_sparse("slot " + std::to_string(s) + " has no parameter that tells its position from the " +
                         std::to_string(others.size()) + " others: ");
    }

    std::span<const Voxel<D>> positions_;
    const PerfectHash<D>& hash_;
    Local extent_;
    std::uint8_t* tags_;
    std::vector<std::uint32_t> owner_;    // slot -> position, or nobody
    std::vector<std::uint8_t> conflict_;  // of a slot: h_0 is not enough
    std::vector<std::uint64_t> others_;   // of a slot with a conflict: positions of the domain there
};

}  // namespace

template <int D>
void Builders<D>::position_hashes(std::span<const Voxel<D>> positions, Draft<D>& draft) {
    const std::uint64_t cells = draft.parts.cells(), slots = std::max(draft.hash.slots(), 1u);
    if (cells > most_hashed_cells)
        throw Error(ErrorKind::unsupported, "the domain is too large for position hashes", {.field = "encoding"});
    if (cells / slots > most_cells_per_slot)
        throw too_sparse(std::to_string(cells / slots) + " positions of the domain share a slot: ");
    draft.parts.tag_bits = PositionHashes<D>::bits;
    Buffer& table = draft.parts.tables[Table::tags] =
        Buffer::zeros(std::size_t{draft.hash.slots()} * 2 + table_padding);
    PositionHashTags<D>(positions, draft, table.data.get()).run();
}

template void Builders<2>::position_hashes(std::span<const Voxel<2>>, Draft<2>&);
template void Builders<3>::position_hashes(std::span<const Voxel<3>>, Draft<3>&);

}  // namespace quadrat::voxels
