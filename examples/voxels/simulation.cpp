// Waves on a surface (PSH 7.2, figure 10). The elements are the voxels that the surface touches; each keeps the places
// of the voxels around it, found once by the perfect hash, and a step is one pass over the packed values, with no
// search. Height, velocity and pointers are channels of one SparseVoxels.
#include <quadrat/voxels.hpp>

#include "picture.hpp"

#include <chrono>

using namespace example;
using quadrat::Voxel;

namespace {

constexpr std::uint32_t none = quadrat::VoxelIndex<3>::absent;
constexpr int around = 18;  // neighbours across a face or an edge
using Pointers = std::array<std::uint32_t, around>;

std::array<Voxel<3>, around> directions() {
    std::array<Voxel<3>, around> out;
    std::size_t k = 0;
    for (int z = -1; z <= 1; ++z)
        for (int y = -1; y <= 1; ++y)
            for (int x = -1; x <= 1; ++x)
                if (const int d = x * x + y * y + z * z; d == 1 || d == 2) out[k++] = {x, y, z};
    return out;
}

class Waves {
  public:
    Waves(const Mesh& mesh, std::uint32_t resolution)
        : surface_(quadrat::voxelise(mesh.vertices, mesh.triangles, resolution)) {
        const std::vector<float> flat(surface_.voxels.size(), 0.0f);
        voxels_ = quadrat::SparseVoxels<float>::pack(
            surface_.voxels, flat, {.layout = quadrat::Layout::voxel, .coherence = quadrat::Coherence::defined});
        voxels_.add_channel<float>("velocity");
        const auto pointers = voxels_.add_channel<Pointers>("around");
        const auto steps = directions();
        for (Pointers& p : pointers) p.fill(none);
        for (const Voxel<3>& v : surface_.voxels)
            for (std::size_t k = 0; k < steps.size(); ++k)
                pointers[voxels_.index().find(v)][k] =
                    voxels_.index().find({v[0] + steps[k][0], v[1] + steps[k][1], v[2] + steps[k][2]});
    }

    /// A smooth push around a point; `places` says which values it moves and how far.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, float>> places(const Vec3d& point, double radius) const {
        std::vector<std::pair<std::uint32_t, float>> out;
        for (const Voxel<3>& v : surface_.voxels)
            if (const double d = length(center(v) - point) / radius; d < 1)
                out.emplace_back(voxels_.index().find(v), static_cast<float>((1 - d * d) * (1 - d * d)));
        return out;
    }
    void push(std::span<const std::pair<std::uint32_t, float>> at, double amount) {
        for (const auto& [place, share] : at) voxels_.values()[place] += static_cast<float>(amount) * share;
    }
    void step(float damping) {
        const auto height = voxels_.values();
        const auto velocity = voxels_.channel<float>("velocity");
        const auto pointers = voxels_.channel<Pointers>("around");
        for (std::size_t i = 0; i < height.size(); ++i) {
            float sum = 0;
            for (const std::uint32_t j : pointers[i])
                if (j != none) sum += height[j] - height[i];
            velocity[i] = damping * (velocity[i] + 0.045f * sum);
        }
        for (std::size_t i = 0; i < height.size(); ++i) height[i] += velocity[i];
    }
    /// Height at a point, blended over the voxels around it that exist (they never all do on a surface).
    [[nodiscard]] double height(const Vec3d& p) const {
        double sum = 0, weight = 1e-9;
        Vec3d g = (1 / surface_.cell) * (p - surface_.origin);
        Voxel<3> base;
        for (int a = 0; a < 3; ++a) base[a] = static_cast<std::int32_t>(std::floor(g[a] - 1));
        for (int k = 0; k < 27; ++k) {
            const Voxel<3> v = {base[0] + k % 3, base[1] + k / 3 % 3, base[2] + k / 9};
            double w = 1;
            for (int a = 0; a < 3; ++a) w *= std::max(0.0, 1.5 - std::fabs(v[a] + 0.5 - g[a]));
            if (const float* h = voxels_.find(v)) {
                sum += w * *h;
                weight += w;
            }
        }
        return sum / weight;
    }
    /// Kinetic energy and that of all bonds; steps keep it, apart from damping.
    [[nodiscard]] double energy() {
        const auto values = voxels_.values();
        const auto velocity = voxels_.channel<float>("velocity");
        const auto pointers = voxels_.channel<Pointers>("around");
        double sum = 0;
        for (std::size_t i = 0; i < values.size(); ++i) {
            sum += 0.5 * velocity[i] * velocity[i];
            for (const std::uint32_t j : pointers[i])
                if (j != none) sum += 0.25 * 0.045 * (values[j] - values[i]) * (values[j] - values[i]);
        }
        return sum;
    }
    /// Every pointer leads to the voxel that lies there, and back.
    [[nodiscard]] bool consistent() {
        const auto pointers = voxels_.channel<Pointers>("around");
        for (std::size_t i = 0; i < pointers.size(); ++i)
            for (std::size_t k = 0; k < around; ++k)
                if (pointers[i][k] != none && pointers[pointers[i][k]][around - 1 - k] != i) return false;
        return true;
    }
    [[nodiscard]] Vec3d center(const Voxel<3>& v) const {
        return surface_.origin + surface_.cell * Vec3d{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5};
    }
    [[nodiscard]] const quadrat::VoxelisedSurface& surface() const { return surface_; }
    [[nodiscard]] const quadrat::SparseVoxels<float>& voxels() const { return voxels_; }

  private:
    quadrat::VoxelisedSurface surface_;
    quadrat::SparseVoxels<float> voxels_;
};

/// Water: the waves tilt the normal, and crests are lighter than troughs.
Canvas frame(const Mesh& mesh, const Waves& waves, int width, int height) {
    const Camera camera{{0.3, 0.55, 2.0}, {0.02, 0, 0}, {0, 1, 0}, 0.59};
    std::vector<Seen> seen;
    draw(mesh, camera, width, height, seen);
    Canvas out(width, height);
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) {
            Seen s = seen[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
            out.at(x, y) = backdrop(static_cast<double>(x) / width, static_cast<double>(y) / height);
            if (s.triangle < 0) continue;
            const double h = waves.height(s.position), e = 1.2 * waves.surface().cell;
            const Vec3d right = normalised(cross(s.normal, {0.3, 0.1, 0.9})), up = cross(right, s.normal);
            const double dx = waves.height(s.position + e * right) - waves.height(s.position - e * right);
            const double dy = waves.height(s.position + e * up) - waves.height(s.position - e * up);
            s.normal = normalised(s.normal - (2.2 * dx) * right - (2.2 * dy) * up);
            out.at(x, y) = lit(
                mix(mix(color(0x12507B), color(0x0A2A4A), smooth(0, -0.5, h)), color(0xBFE6F2), smooth(0.0, 0.5, h)), s,
                camera);
        }
    return out.reduced(2);
}

}  // namespace

int main(int count, char** values) {
    const Arguments arguments(count, values);
    const Mesh mesh = arguments.read_mesh();
    Waves waves(mesh, arguments.cells(64, 256));
    std::printf("%zu voxels, table of %u slots, coherent; %zu bytes of pointers each\n", waves.voxels().size(),
                waves.voxels().index().values(), sizeof(Pointers));
    const Vec3d points[] = {{0.1, 0.3, 0.2}, {-0.25, -0.1, 0.35}, {0.3, -0.2, 0.3}, {-0.1, 0.45, 0.0}};
    const auto nearest = [&](const Vec3d& p) {
        Vec3d best = waves.center(waves.surface().voxels[0]);
        for (const auto& v : waves.surface().voxels)
            if (length(waves.center(v) - p) < length(best - p)) best = waves.center(v);
        return best;
    };
    const double radius = 5 * waves.surface().cell;
    waves.push(waves.places(nearest(points[0]), radius), -2.0);
    const double before = waves.energy();
    for (int i = 0; i < 200; ++i) waves.step(1.0f);
    const double kept = waves.energy() / before;
    std::printf("energy after 200 steps without damping: %.3f of the first; pointers %s\n", kept,
                waves.consistent() ? "lead back" : "BROKEN");
    if (!arguments.small()) {
        Waves shown(mesh, arguments.cells(64, 256));
        std::vector<std::vector<std::pair<std::uint32_t, float>>> sources;  // each beats for a while
        for (const Vec3d& p : points) sources.push_back(shown.places(nearest(p), radius));
        Canvas out(1300, 640, color(0xFFFFFF));
        const auto start = std::chrono::steady_clock::now();
        double drawing = 0;
        for (int i = 0; i < 330; ++i) {
            for (int k = 0; k < 4; ++k)
                if (i >= 45 * k && i < 45 * k + 240)
                    shown.push(sources[static_cast<std::size_t>(k)], 0.28 * std::sin(0.2 * (i - 45 * k)));
            shown.step(0.999f);
            if (i != 120 && i != 329) continue;
            const auto pause = std::chrono::steady_clock::now();
            out.paste(frame(mesh, shown, 1290, 1280), i == 120 ? 0 : 655, 0);
            drawing += std::chrono::duration<double>(std::chrono::steady_clock::now() - pause).count();
        }
        const double seconds =
            (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - drawing) / 330;
        out.write(arguments.out);
        std::printf("a step: %.2f ms, %.0f per second\n", 1000 * seconds, 1 / seconds);
    }
    return kept > 0.9 && kept < 1.1 && waves.consistent() ? 0 : 1;
}
