#include "run/checkpoint.hpp"

#include <quadrat/error.hpp>

#include <cstring>

#include "io/files.hpp"

namespace quadrat::cli {

void Checkpoint::take(const Simulation& simulation) {
    bytes.clear();
    simulation.save(bytes, std::as_bytes(std::span(&note, 1)));
}

Checkpoint read_checkpoint(const std::string& folder) {
    const std::string name = folder + "/" + checkpoint_name;
    const io::MappedFile file(name);
    Checkpoint checkpoint;
    try {
        const auto note = Simulation::note_of(file.bytes());
        if (note.size() != sizeof checkpoint.note)
            throw Error(ErrorKind::bad_format, "expected a checkpoint of quadrat simulate", {.byte = 0});
        std::memcpy(&checkpoint.note, note.data(), note.size());
    } catch (const Error& error) {
        throw error.in_file(name);
    }
    checkpoint.bytes.assign(file.bytes().begin(), file.bytes().end());
    return checkpoint;
}

void write_checkpoint(const std::string& folder, const Checkpoint& checkpoint) {
    io::AtomicFile file(folder + "/" + checkpoint_name);
    file.write(checkpoint.bytes.data(), checkpoint.bytes.size());
    file.commit();
}

}  // namespace quadrat::cli
