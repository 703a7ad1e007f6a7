// Lookups of one of the sets D1-D5 in every layout, beside NanoVDB's accessor and absl::flat_hash_map: all rows are
// built first, then timed in turns, so that their ratios hold on a shared machine. Each lookup pattern runs twice in a
// row, so that no structure pays for what the one before it left in the caches; each figure is the least of all runs.
//   quadrat_bench_voxels D4 [FILE]      FILE keeps the positions between runs
#include <quadrat/voxels.hpp>

#include "bench/voxels/data.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>

#if QUADRAT_BENCH_RIVALS
#include <absl/container/flat_hash_map.h>
#include <nanovdb/util/GridBuilder.h>
#endif

using namespace quadrat;

namespace {

double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <int D>
std::uint64_t key(const Voxel<D>& p) {
    std::uint64_t k = 0;
    for (int a = D - 1; a >= 0; --a) k = k << 21 | static_cast<std::uint32_t>(p[a]);
    return k;
}

struct Row {
    std::string name;
    double build = 0, bits = 0;
    std::function<std::uint64_t(int)> run[4];  // hits, in order, misses, batch: the sum of what was found
    double best[4] = {1e9, 1e9, 1e9, 1e9};
};

template <int D>
struct Bench {
    std::vector<Voxel<D>> points, hits, misses;
    std::vector<std::uint32_t> values;
    std::vector<Row> rows;

    Bench(std::vector<Voxel<D>> set, std::int32_t side) : points(std::move(set)) {
        std::mt19937_64 g(7);
        for (const auto& p : points)
            values.push_back(static_cast<std::uint32_t>(key<D>(p) * 0x9E3779B97F4A7C15u >> 33) | 1);
        for (std::size_t i = 0; i < std::size_t{1} << 20; ++i) hits.push_back(points[g() % points.size()]);
        const auto less = [](const Voxel<D>& a, const Voxel<D>& b) { return key<D>(a) < key<D>(b); };
        while (misses.size() < hits.size()) {
            Voxel<D> p;
            for (int a = 0; a < D; ++a) p[a] = static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(side));
            if (!std::binary_search(points.begin(), points.end(), p, less)) misses.push_back(p);
        }
    }

    template <class Find>
    void add(std::string name, double build, double bits, Find find) {
        Row row{std::move(name), build, bits, {}, {}};
        const auto over = [find](const std::vector<Voxel<D>>& queries) {
            return [find, &queries](int) {
                std::uint64_t sum = 0;
                for (const auto& p : queries) sum += find(p);
                return sum;
            };
        };
        row.run[0] = over(hits);
        row.run[1] = over(points);
        row.run[2] = over(misses);
        std::fill_n(row.best, 4, 1e9);
        rows.push_back(std::move(row));
    }

    void add_quadrat(const char* label, const VoxelOptions& options) {
        const double t = now();
        auto v = std::make_shared<SparseVoxels<std::uint32_t, D>>(
            SparseVoxels<std::uint32_t, D>::pack(points, values, options));
        const double build = now() - t;
        const auto& x = v->index();
        const double bits =
            8 * (static_cast<double>(x.bytes()) + 4.0 * x.values()) / static_cast<double>(points.size()) - 32;
        add(std::string(label) + " (" + quadrat::name(x.layout()) + ", " + quadrat::name(x.encoding()) + ")", build,
            bits, [v = v.get()](const Voxel<D>& p) {
                const std::uint32_t* f = v->find(p);
                return f ? *f : 0u;
            });
        rows.back().run[3] = [this, v](int) {
            std::vector<std::uint32_t> out(hits.size());
            const double b = now();
            v->at(hits, out);
            batch_seconds = now() - b;
            std::uint64_t sum = 0;
            for (const std::uint32_t o : out) sum += o;
            return sum;
        };
    }

    void run(const char* set) {
        add_quadrat("fast", {.layout = Layout::voxel, .encoding = Encoding::constrained});
        add_quadrat("fast", {.layout = Layout::voxel, .encoding = Encoding::bucket_tag});
        add_quadrat("coherent",
                    {.layout = Layout::voxel, .encoding = Encoding::bucket_tag, .coherence = Coherence::defined});
        add_quadrat("fast", {.layout = Layout::brick});
        add_quadrat("auto", {});
        add_quadrat("size", {.optimize = Optimize::size});
#if QUADRAT_BENCH_RIVALS
        absl::flat_hash_map<std::uint64_t, std::uint32_t> map;
        double t = now();
        map.reserve(points.size());
        for (std::size_t i = 0; i < points.size(); ++i) map.emplace(key<D>(points[i]), values[i]);
        add("absl::flat_hash_map", now() - t, 0, [&map](const Voxel<D>& p) {
            const auto it = map.find(key<D>(p));
            return it == map.end() ? 0u : it->second;
        });
        t = now();
        nanovdb::GridBuilder<std::uint32_t> builder(0u);
        {
            auto out = builder.getAccessor();
            for (std::size_t i = 0; i < points.size(); ++i)
                out.setValue(nanovdb::Coord(points[i][0], points[i][1], D == 3 ? points[i][D - 1] : 0), values[i]);
        }
        auto handle = builder.template getHandle<>();
        auto accessor = handle.template grid<std::uint32_t>()->getAccessor();
        add("NanoVDB accessor", now() - t, 0, [accessor](const Voxel<D>& p) {
            return accessor.getValue(nanovdb::Coord(p[0], p[1], D == 3 ? p[D - 1] : 0));
        });
#endif
        std::uint64_t want[4] = {0, 0, 0, 0};
        for (const std::uint32_t v : values) want[1] += v;
        want[0] = want[3] = rows[0].run[0](0);
        const std::size_t count[4] = {hits.size(), points.size(), misses.size(), hits.size()};
        for (int round = 0; round < 7; ++round)
            for (Row& r : rows)
                for (int k = 0; k < 8; ++k) {
                    if (!r.run[k / 2]) continue;
                    time(r, k / 2, want, count);
                }
        for (const Row& r : rows)
            std::printf("%s %-30s build %7.3f s  %6.2f bits  hit %6.2f  in order %6.2f  miss %6.2f  batch %6.2f ns\n",
                        set, r.name.c_str(), r.build, r.bits, r.best[0], r.best[1], r.best[2],
                        r.run[3] ? r.best[3] : 0.0);
    }

    void time(Row& r, int k, const std::uint64_t (&want)[4], const std::size_t (&count)[4]) {
        const double begin = now();
        const std::uint64_t sum = r.run[k](0);
        const double seconds = k == 3 ? batch_seconds : now() - begin;
        r.best[k] = std::min(r.best[k], seconds / static_cast<double>(count[k]) * 1e9);
        const bool exact = k != 2 || r.name.find("constrained") == std::string::npos;
        if (exact && sum != want[k]) std::printf("WRONG %s %d\n", r.name.c_str(), k);
    }

    double batch_seconds = 0;
};

// The set from a file, or made and kept there.
template <int D, class Make>
std::vector<Voxel<D>> cached(const char* path, Make&& make) {
    std::vector<Voxel<D>> set;
    if (std::FILE* f = path ? std::fopen(path, "rb") : nullptr) {
        std::fseek(f, 0, SEEK_END);
        set.resize(static_cast<std::size_t>(std::ftell(f)) / sizeof(Voxel<D>));
        std::rewind(f);
        if (std::fread(set.data(), sizeof(Voxel<D>), set.size(), f) != set.size()) set.clear();
        std::fclose(f);
    }
    if (set.empty()) {
        set = make();
        if (std::FILE* f = path ? std::fopen(path, "wb") : nullptr) {
            std::fwrite(set.data(), sizeof(Voxel<D>), set.size(), f);
            std::fclose(f);
        }
    }
    return set;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string set = count > 1 ? arguments[1] : "D3";
    const char* path = count > 2 ? arguments[2] : nullptr;
    if (set == "D1") Bench<2>(cached<2>(path, [] { return bench::random_set<2>(100000, 11, 1); }), 2048).run("D1");
    if (set == "D2") Bench<3>(cached<3>(path, [] { return bench::random_set<3>(1000000, 9, 2); }), 512).run("D2");
    if (set == "D3") Bench<3>(cached<3>(path, [] { return bench::surface_set(512, 562911); }), 512).run("D3");
    if (set == "D4") Bench<3>(cached<3>(path, [] { return bench::surface_set(2048, 5900000); }), 2048).run("D4");
    if (set == "D5") Bench<2>(cached<2>(path, [] { return bench::glyph_set(3); }), 512).run("D5");
}
