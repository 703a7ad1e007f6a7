#include <quadrat/error.hpp>

#include <gtest/gtest.h>

namespace {

using quadrat::Error;
using quadrat::ErrorKind;

TEST(Error, NamesFileRowAndColumn) {
    const Error error(ErrorKind::bad_value, "NaN", {.index = 17, .column = 3});
    EXPECT_STREQ(error.what(), "index 17, column 3: NaN");
    EXPECT_STREQ(error.in_file("boxes.npy").what(), "boxes.npy: row 17, column 3: NaN");
    EXPECT_EQ(error.in_file("boxes.npy").kind(), ErrorKind::bad_value);
}

TEST(Error, NamesLineByteAndField) {
    EXPECT_STREQ(Error(ErrorKind::bad_format, "not a number", {.file = "a.csv", .line = 4, .field = "x"}).what(),
                 "a.csv: line 4, x: not a number");
    EXPECT_STREQ(Error(ErrorKind::bad_format, "truncated", {.file = "a.npy", .byte = 128}).what(),
                 "a.npy: byte 128: truncated");
    EXPECT_STREQ(Error(ErrorKind::bad_value, "must be positive", {.field = "radius"}).what(),
                 "radius: must be positive");
    EXPECT_STREQ(Error(ErrorKind::stopped, "stopped on request").what(), "stopped on request");
}

TEST(Error, KeepsTheFirstFile) {
    EXPECT_EQ(Error(ErrorKind::bad_value, "NaN", {.file = "a"}).in_file("b").where().file, "a");
}

}  // namespace
