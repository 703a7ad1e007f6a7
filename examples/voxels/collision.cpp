// Where two surfaces may touch (PSH 7.2, figure 11). Surface A becomes the voxels within a voxel's circumradius of it,
// as blocks of 6^3 bits in a perfect hash, with a bit for every block of the domain. Surface B becomes the centres of
// its voxels. For any rigid motion of B each centre is moved and looked up: every voxel of B that meets A is found,
// since its centre is at most a circumradius away from the point where they meet. The program checks that against
// distances to all triangles.
#include <quadrat/voxels.hpp>

#include "picture.hpp"

#include <chrono>
#include <limits>
#include <map>

using namespace example;
using quadrat::Voxel;

namespace {

/// The point of a triangle that is nearest to p.
Vec3d nearest(const Vec3d& p, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    const Vec3d ab = b - a, ac = c - a, ap = p - a;
    const double aa = dot(ab, ab), bb = dot(ab, ac), cc = dot(ac, ac), d = dot(ab, ap), e = dot(ac, ap);
    const double det = aa * cc - bb * bb, v = (cc * d - bb * e) / det, w = (aa * e - bb * d) / det;
    if (det > 0 && v >= 0 && w >= 0 && v + w <= 1) return a + v * ab + w * ac;
    const auto on = [&](const Vec3d& q, const Vec3d& r) {
        const Vec3d qr = r - q;
        const double l = dot(qr, qr);
        return q + (l > 0 ? std::clamp(dot(p - q, qr) / l, 0.0, 1.0) : 0.0) * qr;
    };
    Vec3d best = on(a, b);
    for (const Vec3d& q : {on(b, c), on(c, a)})
        if (length(q - p) < length(best - p)) best = q;
    return best;
}

/// False only if the triangle is certainly farther than `reach` from the cube around `middle`: points on both are
/// brought together, and the plane across the gap must have the cube on one side and the triangle on the other.
bool may_reach(const Vec3d& middle, double half, double reach, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
    Vec3d p = middle;
    for (int i = 0; i < 8; ++i) {
        const Vec3d q = nearest(p, a, b, c);
        for (int k = 0; k < 3; ++k) p[k] = std::clamp(q[k], middle[k] - half, middle[k] + half);
        const Vec3d gap = q - p;
        const double l = length(gap);
        if (l <= reach) return true;
        const Vec3d n = (1 / l) * gap;
        const double cube = dot(n, middle) + half * (std::fabs(n[0]) + std::fabs(n[1]) + std::fabs(n[2]));
        if (std::min({dot(n, a), dot(n, b), dot(n, c)}) - cube > reach * (1 + 1e-9)) return false;
    }
    return true;
}

constexpr int block = 6;

/// Voxels as bits in hashed blocks.
class DilatedVoxels {
  public:
    using Bits = std::array<std::uint64_t, 4>;  // 216 of 256

    /// Those within `reach` of the mesh.
    DilatedVoxels(const Mesh& mesh, std::uint32_t resolution, double reach)
        : surface_(quadrat::voxelise(mesh.vertices, mesh.triangles, resolution)) {
        const double cell = surface_.cell;
        std::map<std::array<std::int32_t, 3>, Bits> blocks;
        for (const auto& t : mesh.triangles) {
            const Vec3d &a = mesh.vertices[t.a], &b = mesh.vertices[t.b], &c = mesh.vertices[t.c];
            Voxel<3> lo, hi, v;
            for (int k = 0; k < 3; ++k) {
                lo[k] = static_cast<std::int32_t>(
                            std::floor((std::min({a[k], b[k], c[k]}) - reach - surface_.origin[k]) / cell)) -
                        1;
                hi[k] = static_cast<std::int32_t>(
                            std::floor((std::max({a[k], b[k], c[k]}) + reach - surface_.origin[k]) / cell)) +
                        1;
            }
            for (v[2] = lo[2]; v[2] <= hi[2]; ++v[2])
                for (v[1] = lo[1]; v[1] <= hi[1]; ++v[1])
                    for (v[0] = lo[0]; v[0] <= hi[0]; ++v[0]) {
                        const auto [key, bit] = split(v);
                        Bits& bits = blocks[{key[0], key[1], key[2]}];
                        std::uint64_t& word = bits[bit / 64];
                        if (word >> (bit % 64) & 1) continue;
                        const Vec3d middle = surface_.origin + cell * Vec3d{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5};
                        if (may_reach(middle, cell / 2, reach, a, b, c)) word |= std::uint64_t{1} << (bit % 64);
                    }
        }
        std::vector<Voxel<3>> keys;
        std::vector<Bits> values;
        for (const auto& [key, bits] : blocks)
            if (bits != Bits{}) {
                keys.push_back({key[0], key[1], key[2]});
                values.push_back(bits);
            }
        blocks_ = quadrat::SparseVoxels<Bits>::pack(keys, values,
                                                    {.layout = quadrat::Layout::voxel,
                                                     .encoding = quadrat::Encoding::domain_bit,
                                                     .construction = quadrat::Construction::compact});
    }
    [[nodiscard]] bool contains(const Vec3d& p) const {
        Voxel<3> v;
        for (int k = 0; k < 3; ++k)
            v[k] = static_cast<std::int32_t>(std::floor((p[k] - surface_.origin[k]) / surface_.cell));
        const auto [key, bit] = split(v);
        const Bits* bits = blocks_.find(key);
        return bits && ((*bits)[bit / 64] >> (bit % 64) & 1);
    }
    [[nodiscard]] const quadrat::SparseVoxels<Bits>& blocks() const { return blocks_; }
    [[nodiscard]] double cell() const { return surface_.cell; }

  private:
    static std::pair<Voxel<3>, std::size_t> split(const Voxel<3>& v) {
        Voxel<3> key;
        std::int32_t bit = 0;
        for (int k = 2; k >= 0; --k) {
            key[k] = v[k] >= 0 ? v[k] / block : -((block - 1 - v[k]) / block);
            bit = bit * block + v[k] - key[k] * block;
        }
        return {key, static_cast<std::size_t>(bit)};
    }
    quadrat::VoxelisedSurface surface_;
    quadrat::SparseVoxels<Bits> blocks_;
};

/// Turned about the y axis and moved.
struct Motion {
    double angle;
    Vec3d by;
    [[nodiscard]] Vec3d operator()(const Vec3d& p) const {
        return Vec3d{std::cos(angle) * p[0] + std::sin(angle) * p[2], p[1],
                     std::cos(angle) * p[2] - std::sin(angle) * p[0]} +
               by;
    }
};

double distance(const Mesh& mesh, const Vec3d& p) {
    double best = std::numeric_limits<double>::infinity();
    for (const auto& t : mesh.triangles)
        best = std::min(best, length(nearest(p, mesh.vertices[t.a], mesh.vertices[t.b], mesh.vertices[t.c]) - p));
    return best;
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const std::uint32_t resolution = arguments.cells(96, 1024);
    const Mesh a = arguments.read_mesh();
    Mesh b = knot(300, 36);
    const double scale = 1 / (highest(b) - lowest(b))[0];
    for (Vec3d& v : b.vertices) v = scale * v;
    const auto grid = quadrat::voxelise(b.vertices, b.triangles, resolution);
    const double circumradius = std::sqrt(3.0) / 2 * grid.cell;
    const DilatedVoxels dilated(a, resolution, circumradius);
    std::vector<Vec3d> centers;
    for (const auto& v : grid.voxels)
        centers.push_back(grid.origin + grid.cell * Vec3d{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5});
    const auto& index = dilated.blocks().index();
    std::printf("A: %u blocks of 6^3 in %u x %u x %u; table %u x %u x %u, offsets %u x %u x %u, %.2f MB in all\n",
                index.entries(), index.extent()[0], index.extent()[1], index.extent()[2], index.hash().table_size(0),
                index.hash().table_size(1), index.hash().table_size(2), index.hash().offset_size(0),
                index.hash().offset_size(1), index.hash().offset_size(2),
                1e-6 * static_cast<double>(dilated.blocks().stats().bytes()));
    std::printf("B: %zu voxel centres\n", centers.size());

    // B passes A.
    int missed = 0, loose = 0, found = 0, checked = 0;
    const Motion motion{0.5, {0.30, 0.18, 0.12}};
    double seconds = 0;
    std::vector<bool> hit(centers.size());
    for (int step = 0; step < 5; ++step) {
        const Motion m = step == 4 ? motion : Motion{0.4 * step, {0.8 - 0.2 * step, 0.1 * step, 0.05}};
        const auto start = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < centers.size(); ++i) hit[i] = dilated.contains(m(centers[i]));
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / 5;
        // Those that were found, and those with a found place close by, against all triangles.
        std::vector<Vec3d> close;
        std::vector<bool> answer;
        for (std::size_t i = 0; i < centers.size(); ++i) {
            const Vec3d p = m(centers[i]);
            bool any = hit[i];
            for (int k = 0; k < 6 && !any; ++k) {
                Vec3d q = p;
                q[k / 2] += (k % 2 ? 1.1 : -1.1) * dilated.cell();
                any = dilated.contains(q);
            }
            if (!any) continue;
            close.push_back(p);
            answer.push_back(hit[i]);
        }
        for (std::size_t i = 0; i < close.size(); i += close.size() / 400 + 1) {
            const double d = distance(a, close[i]);
            ++checked;
            found += answer[i];
            missed += d <= circumradius && !answer[i];
            loose += d > circumradius + std::sqrt(3.0) * dilated.cell() && answer[i];
        }
    }
    std::printf(
        "%d centres checked against all triangles: %d found, %d missed, %d farther than a dilated voxel can be\n",
        checked, found, missed, loose);
    std::printf("a motion of B: %.1f ms, %.0f per second\n", 1000 * seconds, 1 / seconds);

    if (!arguments.small()) {
        const Camera camera{{0.9, 0.7, 2.0}, {0.12, 0.08, 0.05}, {0, 1, 0}, 0.72};
        const int width = 2000, height = 1500;
        Mesh moved = b;
        for (Vec3d& v : moved.vertices) v = motion(v);
        std::vector<Seen> seen_a, seen_b;
        draw(a, camera, width, height, seen_a);
        draw(moved, camera, width, height, seen_b);
        const auto red =
            quadrat::SparseVoxels<std::uint8_t>::pack(grid.voxels, std::vector<std::uint8_t>(hit.begin(), hit.end()));
        Canvas out(width, height);
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const std::size_t k =
                    static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
                out.at(x, y) = backdrop(static_cast<double>(x) / width, static_cast<double>(y) / height);
                const bool front = seen_b[k].depth < seen_a[k].depth;
                const Seen& s = front ? seen_b[k] : seen_a[k];
                if (s.triangle < 0) continue;
                Vec3d paint = front ? color(0x5B8FB9) : color(0xD9C5A0);
                // B's voxel at this point of the picture, in B's own place.
                const Vec3d back = s.position - motion.by, o = Motion{-motion.angle, {0, 0, 0}}(back);
                Voxel<3> v;
                bool near = false;
                for (int j = 0; j < 27 && !near; ++j) {
                    for (int c = 0; c < 3; ++c)
                        v[c] = static_cast<std::int32_t>(std::floor((o[c] - grid.origin[c]) / grid.cell)) +
                               (c == 0   ? j % 3
                                : c == 1 ? j / 3 % 3
                                         : j / 9) -
                               1;
                    near = red.at(v) != 0;
                }
                if (near) paint = color(0xD7263D);
                out.at(x, y) = lit(paint, s, camera);
            }
        out.reduced(2).write(arguments.out);
    }
    return missed == 0 && loose == 0 && found > 0 ? 0 : 1;
}
