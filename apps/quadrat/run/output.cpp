#include "run/output.hpp"

#include <quadrat/error.hpp>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

#include "io/mesh/points.hpp"
#include "io/png.hpp"
#include "io/table/npy.hpp"
#include "io/text.hpp"
#include "run/folder.hpp"
#include "verb.hpp"

namespace quadrat::cli {

const std::vector<std::string> statistics_names = {"time",
                                                   "time_step",
                                                   "steps",
                                                   "particles",
                                                   "mass",
                                                   "kinetic",
                                                   "potential",
                                                   "internal",
                                                   "momentum_x",
                                                   "momentum_y",
                                                   "momentum_z",
                                                   "average_density_error",
                                                   "max_density_error",
                                                   "neighbors",
                                                   "pairs",
                                                   "contacts",
                                                   "max_speed",
                                                   "iterations",
                                                   "left"};
const std::vector<std::string> times_names = {"search",    "density", "forces", "solve",
                                              "integrate", "collide", "cloth",  "pictures"};

namespace {

std::string number(double x) {
    char text[40];
    return std::isfinite(x) ? std::string(text, std::to_chars(text, text + sizeof text, x).ptr) : "nan";
}

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
    throw Error(ErrorKind::cannot_write, "cannot write: " + why, {.file = path});
}

// One whole line at the end of a file that grows while people look at it.
void append(const std::string& path, const std::string& line) {
    const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) cannot_write(path, std::strerror(errno));
    const ssize_t put = ::write(file, line.data(), line.size());
    const int code = put < 0 ? errno : ENOSPC;
    const bool done = ::close(file) == 0 && put == static_cast<ssize_t>(line.size());
    if (!done) cannot_write(path, std::strerror(code));
}

std::string csv_line(std::uint64_t frame, const std::vector<double>& values) {
    std::string line = std::to_string(frame);
    for (const double x : values) {
        line += ',';
        line += number(x);
    }
    line += '\n';
    return line;
}

std::string csv_head(const std::vector<std::string>& names) {
    std::string line = "frame";
    for (const std::string& name : names) line += "," + name;
    return line + "\n";
}

std::string json_line(std::uint64_t frame, const std::vector<double>& values) {
    Json object = {{"frame", frame}};
    for (std::size_t k = 0; k < values.size(); ++k) object[statistics_names[k]] = values[k];
    return object.dump() + "\n";
}

// Rows of a file of ours before a frame; a last line that is not whole is dropped.
std::vector<std::vector<double>> read_rows(const std::string& path, std::size_t columns, std::uint64_t next) {
    std::vector<std::vector<double>> rows;
    if (!std::filesystem::exists(path)) return rows;
    const io::MappedFile file(path);
    io::LineReader lines(io::as_text(file.bytes()));
    while (lines.next()) {
        std::vector<double> row;
        const char *at = lines.line().data(), *end = at + lines.line().size();
        while (at < end) {
            double value = 0;
            const auto read = std::from_chars(at, end, value);
            if (read.ec != std::errc()) break;
            row.push_back(value);
            at = read.ptr < end && *read.ptr == ',' ? read.ptr + 1 : end;
        }
        if (row.size() == columns && row[0] < static_cast<double>(next)) rows.push_back(row);
    }
    return rows;
}

template <class T>
io::TableView column(const std::vector<T>& values) {
    return io::view(std::span<const T>(values), {values.size()});
}

io::TableView vectors(const std::vector<Vec3f>& values) {
    return {io::ScalarType::f32, {values.size(), 3}, values.data()};
}

}  // namespace

Output::Output(const OutputOptions& options, bool fresh, std::uint64_t next) : options_(options) {
    if (fresh) make_way(options.folder, options.overwrite);
    for (const char* part : {"", "/frames", "/pictures"}) {
        if (std::string_view(part) == "/frames" && !options.ply && !options.vtp && !options.npy) continue;
        if (std::string_view(part) == "/pictures" && !options.pictures) continue;
        std::error_code failed;
        std::filesystem::create_directories(options.folder + part, failed);
        if (failed) cannot_write(options.folder + part, failed.message());
    }
    remove_frames(options.folder, fresh ? 0 : next);
    if (fresh) {
        remove_files_of_run(options.folder);
    } else {
        const auto values = read_rows(path("statistics.csv"), statistics_names.size() + 1, next);
        const auto times = read_rows(path("times.csv"), times_names.size() + 1, next);
        for (const auto& row : values) {
            Row kept{static_cast<std::uint64_t>(row[0]),
                     {row.begin() + 1, row.end()},
                     std::vector<double>(times_names.size())};
            for (const auto& t : times)
                if (t[0] == row[0]) kept.times.assign(t.begin() + 1, t.end());
            rows_.push_back(std::move(kept));
            add_to_series(rows_.back().frame, rows_.back().values[0]);
        }
    }
}

void Output::write_statistics() {
    io::AtomicFile values(path("statistics.csv")), lines(path("statistics.jsonl")), times(path("times.csv"));
    values.write(csv_head(statistics_names));
    times.write(csv_head(times_names));
    for (const Row& row : rows_) {
        values.write(csv_line(row.frame, row.values));
        times.write(csv_line(row.frame, row.times));
        lines.write(json_line(row.frame, row.values));
    }
    values.commit();
    lines.commit();
    times.commit();
}

void Output::add_to_series(std::uint64_t frame, double time) {
    for (const std::uint32_t part : {0u, 1u}) {
        const std::string file = (part == 0 ? "frames/fluid_" : "frames/solids_") + digits(frame) + ".vtp";
        if (std::filesystem::exists(path(file))) series_.push_back({time, part, file});
    }
}

std::string Output::picture_path(std::uint64_t frame) const {
    return path("pictures/" + digits(frame) + ".png");
}

void Output::write(const Frame& frame) {
    const std::string fluid = path("frames/fluid_" + digits(frame.number));
    const std::string solids = path("frames/solids_" + digits(frame.number));
    const std::vector<io::PointField> fields = {{"velocity", vectors(frame.velocities)},
                                                {"density", column(frame.densities)},
                                                {"pressure", column(frame.pressures)},
                                                {"phase", column(frame.phases)},
                                                {"id", column(frame.ids)}};
    if (options_.ply) {
        io::write_points_ply(fluid + ".ply", frame.positions, fields);
        if (!frame.solids.triangles.empty()) io::write_ply(solids + ".ply", frame.solids);
    }
    if (options_.vtp) {
        io::write_points_vtp(fluid + ".vtp", frame.positions, fields);
        if (!frame.solids.triangles.empty()) io::write_mesh_vtp(solids + ".vtp", frame.solids);
        add_to_series(frame.number, frame.time);
        io::write_pvd(path("series.pvd"), series_);
    }
    if (options_.npy) {
        io::write_npy(fluid + ".positions.npy", vectors(frame.positions));
        io::write_npy(fluid + ".velocities.npy", vectors(frame.velocities));
        io::write_npy(fluid + ".densities.npy", column(frame.densities));
        io::write_npy(fluid + ".pressures.npy", column(frame.pressures));
        io::write_npy(fluid + ".phases.npy", column(frame.phases));
        io::write_npy(fluid + ".ids.npy", column(frame.ids));
    }
}

void Output::write_picture(std::uint64_t frame, const std::vector<std::uint8_t>& pixels, std::uint32_t width,
                           std::uint32_t height) {
    io::write_png(picture_path(frame), {.width = width, .height = height, .channels = 3, .pixels = pixels});
}

void Output::add_statistics(std::uint64_t frame, const SimulationStats& s, const StepSeconds& spent,
                            double seconds_of_pictures) {
    Row row{frame,
            {s.time, s.time_step, static_cast<double>(s.steps), static_cast<double>(s.particles), s.mass, s.kinetic,
             s.potential, s.internal, s.momentum[0], s.momentum[1], s.momentum[2], s.average_density_error,
             s.max_density_error, s.neighbors, static_cast<double>(s.pairs), static_cast<double>(s.contacts),
             s.max_speed, static_cast<double>(s.iterations), static_cast<double>(s.left)},
            {spent.search, spent.density, spent.forces, spent.solve, spent.integrate, spent.collide, spent.cloth,
             seconds_of_pictures}};
    append(path("statistics.csv"), csv_line(frame, row.values));
    append(path("statistics.jsonl"), json_line(frame, row.values));
    append(path("times.csv"), csv_line(frame, row.times));
    rows_.push_back(std::move(row));
}

}  // namespace quadrat::cli
