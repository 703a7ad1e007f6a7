// Replays the fuzzers' corpus: every file goes through its reader's body. Files named ok* must be accepted.
#include <gtest/gtest.h>

#include <filesystem>

#include "fuzz/bodies/readers.hpp"

namespace {

using namespace quadrat;

void replay(const std::string& reader, bool (*body)(std::span<const std::byte>)) {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(QUADRAT_SOURCE_DIR "/fuzz/corpus/" + reader)) {
        const io::MappedFile file(entry.path());
        const bool accepted = body(file.bytes());
        if (entry.path().filename().string().starts_with("ok")) {
            EXPECT_TRUE(accepted) << entry.path();
        }
        ++count;
    }
    EXPECT_GT(count, 0);
}

TEST(Corpus, Npy) {
    replay("npy", fuzz::npy);
}
TEST(Corpus, Csv) {
    replay("csv", fuzz::csv);
}
TEST(Corpus, Xyz) {
    replay("xyz", fuzz::xyz);
}
TEST(Corpus, Ply) {
    replay("ply", fuzz::ply);
}
TEST(Corpus, Obj) {
    replay("obj", fuzz::obj);
}
TEST(Corpus, Png) {
    replay("png", fuzz::png);
}

}  // namespace
