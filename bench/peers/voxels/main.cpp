// Sparse grids with a 4-byte payload, side by side: bits above the payload, seconds to build, and nanoseconds per
// lookup for random hits, hits in the order of space, random misses, and a scan over slices of the domain. Every answer
// is checked.
#include <quadrat/voxels.hpp>

#include "bench/voxels/data.hpp"

#include <absl/container/flat_hash_map.h>
#include <nanovdb/util/GridBuilder.h>
#include <tsl/robin_map.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

using namespace quadrat;

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::uint64_t mix(std::uint64_t z) {
    z += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

template <int D>
std::uint64_t key(const Voxel<D>& p) {
    std::uint64_t k = 0;
    for (int a = D - 1; a >= 0; --a) k = k << 21 | static_cast<std::uint32_t>(p[a]);
    return k;
}

template <int D>
struct Set {
    const char* name;
    std::vector<Voxel<D>> points;
    std::vector<std::uint32_t> values;
    std::vector<Voxel<D>> hits, misses, scan;
    std::uint64_t hit_sum = 0, all_sum = 0, scan_sum = 0;
};

template <int D>
Set<D> prepare(const char* name, std::vector<Voxel<D>> points, std::int32_t side) {
    Set<D> s{name, std::move(points), {}, {}, {}, {}};
    for (const auto& p : s.points) s.values.push_back(static_cast<std::uint32_t>(mix(key<D>(p))) | 1);
    std::mt19937_64 g(7);
    constexpr std::size_t queries = 1 << 20;
    std::vector<std::uint32_t> order(s.points.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::shuffle(order.begin(), order.end(), g);
    absl::flat_hash_map<std::uint64_t, std::uint32_t> oracle;
    for (std::size_t i = 0; i < s.points.size(); ++i) oracle[key<D>(s.points[i])] = s.values[i];
    for (std::size_t i = 0; i < queries; ++i) {
        const std::uint32_t k = order[i % order.size()];
        s.hits.push_back(s.points[k]);
        s.hit_sum += s.values[k];
    }
    for (const std::uint32_t v : s.values) s.all_sum += v;
    while (s.misses.size() < queries) {
        Voxel<D> p;
        for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(side));
        if (!oracle.contains(key<D>(p))) s.misses.push_back(p);
    }
    const std::int32_t z0 = D == 3 ? side * 2 / 5 : 0;
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) {
            Voxel<D> p;
            p[0] = x;
            p[1] = y;
            if constexpr (D == 3) p[2] = z0;
            s.scan.push_back(p);
            if (auto it = oracle.find(key<D>(p)); it != oracle.end()) s.scan_sum += it->second;
        }
    return s;
}

template <int D, class Find>
double nanoseconds(const std::vector<Voxel<D>>& queries, std::uint64_t want, bool check, bool& right, Find&& find) {
    double best = 1e9;
    for (int r = 0; r < 5; ++r) {
        const double t = now();
        std::uint64_t sum = 0;
        for (const auto& p : queries) sum += find(p);
        best = std::min(best, now() - t);
        if (check) right &= sum == want;
    }
    return best / static_cast<double>(queries.size()) * 1e9;
}

template <int D, class Find>
void row(const Set<D>& s, const char* label, double seconds, double bytes, bool exact, Find&& find) {
    bool right = true;
    const double hit = nanoseconds<D>(s.hits, s.hit_sum, true, right, find);
    const double coherent = nanoseconds<D>(s.points, s.all_sum, true, right, find);
    const double miss = nanoseconds<D>(s.misses, 0, exact, right, find);
    const double scan = nanoseconds<D>(s.scan, s.scan_sum, exact, right, find);
    const auto n = static_cast<double>(s.points.size());
    std::printf(
        "%s  %-30s build %7.3f s  overhead %8.2f bits  hit %6.2f  coherent %6.2f  miss %6.2f  scan %6.2f ns  %s\n",
        s.name, label, seconds, (bytes / n - 4) * 8, hit, coherent, miss, scan, right ? "right" : "WRONG");
    std::fflush(stdout);
}

template <int D>
void quadrat_row(const Set<D>& s, const char* label, const VoxelOptions& options) {
    const double t = now();
    const auto v = SparseVoxels<std::uint32_t, D>::pack(s.points, s.values, options);
    const double seconds = now() - t;
    const double bytes = static_cast<double>(v.index().bytes()) + 4.0 * v.index().values();
    const std::string full =
        std::string("quadrat ") + label + " (" + name(v.index().layout()) + ", " + name(v.index().encoding()) + ")";
    row<D>(s, full.c_str(), seconds, bytes, v.index().exact(), [&](const Voxel<D>& p) {
        const std::uint32_t* f = v.find(p);
        return f ? *f : 0u;
    });
    // Batches.
    std::vector<std::uint32_t> out(s.hits.size());
    double best = 1e9;
    for (int r = 0; r < 5; ++r) {
        const double b = now();
        v.at(s.hits, out);
        best = std::min(best, now() - b);
    }
    std::uint64_t sum = 0;
    for (const std::uint32_t x : out) sum += x;
    std::printf("%s    in batches: hit %6.2f ns %s\n", s.name, best / static_cast<double>(out.size()) * 1e9,
                sum == s.hit_sum ? "right" : "WRONG");
}

template <int D>
void run(const Set<D>& s) {
    std::printf("%s: %zu entries\n", s.name, s.points.size());
    quadrat_row<D>(s, "fast", {.layout = Layout::voxel, .encoding = Encoding::constrained});
    quadrat_row<D>(s, "fast", {.layout = Layout::voxel, .encoding = Encoding::bucket_tag});
    quadrat_row<D>(s, "coherent",
                   {.layout = Layout::voxel, .encoding = Encoding::bucket_tag, .coherence = Coherence::defined});
    quadrat_row<D>(s, "fast", {.layout = Layout::brick});
    quadrat_row<D>(s, "auto", {});
    if (s.points.size() < 2000000) quadrat_row<D>(s, "auto compact", {.construction = Construction::compact});
    {
        const double t = now();
        absl::flat_hash_map<std::uint64_t, std::uint32_t> map;
        map.reserve(s.points.size());
        for (std::size_t i = 0; i < s.points.size(); ++i) map.emplace(key<D>(s.points[i]), s.values[i]);
        const double seconds = now() - t;
        row<D>(s, "absl::flat_hash_map", seconds, static_cast<double>(map.capacity()) * 17, true,
               [&](const Voxel<D>& p) {
                   const auto it = map.find(key<D>(p));
                   return it == map.end() ? 0u : it->second;
               });
    }
    {
        const double t = now();
        struct Hash {
            std::size_t operator()(std::uint64_t k) const { return mix(k); }
        };
        tsl::robin_map<std::uint64_t, std::uint32_t, Hash> map;
        map.reserve(s.points.size());
        for (std::size_t i = 0; i < s.points.size(); ++i) map.emplace(key<D>(s.points[i]), s.values[i]);
        const double seconds = now() - t;
        row<D>(s, "tsl::robin_map", seconds, static_cast<double>(map.bucket_count()) * 24, true,
               [&](const Voxel<D>& p) {
                   const auto it = map.find(key<D>(p));
                   return it == map.end() ? 0u : it->second;
               });
    }
    {
        const double t = now();
        nanovdb::GridBuilder<std::uint32_t> builder(0u);
        auto out = builder.getAccessor();
        for (std::size_t i = 0; i < s.points.size(); ++i)
            out.setValue(nanovdb::Coord(s.points[i][0], s.points[i][1], D == 3 ? s.points[i][D - 1] : 0), s.values[i]);
        auto handle = builder.getHandle<>();
        const double seconds = now() - t;
        const auto* grid = handle.template grid<std::uint32_t>();
        auto accessor = grid->getAccessor();
        row<D>(s, "NanoVDB, full leaves, accessor", seconds, static_cast<double>(handle.size()), true,
               [&](const Voxel<D>& p) { return accessor.getValue(nanovdb::Coord(p[0], p[1], D == 3 ? p[D - 1] : 0)); });
    }
    {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> sorted;
        const double t = now();
        for (std::size_t i = 0; i < s.points.size(); ++i) sorted.emplace_back(key<D>(s.points[i]), s.values[i]);
        std::sort(sorted.begin(), sorted.end());
        const double seconds = now() - t;
        row<D>(s, "sorted keys", seconds, static_cast<double>(sorted.size()) * 12, true, [&](const Voxel<D>& p) {
            const std::uint64_t k = key<D>(p);
            const auto it =
                std::lower_bound(sorted.begin(), sorted.end(), std::pair<std::uint64_t, std::uint32_t>(k, 0));
            return it != sorted.end() && it->first == k ? it->second : 0u;
        });
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::string which = count > 1 ? arguments[1] : "D3";
    if (which == "D1") run(prepare<2>("D1", bench::random_set<2>(100000, 11, 1), 2048));
    if (which == "D2") run(prepare<3>("D2", bench::random_set<3>(1000000, 9, 2), 512));
    if (which == "D3") run(prepare<3>("D3", bench::surface_set(512, 562911), 512));
    if (which == "D4") run(prepare<3>("D4", bench::surface_set(2048, 5900000), 2048));
    if (which == "D5") run(prepare<2>("D5", bench::glyph_set(3), 512));
}
