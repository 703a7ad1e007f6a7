// What the programs that reproduce papers share: a clock, a median, and rows that are printed as a table and written as
// JSON.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace papers {

template <class Fn>
double milliseconds(Fn&& fn) {
    const auto start = std::chrono::steady_clock::now();
    fn();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

/// Prints rows as they come and keeps them for the file.
class Report {
  public:
    explicit Report(std::vector<std::string> columns) : columns_(std::move(columns)) {
        for (const auto& c : columns_) std::printf("%16s", c.c_str());
        std::printf("\n");
    }
    void row(const std::vector<double>& values) {
        for (const double v : values) std::printf("%16.6g", v);
        std::printf("\n");
        std::fflush(stdout);
        rows_.push_back(values);
    }
    void write(const char* file) const {
        if (!file) return;
        std::ofstream out(file);
        out.precision(9);
        out << "[\n";
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            out << "  {";
            for (std::size_t c = 0; c < columns_.size(); ++c)
                out << (c ? ", " : "") << '"' << columns_[c] << "\": " << rows_[r][c];
            out << (r + 1 < rows_.size() ? "},\n" : "}\n");
        }
        out << "]\n";
    }

  private:
    std::vector<std::string> columns_;
    std::vector<std::vector<double>> rows_;
};

}  // namespace papers
