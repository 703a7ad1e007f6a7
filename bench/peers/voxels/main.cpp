// Sparse grids with a 4-byte payload, side by side in one process: bits above the payload, seconds to build, and
// nanoseconds per lookup for random hits, hits in the order of space, random misses, and a scan over a slice of the
// domain. Every structure answers in turn, round after round; the medians count, and every sum is compared. Usage:
// quadrat_peers_voxels D1|D2|D3|D4|D5 [OUT.json]
#include <quadrat/voxels.hpp>

#include "bench/voxels/data.hpp"
#include "rivals.hpp"

#include <cstdio>
#include <fstream>
#include <numeric>

using namespace quadrat;

namespace {

struct Workload {
    std::string name;
    std::vector<peers::Cell> cells, hits, misses, scan;
    std::vector<std::uint32_t> values;
    std::uint64_t hit_sum = 0, all_sum = 0, scan_sum = 0;
};

template <int D>
peers::Cell cell(const Voxel<D>& p) {
    return {p[0], p[1], D == 3 ? p[D - 1] : 0};
}
// The same numbers, where they are: no structure pays for a conversion.
template <int D>
const Voxel<D>& voxel(const peers::Cell& c) {
    return *reinterpret_cast<const Voxel<D>*>(c.data());
}

template <int D>
Workload prepare(const char* name, const std::vector<Voxel<D>>& points, std::int32_t side) {
    Workload w;
    w.name = name;
    std::vector<std::uint64_t> keys;
    for (const auto& p : points) {
        w.cells.push_back(cell<D>(p));
        keys.push_back(peers::key(w.cells.back()));
        w.values.push_back(static_cast<std::uint32_t>(peers::mix(keys.back())) | 1);
    }
    std::sort(keys.begin(), keys.end());  // the oracle
    const auto value = [&](const peers::Cell& c) {
        const std::uint64_t k = peers::key(c);
        return std::binary_search(keys.begin(), keys.end(), k) ? static_cast<std::uint32_t>(peers::mix(k)) | 1 : 0u;
    };
    std::mt19937_64 g(7);
    constexpr std::size_t queries = 1 << 20;
    for (std::size_t i = 0; i < queries; ++i) {
        w.hits.push_back(w.cells[g() % w.cells.size()]);
        w.hit_sum += value(w.hits.back());
    }
    for (const std::uint32_t v : w.values) w.all_sum += v;
    while (w.misses.size() < queries) {
        peers::Cell c{};
        for (int a = 0; a < D; ++a)
            c[static_cast<std::size_t>(a)] = static_cast<std::int32_t>(g() % static_cast<std::uint64_t>(side));
        if (value(c) == 0) w.misses.push_back(c);
    }
    for (std::int32_t y = 0; y < side; ++y)
        for (std::int32_t x = 0; x < side; ++x) {
            w.scan.push_back({x, y, D == 3 ? side * 2 / 5 : 0});
            w.scan_sum += value(w.scan.back());
        }
    return w;
}

template <int D>
peers::Rival packed(const Workload& w, const std::string& label, const VoxelOptions& options, bool batch = false) {
    std::vector<Voxel<D>> points;
    for (const auto& c : w.cells) points.push_back(voxel<D>(c));
    auto v = std::make_shared<SparseVoxels<std::uint32_t, D>>();
    peers::Rival r = peers::build(label, [&](double& bytes) {
        *v = SparseVoxels<std::uint32_t, D>::pack(points, w.values, options);
        bytes = static_cast<double>(v->index().bytes()) + 4.0 * v->index().values();
        return [v](peers::Cells q) {
            std::uint64_t sum = 0;
            for (const auto& c : q)
                if (const std::uint32_t* f = v->find(voxel<D>(c))) sum += *f;
            return sum;
        };
    });
    if (batch) {
        r.sum = [v](peers::Cells q) {
            std::uint64_t sum = 0;
            std::array<Voxel<D>, 4096> p;
            std::array<std::uint32_t, 4096> out;
            for (std::size_t begin = 0; begin < q.size(); begin += p.size()) {
                const std::size_t n = std::min(p.size(), q.size() - begin);
                for (std::size_t i = 0; i < n; ++i) p[i] = voxel<D>(q[begin + i]);
                v->at(std::span<const Voxel<D>>(p.data(), n), std::span(out.data(), n));
                sum += std::accumulate(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(n), std::uint64_t{0});
            }
            return sum;
        };
    }
    r.exact = v->index().exact();
    r.name = "quadrat " + label;
    if (label.starts_with("auto")) r.name += std::string(" (") + quadrat::name(v->index().layout()) + ")";
    return r;
}

struct Row {
    const peers::Rival* rival;
    std::vector<double> nanoseconds[4];
    bool right = true;
};

double median(std::vector<double> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

template <int D>
int run(const Workload& w, const char* file) {
    std::vector<peers::Rival> all;
    const Encoding tag = Encoding::bucket_tag;
    all.push_back(packed<D>(w, "constrained", {.layout = Layout::voxel, .encoding = Encoding::constrained}));
    all.push_back(packed<D>(w, "tagged", {.layout = Layout::voxel, .encoding = tag}));
    all.push_back(packed<D>(w, "tagged, batches", {.layout = Layout::voxel, .encoding = tag}, true));
    all.push_back(
        packed<D>(w, "tagged, coherent", {.layout = Layout::voxel, .encoding = tag, .coherence = Coherence::defined}));
    all.push_back(packed<D>(w, "bricks", {.layout = Layout::brick}));
    all.push_back(packed<D>(w, "bits and ranks", {.layout = Layout::bits}));
    if (w.cells.size() < 2000000) all.push_back(packed<D>(w, "auto, compact", {.construction = Construction::compact}));
    for (peers::Rival& r : peers::rivals(w.cells, w.values)) all.push_back(std::move(r));

    std::vector<Row> rows;
    for (const peers::Rival& r : all) rows.push_back({&r, {}, true});
    const peers::Cells patterns[] = {w.hits, w.cells, w.misses, w.scan};
    const std::uint64_t wanted[] = {w.hit_sum, w.all_sum, 0, w.scan_sum};
    const int rounds = w.cells.size() > 2000000 ? 3 : 5;
    for (int round = 0; round <= rounds; ++round)  // the first one warms up
        for (Row& row : rows)
            for (std::size_t k = 0; k < 4; ++k) {
                if (k >= 2 && !row.rival->exact) continue;
                (void)row.rival->sum(patterns[k]);  // nobody pays for what the one before left in the caches
                const double start = peers::now();
                const std::uint64_t sum = row.rival->sum(patterns[k]);
                const double seconds = peers::now() - start;
                if (round) row.nanoseconds[k].push_back(1e9 * seconds / static_cast<double>(patterns[k].size()));
                row.right = row.right && sum == wanted[k];
            }

    const auto n = static_cast<double>(w.cells.size());
    std::printf(
        "%s: %zu entries; bits above the payload per entry, nanoseconds per lookup (medians of %d interleaved "
        "rounds)\n",
        w.name.c_str(), w.cells.size(), rounds);
    std::printf("%-30s %9s %9s %9s %9s %9s %9s\n", "", "bits", "build s", "hit", "coherent", "miss", "scan");
    std::string json;
    bool right = true;
    for (const Row& row : rows) {
        double ns[4] = {};
        for (std::size_t k = 0; k < 4; ++k)
            if (!row.nanoseconds[k].empty()) ns[k] = median(row.nanoseconds[k]);
        const double bits = (row.rival->bytes / n - 4) * 8;
        std::printf("%-30s %9.2f %9.3f %9.2f %9.2f", row.rival->name.c_str(), bits, row.rival->seconds, ns[0], ns[1]);
        if (row.rival->exact)
            std::printf(" %9.2f %9.2f", ns[2], ns[3]);
        else
            std::printf(" %9s %9s", "-", "-");
        std::printf("%s\n", row.right ? "" : "  WRONG");
        right = right && row.right;
        char line[512];
        std::snprintf(line, sizeof line,
                      "  {\"set\": \"%s\", \"entries\": %zu, \"name\": \"%s\", \"bits\": %.3f, \"build_seconds\": "
                      "%.4f, \"hit_ns\": %.3f, "
                      "\"coherent_ns\": %.3f, \"miss_ns\": %.3f, \"scan_ns\": %.3f, \"right\": %s}",
                      w.name.c_str(), w.cells.size(), row.rival->name.c_str(), bits, row.rival->seconds, ns[0], ns[1],
                      ns[2], ns[3], row.right ? "true" : "false");
        json += (json.empty() ? "" : ",\n") + std::string(line);
    }
    if (file) std::ofstream(file) << "[\n" << json << "\n]\n";
    return right ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string which = count > 1 ? arguments[1] : "D3";
    const char* file = count > 2 ? arguments[2] : nullptr;
    if (which == "D1") return run<2>(prepare<2>("D1", bench::random_set<2>(100000, 11, 1), 2048), file);
    if (which == "D2") return run<3>(prepare<3>("D2", bench::random_set<3>(1000000, 9, 2), 512), file);
    if (which == "D3") return run<3>(prepare<3>("D3", bench::surface_set(512, 562911), 512), file);
    if (which == "D4") return run<3>(prepare<3>("D4", bench::surface_set(2048, 5900000), 2048), file);
    if (which == "D5") return run<2>(prepare<2>("D5", bench::glyph_set(3), 512), file);
    std::fprintf(stderr, "D1 D2 D3 D4 or D5\n");
    return 2;
}
