// Phases and particles of a scene file: rows of their tables, and colours, names and files beside them.
#include "scene_io/reader.hpp"

#include <cmath>

#include "io/by_ending.hpp"
#include "io/table/table.hpp"

namespace quadrat::scene_io {

std::uint32_t phase_of(const JsonCursor& at, const std::vector<Phase>& phases) {
    if (at.value().is_string()) {
        for (std::uint32_t k = 0; k < phases.size(); ++k)
            if (phases[k].name == at.text() && !at.text().empty()) return k;
        at.expected("the name of a phase");
    }
    return static_cast<std::uint32_t>(at.count(0, phases.empty() ? 0 : phases.size() - 1));
}

namespace {

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

void SceneReader::read_list(const JsonCursor& at, std::vector<Phase>& phases) {
    constexpr std::uint32_t palette[] = {0x1f6fb2, 0xe0a526, 0x3a9d6b, 0xb5446e};
    const std::vector<JsonCursor> list = at.list();
    if (list.empty() || list.size() > 255) at.expected("1 to 255 phases");
    phases.clear();
    for (const JsonCursor& one : list) {
        JsonObject object(one);
        Phase phase;
        read_fields(object, phase, *this);
        file_.view.phase_colors.push_back(read_color(object, palette[phases.size() % std::size(palette)]));
        object.end();
        phases.push_back(std::move(phase));
    }
}

void SceneReader::read_list(const JsonCursor& at, std::vector<FluidParticles>& list) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        FluidParticles particles;
        read_fields(object, particles, *this);
        const auto name = object.find("file");
        const auto positions = object.find("positions");
        if (bool(name) == bool(positions)) one.fail("expected either file or positions");
        if (name) {
            particles.positions = read_points(*name, folder_);
        } else {
            for (const JsonCursor& p : positions->list()) particles.positions.push_back(p.vector());
        }
        if (particles.positions.empty()) one.fail("expected at least one particle, found none");
        if (const auto velocity = object.find("velocity"))
            particles.velocities.assign(particles.positions.size(), velocity->vector());
        object.end();
        list.push_back(std::move(particles));
    }
}

}  // namespace quadrat::scene_io
