#include "run/end/report_page.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "io/files.hpp"

namespace quadrat::cli {
namespace {

constexpr const char* colors[] = {"#2f6690", "#c8452d", "#e8a33d", "#4b8f6b",
                                  "#7a4b94", "#8a8f98", "#d97b5f", "#b9c0c9"};

std::string base64(std::span<const std::byte> bytes) {
    constexpr char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t n = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t word = 0;
        for (std::size_t k = 0; k < 3; ++k)
            word = word << 8 | (k < n ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0u);
        for (std::size_t k = 0; k < 4; ++k) text += k <= n ? letters[word >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

std::string data_uri(const char* type, const std::string& path) {
    const io::MappedFile file(path);
    return std::string("data:") + type + ";base64," + base64(file.bytes());
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text)
        result += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '"' ? "&quot;" : std::string(1, c);
    return result;
}

std::string short_number(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", x);
    return text;
}

std::string fixed(double x) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", x);
    return text;
}

struct Line {
    std::string name;
    std::vector<double> values;
};

// Steps of 1, 2 or 5 times a power of ten: about four of them.
double tick(double range) {
    const double raw = range / 4, power = std::pow(10, std::floor(std::log10(raw)));
    return power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
}

// Lines over time; `stacked` fills the areas between them, one on top of the other.
std::string plot(const std::string& title, const std::string& unit, const std::vector<double>& x,
                 std::vector<Line> lines, bool stacked) {
    constexpr double width = 560, height = 240, left = 62, right = 26, top = 14, bottom = 34;
    double lo = 0, hi = 0;
    if (stacked)
        for (std::size_t k = 1; k < lines.size(); ++k)
            for (std::size_t i = 0; i < x.size(); ++i) lines[k].values[i] += lines[k - 1].values[i];
    for (const Line& line : lines)
        for (const double v : line.values)
            if (std::isfinite(v)) {
                lo = std::min(lo, v);
                hi = std::max(hi, v);
            }
    if (!(hi > lo)) hi = lo + 1;
    const double step = tick(hi - lo), first = x.empty() ? 0 : x.front();
    const double last = x.empty() || !(x.back() > first) ? first + 1 : x.back();
    lo = std::floor(lo / step) * step;
    hi = std::ceil(hi / step) * step;
    const auto px = [&](double v) { return left + (v - first) / (last - first) * (width - left - right); };
    const auto py = [&](double v) { return height - bottom - (v - lo) / (hi - lo) * (height - top - bottom); };
    std::string svg = "<figure><figcaption>" + escaped(title) + " <span>" + escaped(unit) +
                      "</span></figcaption><svg viewBox=\"0 0 " + fixed(width) + " " + fixed(height) +
                      "\" role=\"img\" aria-label=\"" + escaped(title) + "\">";
    for (double v = lo; v <= hi + step / 2; v += step)
        svg += "<line class=\"grid\" x1=\"" + fixed(left) + "\" x2=\"" + fixed(width - right) + "\" y1=\"" +
               fixed(py(v)) + "\" y2=\"" + fixed(py(v)) + "\"/><text x=\"" + fixed(left - 8) + "\" y=\"" +
               fixed(py(v) + 4) + "\" text-anchor=\"end\">" + short_number(std::abs(v) < step / 1e6 ? 0 : v) +
               "</text>";
    const double across = tick(last - first);
    for (double v = std::ceil(first / across) * across; v <= last + across / 1e6; v += across)
        svg += "<text x=\"" + fixed(px(v)) + "\" y=\"" + fixed(height - bottom + 18) + "\" text-anchor=\"middle\">" +
               short_number(v) + " s</text>";
    for (std::size_t k = lines.size(); k-- > 0;) {
        const std::string color = colors[k % std::size(colors)];
        std::string points;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (std::isfinite(lines[k].values[i]))
                points += fixed(px(x[i])) + "," + fixed(py(lines[k].values[i])) + " ";
        if (stacked && !x.empty())
            svg += "<polygon fill=\"" + color + "\" points=\"" + fixed(px(x.front())) + "," + fixed(py(0)) + " " +
                   points + fixed(px(x.back())) + "," + fixed(py(0)) + "\"/>";
        else
            svg += "<polyline fill=\"none\" stroke=\"" + color + "\" points=\"" + points + "\"/>";
    }
    svg += "</svg><p class=\"key\">";
    for (std::size_t k = 0; k < lines.size(); ++k)
        svg += std::string("<i style=\"background:") + colors[k % std::size(colors)] + "\"></i>" +
               escaped(lines[k].name) + " ";
    return svg + "</p></figure>\n";
}

std::vector<double> column(const std::vector<Output::Row>& rows, const std::vector<std::string>& names,
                           const std::string& name, bool times, double scale = 1) {
    const auto k = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    std::vector<double> values;
    for (const Output::Row& row : rows) values.push_back(scale * (times ? row.times : row.values)[k]);
    return values;
}

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #1d2733; --soft: #66717d; --paper: #f6f5f2; --card: #ffffff; --line: #e3e1dc; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #9aa4af; --paper: #14181d; --card: #1c2229; --line: #2c343d; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 30px; font-weight: 650; letter-spacing: -0.02em; margin: 0 0 4px; }
.about { color: var(--soft); margin: 0 0 24px; }
.show { display: block; width: 100%; border-radius: 12px; background: #0003; box-shadow: 0 12px 40px #0002; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 1px; margin: 28px 0; background: var(--line);
     border: 1px solid var(--line); border-radius: 12px; overflow: hidden; }
dl div { background: var(--card); padding: 12px 16px; }
dt { color: var(--soft); font-size: 13px; } dd { margin: 0; font-size: 19px; font-variant-numeric: tabular-nums; }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(440px, 1fr)); gap: 20px; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 16px 18px 12px; }
figcaption { font-weight: 600; } figcaption span { font-weight: 400; color: var(--soft); }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }
svg .grid { stroke: var(--line); } polyline { stroke-width: 2; stroke-linejoin: round; }
.key { margin: 4px 0 0; font-size: 13px; color: var(--soft); } .key i { display: inline-block; width: 10px; height: 10px; border-radius: 3px;
       margin: 0 6px 0 12px; } .key i:first-child { margin-left: 0; }
footer { margin-top: 32px; color: var(--soft); font-size: 13px; }
)";

}  // namespace

void write_report(const std::string& path, const ReportFacts& facts, const std::vector<Output::Row>& rows) {
    io::AtomicFile file(path);
    file.write(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
        "content=\"width=device-width\">\n<title>" +
        escaped(facts.title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<main>\n<h1>" +
        escaped(facts.title) + "</h1>\n<p class=\"about\">simulated with quadrat</p>\n");
    if (!facts.film.empty()) {
        file.write("<video class=\"show\" controls autoplay muted loop playsinline src=\"");
        file.write(data_uri("video/mp4", facts.film));
        file.write("\"></video>\n");
    } else if (!facts.pictures.empty()) {
        // At most sixty, so that the page stays small.
        const std::size_t step = (facts.pictures.size() + 59) / 60;
        for (std::size_t i = 0; i < facts.pictures.size(); i += step) {
            file.write(std::string("<img class=\"show\" alt=\"frame\"") + (i > 0 ? " hidden" : "") + " src=\"");
            file.write(data_uri("image/png", facts.pictures[i]));
            file.write("\">\n");
        }
        char script[512];
        std::snprintf(script, sizeof script,
                      "<script>const all=[...document.querySelectorAll('img.show')];let "
                      "at=0;setInterval(()=>{all[at].hidden=true;"
                      "at=(at+1)%%all.length;all[at].hidden=false},%.0f);</script>\n",
                      1000.0 * static_cast<double>(step) / facts.frames_per_second);
        file.write(script);
    }
    file.write("<dl>\n");
    for (const auto& [name, value] : facts.facts)
        file.write("<div><dt>" + escaped(name) + "</dt><dd>" + escaped(value) + "</dd></div>\n");
    file.write("</dl>\n<div class=\"plots\">\n");

    const auto value = [&](const char* name, double scale = 1) {
        return column(rows, statistics_names, name, false, scale);
    };
    const std::vector<double> time = value("time");
    std::vector<double> total = value("kinetic");
    const std::vector<double> potential = value("potential"), internal = value("internal");
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += potential[i] + internal[i];
    file.write(plot(
        "Energy", "joules", time,
        {{"kinetic", value("kinetic")}, {"potential", potential}, {"compression", internal}, {"sum", total}}, false));
    file.write(plot("Density error", "percent", time,
                    {{"average", value("average_density_error", 100)}, {"largest", value("max_density_error", 100)}},
                    false));
    std::vector<Line> phases;
    for (const std::string& name : times_names) {
        const std::vector<double> spent = column(rows, times_names, name, true);
        if (std::any_of(spent.begin(), spent.end(), [](double s) { return s > 0; })) phases.push_back({name, spent});
    }
    file.write(plot("Time per phase", "seconds of computing per frame", time, phases, true));
    file.write(plot("Particles", "", time, {{"particles", value("particles")}}, false));
    file.write(plot("Neighbours", "per particle", time, {{"neighbours", value("neighbors")}}, false));
    file.write(plot("Speed", "metres per second", time, {{"fastest particle", value("max_speed")}}, false));
    file.write(
        "</div>\n<footer>All numbers are in statistics.csv and times.csv next to this "
        "page.</footer>\n</main>\n</body>\n</html>\n");
    file.commit();
}

}  // namespace quadrat::cli
