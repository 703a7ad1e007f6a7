#include "run/folder.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <vector>

#include "run/checkpoint.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* own_files[] = {checkpoint_name, "statistics.csv", "statistics.jsonl", "times.csv",
                                     "film.mp4",      "report.html",    "series.pvd"};
constexpr const char* own_folders[] = {"frames", "pictures"};

// The number of a frame, plus one, in the names that we give: fluid_12345.ply, solids_12345.vtp, 12345.png and so on.
std::uint64_t frame_of(const std::string& name) {
    const std::size_t end = name.find('.');
    if (end == name.npos) return 0;
    std::size_t begin = 0;
    for (const char* start : {"fluid_", "solids_"})
        if (name.starts_with(start)) begin = std::strlen(start);
    const std::string part = name.substr(begin, end - begin), ending = name.substr(end);
    if (part.size() < 5 || part.size() > 15 || part.find_first_not_of("0123456789") != part.npos) return 0;
    static const std::vector<std::string> frames = {
        ".ply",           ".vtp",           ".positions.npy", ".velocities.npy",
        ".densities.npy", ".pressures.npy", ".phases.npy",    ".ids.npy"};
    const bool ours = begin == 0 ? ending == ".png" : std::find(frames.begin(), frames.end(), ending) != frames.end();
    return ours ? std::stoull(part) + 1 : 0;
}

void remove_frames_of(const std::string& folder, std::uint64_t next) {
    std::error_code failed;
    std::vector<std::filesystem::path> old;
    for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
        const std::uint64_t frame = frame_of(entry.path().filename().string());
        if (frame > 0 && frame - 1 >= next) old.push_back(entry.path());
    }
    for (const auto& path : old) std::filesystem::remove(path, failed);
}

}  // namespace

void make_way(const std::string& folder, bool overwrite) {
    std::error_code failed;
    if (std::filesystem::exists(folder + "/" + checkpoint_name, failed)) {
        if (overwrite) return;
        std::string stopped;
        try {
            const RunNote old = read_checkpoint(folder).note;
            if (old.finished != 0) return;
            stopped = old.next > 0 ? "after frame " + std::to_string(old.next - 1) : "at its start";
        } catch (const Error& error) {
            if (error.where().byte == 0) return;  // not one of this version: nothing can be continued from it
            throw Error(ErrorKind::cannot_write, "holds a run whose checkpoint is damaged: replace it with --overwrite",
                        {.file = folder});
        }
        throw Error(
            ErrorKind::cannot_write,
            "holds a run that was stopped " + stopped + ": continue it with --resume, or replace it with --overwrite",
            {.file = folder});
    }
    const auto taken = [](const std::string& path) {
        throw Error(ErrorKind::cannot_write, "is there already, and not from a run: choose another folder",
                    {.file = path});
    };
    for (const char* name : own_files)
        if (std::filesystem::exists(folder + "/" + name, failed)) taken(folder + "/" + name);
    for (const char* part : own_folders)
        for (const auto& entry : std::filesystem::directory_iterator(folder + "/" + part, failed))
            taken(entry.path().string());
}

void remove_files_of_run(const std::string& folder) {
    std::error_code failed;
    for (const char* name : own_files) std::filesystem::remove(folder + "/" + name, failed);
}

void remove_frames(const std::string& folder, std::uint64_t next) {
    for (const char* part : own_folders) remove_frames_of(folder + "/" + part, next);
}

std::string digits(std::uint64_t frame) {
    const std::string text = std::to_string(frame);
    return text.size() < 5 ? std::string(5 - text.size(), '0') + text : text;
}

}  // namespace quadrat::cli
