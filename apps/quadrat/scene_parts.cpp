// Phases, blocks, particles and emitters of a scene file.
#include "scene_parts.hpp"

#include <cmath>

#include "io/mesh.hpp"
#include "io/table.hpp"

namespace quadrat::cli {
namespace {

// By number or by name.
void read_phase_number(JsonObject& object, std::uint32_t& to, const Scene& scene) {
    const auto at = object.find("phase");
    if (!at) return;
    if (at->value().is_string()) {
        for (std::uint32_t k = 0; k < scene.phases.size(); ++k)
            if (scene.phases[k].name == at->text() && !at->text().empty()) {
                to = k;
                return;
            }
        at->expected("the name of a phase");
    }
    to = static_cast<std::uint32_t>(at->count(0, scene.phases.empty() ? 0 : scene.phases.size() - 1));
}

// A file of points next to the scene.
std::vector<Vec3d> read_points(const JsonCursor& name, const std::string& folder) {
    std::vector<Vec3d> points;
    std::string wrong;
    try {
        const io::Table table = io::read_table(folder + "/" + name.text());
        const std::size_t columns = table.columns();
        if (columns != 3 && !(columns == 2 && name.dimension() == 2))
            throw Error(
                ErrorKind::bad_shape,
                "expected rows of " + std::to_string(name.dimension()) + " numbers, found " + std::to_string(columns),
                {.file = folder + "/" + name.text()});
        const io::Table numbers = io::to_double(table, name.text());
        const auto values = numbers.values<double>();
        for (std::size_t i = 0; i < table.rows(); ++i) {
            points.push_back({{0, 0, 0}});
            for (std::size_t k = 0; k < columns; ++k) {
                const double x = values[i * columns + k];
                if (!std::isfinite(x))
                    throw Error(ErrorKind::bad_value, "expected finite numbers", {.file = name.text(), .index = i});
                points.back()[static_cast<int>(k)] = x;
            }
        }
    } catch (const Error& error) {
        wrong = error.what();
    }
    if (!wrong.empty()) name.fail(wrong);
    return points;
}

}  // namespace

std::optional<render::Color> read_color(JsonObject& object) {
    const auto at = object.find("color");
    if (!at) return std::nullopt;
    const std::string text = at->text();
    if (text.size() != 7 || text[0] != '#' || text.find_first_not_of("0123456789abcdefABCDEF", 1) != text.npos)
        at->expected("a colour such as \"#2f6690\"");
    return render::from_hex(static_cast<std::uint32_t>(std::stoul(text.substr(1), nullptr, 16)));
}

Box3d read_box(JsonObject& object) {
    const JsonCursor hi = object.need("hi");
    const Box3d box = {object.need("lo").vector(), hi.vector()};
    for (int k = 0; k < hi.dimension(); ++k)
        if (!(box.hi[k] > box.lo[k]))
            hi.inside(hi.value().at(static_cast<std::size_t>(k)), std::to_string(k)).expected("more than lo");
    return box;
}

void read_response(JsonObject& object, SurfaceResponse& response) {
    object.read("restitution", response.restitution, Range::share);
    object.read("friction", response.friction, Range::not_negative);
}

void read_phases(const JsonCursor& at, SceneFile& file) {
    const std::vector<JsonCursor> list = at.list();
    if (list.empty() || list.size() > 255) at.expected("1 to 255 phases");
    file.scene.phases.clear();
    for (const JsonCursor& one : list) {
        JsonObject object(one);
        Phase phase;
        object.read("name", phase.name);
        object.read("rest_density", phase.rest_density, Range::positive);
        object.read("viscosity", phase.viscosity, Range::not_negative);
        object.read("artificial_viscosity", phase.artificial_viscosity, Range::not_negative);
        object.read("sound_speed", phase.sound_speed, Range::positive);
        object.read("stiffness", phase.stiffness, Range::positive);
        object.read("gamma", phase.gamma, Range::positive);
        object.read("tension", phase.tension, Range::not_negative);
        object.read("negative_pressure", phase.negative_pressure);
        object.read("particle_mass", phase.particle_mass, Range::positive);
        object.read("support", phase.support, Range::positive);
        constexpr std::uint32_t palette[] = {0x1f6fb2, 0xe0a526, 0x3a9d6b, 0xb5446e};
        file.view.phase_colors.push_back(
            read_color(object).value_or(render::from_hex(palette[file.scene.phases.size() % 4])));
        object.end();
        file.scene.phases.push_back(phase);
    }
}

void read_blocks(const JsonCursor& at, SceneFile& file) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        FluidBlock block;
        block.box = read_box(object);
        object.read("velocity", block.velocity);
        read_phase_number(object, block.phase, file.scene);
        if (const auto counts = object.find("count")) {
            const auto values = counts->list();
            if (values.size() != static_cast<std::size_t>(file.scene.dimension))
                counts->expected("one number per axis");
            for (std::size_t k = 0; k < values.size(); ++k)
                block.count[k] = static_cast<std::uint32_t>(values[k].count(1, 1000000));
        }
        object.end();
        file.scene.blocks.push_back(block);
    }
}

void read_particles(const JsonCursor& at, SceneFile& file, const std::string& folder) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        FluidParticles particles;
        read_phase_number(object, particles.phase, file.scene);
        const auto name = object.find("file");
        const auto positions = object.find("positions");
        if (bool(name) == bool(positions)) one.fail("expected either file or positions");
        if (name) {
            particles.positions = read_points(*name, folder);
        } else {
            for (const JsonCursor& p : positions->list()) particles.positions.push_back(p.vector());
        }
        if (particles.positions.empty()) one.fail("expected at least one particle, found none");
        if (const auto velocity = object.find("velocity"))
            particles.velocities.assign(particles.positions.size(), velocity->vector());
        object.end();
        file.scene.particles.push_back(std::move(particles));
    }
}

void read_emitters(const JsonCursor& at, SceneFile& file) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        Emitter emitter;
        if (one.dimension() == 2) emitter.direction = {{0, -1, 0}};
        read_phase_number(object, emitter.phase, file.scene);
        emitter.position = object.need("position").vector();
        object.read("direction", emitter.direction);
        object.read("radius", emitter.radius, Range::positive);
        object.read("speed", emitter.speed, Range::positive);
        object.read("start", emitter.start, Range::not_negative);
        object.read("end", emitter.end, Range::not_negative);
        object.read_count("max_particles", emitter.max_particles, 1);
        object.end();
        file.scene.emitters.push_back(emitter);
    }
}

}  // namespace quadrat::cli
