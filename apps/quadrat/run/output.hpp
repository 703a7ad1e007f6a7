// What a run leaves in its folder: frames of particles and solids, pictures and live statistics. Each
// file appears whole or not at all. What is written depends on the scene alone, except times.csv, which holds what a
// clock measured.
#pragma once

#include <quadrat/simulation/simulation.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "io/mesh/points.hpp"
#include "run/frame.hpp"

namespace quadrat::cli {

struct OutputOptions {
    std::string folder = "out";
    bool ply = true, vtp = false, npy = false, pictures = true;
    bool overwrite = false;  ///< a run that was not finished may be lost
};

class Output {
  public:
    /// Creates the folders. A fresh run removes what an earlier one left there, unless that was not finished; otherwise
    /// rows and files from the frame `next` on are. Files of others are never touched: where there are some in its way,
    /// a fresh run does not start. Throws cannot_write.
    Output(const OutputOptions& options, bool fresh, std::uint64_t next);
    /// Begins the files of rows. A fresh run has its first checkpoint then: a folder without one holds nothing of ours,
    /// and the run can be started again.
    void write_statistics();

    void write(const Frame& frame);
    void write_picture(std::uint64_t frame, const std::vector<std::uint8_t>& pixels, std::uint32_t width,
                       std::uint32_t height);
    /// spent: on this frame alone.
    void add_statistics(std::uint64_t frame, const SimulationStats& statistics, const StepSeconds& spent,
                        double seconds_of_pictures);

    [[nodiscard]] std::string path(const std::string& name) const { return options_.folder + "/" + name; }
    [[nodiscard]] std::string picture_path(std::uint64_t frame) const;

    /// One row per frame: what report.html plots.
    struct Row {
        std::uint64_t frame = 0;
        std::vector<double> values = {};  ///< as statistics_names
        std::vector<double> times = {};   ///< as times_names
    };
    [[nodiscard]] const std::vector<Row>& rows() const { return rows_; }

  private:
    /// Files for ParaView that are there: an earlier part of the run may have been without.
    void add_to_series(std::uint64_t frame, double time);

    OutputOptions options_;
    std::vector<Row> rows_;
    std::vector<io::PvdEntry> series_;
};

extern const std::vector<std::string> statistics_names;
extern const std::vector<std::string> times_names;

}  // namespace quadrat::cli
