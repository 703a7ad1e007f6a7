// report.html: one page that needs nothing else, with the film or the pictures inside and plots drawn as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "run/output.hpp"

namespace quadrat::cli {

struct ReportFacts {
    std::string title = {};
    std::vector<std::pair<std::string, std::string>> facts = {};  ///< name and value, shown above the plots
    std::string film = {};                                        ///< path of the film, or empty
    std::vector<std::string> pictures = {};                       ///< paths, shown one after the other without a film
    double frames_per_second = 30;
};

void write_report(const std::string& path, const ReportFacts& facts, const std::vector<Output::Row>& rows);

}  // namespace quadrat::cli
