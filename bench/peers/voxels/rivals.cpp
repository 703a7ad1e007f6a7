#include "rivals.hpp"

#include <absl/container/flat_hash_map.h>
#include <nanovdb/util/GridBuilder.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <memory>

namespace peers {
namespace {

struct Hash {
    std::size_t operator()(std::uint64_t k) const { return mix(k); }
};

template <class Map>
std::function<std::uint64_t(Cells)> fill(Map& map, Cells cells, Values values) {
    map.reserve(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) map.emplace(key(cells[i]), values[i]);
    return [&map](Cells q) {
        std::uint64_t sum = 0;
        for (const Cell& p : q)
            if (const auto it = map.find(key(p)); it != map.end()) sum += it->second;
        return sum;
    };
}

std::uint64_t spread(std::uint64_t x, int dims) {
    if (dims == 2) {
        x = (x | x << 16) & 0x0000FFFF0000FFFFu;
        x = (x | x << 8) & 0x00FF00FF00FF00FFu;
        x = (x | x << 4) & 0x0F0F0F0F0F0F0F0Fu;
        x = (x | x << 2) & 0x3333333333333333u;
        return (x | x << 1) & 0x5555555555555555u;
    }
    x = (x | x << 32) & 0x001F00000000FFFFu;
    x = (x | x << 16) & 0x001F0000FF0000FFu;
    x = (x | x << 8) & 0x100F00F00F00F00Fu;
    x = (x | x << 4) & 0x10C30C30C30C30C3u;
    return (x | x << 2) & 0x1249249249249249u;
}

/// Keys and values in two arrays; keys of 32 bits where they fit.
template <class Key, int Dims>
Rival sorted_morton(Cells cells, Values values) {
    const auto code = [](const Cell& p) {
        std::uint64_t k = 0;
        for (int a = 0; a < Dims; ++a)
            k |= spread(static_cast<std::uint32_t>(p[static_cast<std::size_t>(a)]), Dims) << a;
        return k;
    };
    return build("sorted Morton keys", [&](double& bytes) {
        std::vector<std::pair<Key, std::uint32_t>> pairs;
        for (std::size_t i = 0; i < cells.size(); ++i) pairs.emplace_back(static_cast<Key>(code(cells[i])), values[i]);
        std::sort(pairs.begin(), pairs.end());
        auto keys = std::make_shared<std::vector<Key>>();
        auto sorted = std::make_shared<std::vector<std::uint32_t>>();
        for (const auto& [k, v] : pairs) {
            keys->push_back(k);
            sorted->push_back(v);
        }
        bytes = static_cast<double>(pairs.size()) * (sizeof(Key) + 4);
        return [keys, sorted, code](Cells q) {
            std::uint64_t sum = 0;
            for (const Cell& p : q) {
                const std::uint64_t wanted = code(p);
                const auto it = std::lower_bound(keys->begin(), keys->end(), wanted);
                if (it != keys->end() && *it == wanted) sum += (*sorted)[static_cast<std::size_t>(it - keys->begin())];
            }
            return sum;
        };
    });
}

}  // namespace

std::vector<Rival> rivals(Cells cells, Values values) {
    std::vector<Rival> out;
    out.push_back(build("absl::flat_hash_map", [&](double& bytes) {
        auto map = std::make_shared<absl::flat_hash_map<std::uint64_t, std::uint32_t>>();
        auto sum = fill(*map, cells, values);
        bytes = static_cast<double>(map->capacity()) * 17;
        return [map, sum](Cells q) { return sum(q); };
    }));
    out.push_back(build("tsl::robin_map", [&](double& bytes) {
        auto map = std::make_shared<tsl::robin_map<std::uint64_t, std::uint32_t, Hash>>();
        auto sum = fill(*map, cells, values);
        bytes = static_cast<double>(map->bucket_count()) * 24;
        return [map, sum](Cells q) { return sum(q); };
    }));
    out.push_back(build("OpenVDB, accessor", [&](double& bytes) {
        auto tree = std::make_shared<quadrat::bench::Octree>(cells, values);
        bytes = static_cast<double>(tree->bytes());
        return [tree](Cells q) { return tree->sum(q); };
    }));
    out.push_back(build("NanoVDB, accessor", [&](double& bytes) {
        nanovdb::GridBuilder<std::uint32_t> builder(0u);
        auto to = builder.getAccessor();
        for (std::size_t i = 0; i < cells.size(); ++i)
            to.setValue(nanovdb::Coord(cells[i][0], cells[i][1], cells[i][2]), values[i]);
        auto handle = std::make_shared<nanovdb::GridHandle<>>(builder.getHandle<>());
        bytes = static_cast<double>(handle->size());
        return [handle](Cells q) {
            const auto* grid = handle->template grid<std::uint32_t>();
            auto accessor = grid->getAccessor();
            std::uint64_t sum = 0;
            for (const Cell& p : q) sum += accessor.getValue(nanovdb::Coord(p[0], p[1], p[2]));
            return sum;
        };
    }));
    bool flat = true;
    std::int32_t side = 0;
    for (const Cell& p : cells) {
        flat = flat && p[2] == 0;
        side = std::max({side, p[0], p[1], p[2]});
    }
    if (flat)
        out.push_back(sorted_morton<std::uint32_t, 2>(cells, values));
    else if (side < 1024)
        out.push_back(sorted_morton<std::uint32_t, 3>(cells, values));
    else
        out.push_back(sorted_morton<std::uint64_t, 3>(cells, values));
    return out;
}

}  // namespace peers
