#include "io/files.hpp"

#include <gtest/gtest.h>

#include "io/checksum.hpp"
#include "tests/io/scratch.hpp"

namespace {

using namespace quadrat;
using test::error_of;
using test::Scratch;

TEST(AtomicFile, AppearsOnCommitOnly) {
    const Scratch scratch;
    {
        io::AtomicFile file(scratch.write("a.txt", "old"));
        file.write("new");
        EXPECT_EQ(scratch.read("a.txt"), "old");
        EXPECT_EQ(scratch.files(), 2u);
        file.commit();
    }
    EXPECT_EQ(scratch.read("a.txt"), "new");
    EXPECT_EQ(scratch.files(), 1u);
}

TEST(AtomicFile, LeavesNothingWithoutCommit) {
    const Scratch scratch;
    {
        io::AtomicFile file(scratch.file("a.txt"));
        file.write(std::string(1 << 20, 'x'));
    }
    EXPECT_EQ(scratch.files(), 0u);
}

TEST(AtomicFile, CanBeRemovedFromASignalHandler) {
    const Scratch scratch;
    io::AtomicFile file(scratch.file("a.txt"));
    EXPECT_EQ(scratch.files(), 1u);
    io::remove_unfinished_files();
    EXPECT_EQ(scratch.files(), 0u);
}

TEST(AtomicFile, WritesLargeAndSmallPiecesInOrder) {
    const Scratch scratch;
    std::string expected;
    io::AtomicFile file(scratch.file("a"));
    for (std::size_t k = 0; k < 40; ++k) {
        const std::string piece(k % 7 == 0 ? 300000 : k * 1000, static_cast<char>('a' + k % 26));
        file.write(piece);
        expected += piece;
    }
    file.commit();
    EXPECT_TRUE(scratch.read("a") == expected);
}

TEST(AtomicFile, SaysWhyItCannotWrite) {
    const Scratch scratch;
    EXPECT_EQ(error_of([] { io::AtomicFile("/nowhere/a.txt"); }),
              "/nowhere/a.txt: cannot write: No such file or directory");
    EXPECT_NE(error_of([] { io::AtomicFile("/tmp"); }).find("Is a directory"), std::string::npos);
}

TEST(AtomicFile, WritesThroughDevicesAndLinks) {
    const Scratch scratch;
    {
        io::AtomicFile file("/dev/null");
        file.write("gone");
        file.commit();
    }
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
    std::filesystem::create_symlink(scratch.write("real", "old"), scratch.file("link"));
    io::AtomicFile file(scratch.file("link"));
    file.write("new");
    file.commit();
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link")));
    EXPECT_EQ(scratch.read("real"), "new");
}

TEST(AtomicFile, KeepsPermissionsAndFollowsLinksToNothing) {
    using std::filesystem::perms;
    const Scratch scratch;
    const std::string secret = scratch.write("secret", "old");
    std::filesystem::permissions(secret, perms::owner_read | perms::owner_write);
    std::filesystem::create_symlink("later", scratch.file("link"));
    std::filesystem::create_symlink("link", scratch.file("chain"));
    for (const char* name : {"secret", "chain"}) {
        io::AtomicFile file(scratch.file(name));
        file.write("new");
        file.commit();
    }
    EXPECT_EQ(std::filesystem::status(secret).permissions(), perms::owner_read | perms::owner_write);
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("chain")));
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.file("link")));
    EXPECT_EQ(scratch.read("later"), "new");
}

TEST(MappedFile, ReadsAndSaysWhyNot) {
    const Scratch scratch;
    const io::MappedFile file(scratch.write("a", "hello"));
    EXPECT_EQ(file.bytes().size(), 5u);
    EXPECT_EQ(io::MappedFile(scratch.write("empty", "")).bytes().size(), 0u);
    EXPECT_EQ(io::MappedFile("/dev/null").bytes().size(), 0u);
    EXPECT_EQ(error_of([] { io::MappedFile("/nowhere"); }), "/nowhere: cannot read: No such file or directory");
    EXPECT_NE(error_of([] { io::MappedFile("/tmp"); }).find("Is a directory"), std::string::npos);
}

TEST(MappedFile, IsWrittenInPlaceAndTheFileKeepsItsBytes) {
    const Scratch scratch;
    const std::string path = scratch.write("a", "hello");
    base::MappedFile first(path, base::MapFor::use_in_place);
    const base::MappedFile moved(std::move(first));
    EXPECT_EQ(moved.bytes().size(), 5u);
    EXPECT_TRUE(first.bytes().empty());
    base::MappedFile file(path, base::MapFor::use_in_place);
    file.writable_bytes()[0] = std::byte{'j'};
    EXPECT_EQ(file.bytes()[0], std::byte{'j'});
    EXPECT_EQ(moved.bytes()[0], std::byte{'h'});
    EXPECT_EQ(scratch.read("a"), "hello");
    EXPECT_NE(
        error_of([] { base::MappedFile("/dev/null", base::MapFor::use_in_place); }).find("/dev/null: cannot read"),
        std::string::npos);
}

TEST(Ending, IsLowerCaseAndOfTheNameOnly) {
    EXPECT_EQ(io::ending("a/b.c/x.NPY"), ".npy");
    EXPECT_EQ(io::ending("a.b/x"), "");
    EXPECT_EQ(io::ending(".hidden"), "");
}

// Golden: these values are the file format of every recorded checksum and never change.
TEST(Checksum, Golden) {
    EXPECT_EQ(io::hex16(io::mix(0)), "e220a8397b1dcdaf");
    EXPECT_EQ(io::hex16(io::mix(1)), "910a2dec89025cc1");
    const Pair pairs[] = {{0, 1}, {1, 2}};
    const Pair other_order[] = {{1, 2}, {0, 1}};
    EXPECT_EQ(io::checksum(pairs), io::checksum(other_order));
    EXPECT_EQ(io::checksum(pairs), io::mix(1) + io::mix((1ull << 32) + 2));
}

}  // namespace
