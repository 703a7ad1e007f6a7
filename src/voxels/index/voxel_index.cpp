// Lookups and walks of a VoxelIndex: each visits its encoding once and then loops.
#include <quadrat/voxels/voxel_index.hpp>

#include <quadrat/error.hpp>

#include "base/assert.hpp"
#include "voxels/hash/domain.hpp"
#include "voxels/index/index_state.hpp"
#include "voxels/memory.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace quadrat {

const char* name(Layout layout) {
    constexpr const char* names[] = {"auto", "voxel", "brick", "bits", "keys"};
    QUADRAT_ASSERT(static_cast<std::size_t>(layout) < std::size(names));
    return names[static_cast<std::size_t>(layout)];
}

const char* name(Encoding encoding) {
    constexpr const char* names[] = {"auto",         "constrained",   "domain-bit",
                                     "position-tag", "position-hash", "bucket-tag"};
    QUADRAT_ASSERT(static_cast<std::size_t>(encoding) < std::size(names));
    return names[static_cast<std::size_t>(encoding)];
}

namespace {

// Lookups of an encoding that takes several positions of the domain at once; those outside are set aside.
template <int D, class X>
void find_blocks(const X& x, const Voxel<D>& origin, const std::array<std::uint32_t, D>& extent,
                 std::span<const Voxel<D>> p, std::span<std::uint32_t> out) {
    constexpr std::size_t most = 64;
    std::array<std::uint32_t, D> local[most];
    std::uint32_t from[most], places[most];
    for (std::size_t begin = 0; begin < p.size(); begin += most) {
        const std::size_t count = std::min(most, p.size() - begin);
        std::size_t inside = 0;
        for (std::size_t i = begin; i < begin + count; ++i) {
            bool in = true;
            for (int a = 0; a < D; ++a) {
                const auto k = static_cast<std::size_t>(a);
                local[inside][k] = static_cast<std::uint32_t>(p[i][a]) - static_cast<std::uint32_t>(origin[a]);
                in &= local[inside][k] < extent[k];
            }
            out[i] = voxels::no_place;
            from[inside] = static_cast<std::uint32_t>(i - begin);
            inside += in;
        }
        x.find_many(std::span(local, inside), places);
        for (std::size_t k = 0; k < inside; ++k) out[begin + from[k]] = places[k];
    }
}

}  // namespace

Buffer Buffer::zeros(std::size_t bytes) {
    return {voxels::zeroed(bytes), bytes};
}

template <int D>
VoxelIndex<D>::VoxelIndex(std::shared_ptr<const voxels::IndexState<D>> state)
    : state_(std::move(state)),
      hash_(state_->hash),
      origin_(state_->parts.origin),
      entries_(state_->parts.entries),
      tag_bits_(state_->parts.tag_bits),
      layout_(state_->parts.layout),
      encoding_(state_->parts.encoding) {
    if (entries_ == 0) return;
    extent_ = state_->parts.extent;
    std::visit(
        [&](const auto& x) {
            values_ = x.values();
            fast_ = x.fast(origin_, extent_);
        },
        state_->encoding);
}

// The box was tested, so there are entries.
template <int D>
std::uint32_t VoxelIndex<D>::find_other(Local local) const {
    return std::visit([&](const auto& x) { return x.find(local); }, state_->encoding);
}

template <int D>
void VoxelIndex<D>::find(std::span<const Voxel<D>> p, std::span<std::uint32_t> out, const void* values,
                         std::size_t value_bytes) const {
    if (p.size() != out.size())
        throw Error(ErrorKind::bad_shape, "positions and results differ in number: " + std::to_string(p.size()) +
                                              " and " + std::to_string(out.size()));
    if (entries_ == 0) {
        std::fill(out.begin(), out.end(), absent);
        return;
    }
    std::visit(
        [&]<class X>(const X& x) {
            if constexpr (requires { x.batch(origin_, extent_); })
                if (voxels::batchable(x.hash)) {
                    voxels::BatchIndex batch = x.batch(origin_, extent_);
                    batch.data = static_cast<const std::uint8_t*>(values);
                    batch.data_bytes = value_bytes;
                    voxels::find_batch<D>(batch, reinterpret_cast<const std::int32_t*>(p.data()), p.size(), out.data());
                    return;
                }
            if constexpr (requires { x.find_many(std::span<const Local>(), out.data()); })
                return find_blocks<D>(x, origin_, extent_, p, out);
            for (std::size_t i = 0; i < p.size(); ++i)
                out[i] = fast_.find(p[i], [&](const Local& local) { return x.find(local); });
        },
        state_->encoding);
}

template <int D>
std::uint64_t VoxelIndex<D>::bytes() const {
    std::uint64_t sum = 0;
    if (state_)
        for (const Buffer& b : state_->parts.tables)
            sum += b.size > voxels::table_padding ? b.size - voxels::table_padding : 0;
    return sum;
}

template <int D>
double VoxelIndex<D>::overhead_bits_per_entry(std::size_t value_bytes) const {
    if (entries_ == 0) return 0;
    const auto all =
        static_cast<double>(bytes()) + static_cast<double>(values_ - entries_) * static_cast<double>(value_bytes);
    return 8 * all / entries_;
}

template <int D>
template <class Fn>
void VoxelIndex<D>::visit(Fn&& fn) const {
    if (entries_ == 0) return;
    std::visit(
        [&](const auto& x) {
            x.visit([&](const Local& local, std::uint32_t at) {
                Voxel<D> p;
                for (int a = 0; a < D; ++a) {
                    if (local[a] >= extent_[a]) return;  // only in a broken file
                    p[a] = static_cast<std::int32_t>(static_cast<std::uint32_t>(origin_[a]) + local[a]);
                }
                if (at < values_) fn(p, at);
            });
        },
        state_->encoding);
}

template <int D>
void VoxelIndex<D>::walk(void (*part)(std::span<const Entry>, void*), void* to) const {
    QUADRAT_ASSERT(part != nullptr);
    std::vector<Entry> some;
    some.reserve(256);
    visit([&](const Voxel<D>& p, std::uint32_t at) {
        some.emplace_back(p, at);
        if (some.size() < some.capacity()) return;
        part(some, to);
        some.clear();
    });
    part(some, to);
}

template <int D>
std::vector<typename VoxelIndex<D>::Entry> VoxelIndex<D>::sorted() const {
    std::vector<Entry> out;
    visit([&](const Voxel<D>& p, std::uint32_t at) { out.emplace_back(p, at); });
    std::sort(out.begin(), out.end(), [](const Entry& a, const Entry& b) {
        return a.first == b.first ? a.second < b.second : voxels::by_z_y_x<D>(a.first, b.first);
    });
    return out;
}

template class VoxelIndex<2>;
template class VoxelIndex<3>;

}  // namespace quadrat
