// Random sequences of inserts, moves and erasures against brute force: a million edits of one set, the fuzzer's corpus,
// and short sequences that RapidCheck can shrink. The body is the fuzzer's.
#include "fuzz/bodies/edits.hpp"

#include "base/random.hpp"
#include "support/properties.hpp"
#include "support/scale.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace {

using namespace quadrat;

std::vector<std::byte> random_bytes(std::size_t count, std::uint64_t seed) {
    base::SplitMix random(seed);
    std::vector<std::byte> bytes(count);
    for (std::byte& b : bytes) b = static_cast<std::byte>(random.next());
    return bytes;
}

// About seven bytes per edit in 2D. Sets of up to 6000 objects: large enough for the structures to sort or hash
// everything again.
TEST(Edits, AMillionOfThemLeaveTheRightPairs) {
    auto bytes = random_bytes(test::scaled(12'500'000, 1'000'000), 1);
    bytes[0] = std::byte{0};  // HashGridHierarchy
    bytes[1] = std::byte{1};  // 3D, float
    EXPECT_GT(fuzz::edits(bytes, {.objects = 2500, .check_every = 50'000}), test::scaled(1'000'000u, 80'000u));
}

TEST(Edits, EveryStructureDimensionAndScalar) {
    for (std::uint8_t structure = 0; structure < 7; ++structure)
        for (std::uint8_t kind = 0; kind < 4; ++kind) {
            auto bytes = random_bytes(test::scaled(120'000, 30'000, 8'000), structure * 4u + kind + 10);
            bytes[0] = std::byte{structure};
            bytes[1] = std::byte{kind};
            EXPECT_GT(fuzz::edits(bytes, {.objects = 1500, .check_every = 2000}), test::scaled(1000u, 1000u, 300u));
            bytes.resize(8000);
            EXPECT_GT(fuzz::edits(bytes, {.objects = 40, .check_every = 7}), 100u);
        }
}

TEST(Edits, CorpusIsReplayed) {
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(QUADRAT_SOURCE_DIR "/fuzz/corpus/edits")) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        (void)fuzz::edits(std::as_bytes(std::span(text)));
        ++files;
    }
    EXPECT_GT(files, 5u);
}

TEST(Edits, AnySequenceIsRight) {
    test::check("edits leave the pairs of brute force", [](const std::vector<std::uint8_t>& bytes) {
        (void)fuzz::edits(std::as_bytes(std::span(bytes)), {.objects = 30, .check_every = 3});
    });
}

}  // namespace
