#include "report.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

#include "io/checksum.hpp"

namespace quadrat::cli {

void Report::print(bool json, const char* objects_name, const char* pairs_name) const {
    if (json) {
        const Json object = {
            {"objects", objects},
            {"pairs", pairs},
            {"checksum", io::hex16(checksum)},
            {"method", method},
            {"threads", threads},
            {"seconds", {{"read", read}, {"first", first}, {"build", build}, {"find", find}}},
            {"peak_rss_bytes", peak_rss_bytes()},
            {"tested", tested},
        };
        std::printf("%s\n", object.dump().c_str());
        return;
    }
    std::printf("%s %s, %s %s\n", grouped(objects).c_str(), objects_name, grouped(pairs).c_str(), pairs_name);
    std::printf("checksum  %s\n", io::hex16(checksum).c_str());
    std::printf("method    %s, %u thread%s\n", method.c_str(), threads, threads == 1 ? "" : "s");
    std::printf("seconds   read %.3f, build %.3f, find %.3f\n", read, build, find);
}

}  // namespace quadrat::cli
