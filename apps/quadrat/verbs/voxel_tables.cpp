#include "verbs/voxel_tables.hpp"

#include <quadrat/error.hpp>

#include <cstring>

#include "io/by_ending.hpp"

namespace quadrat::cli {

Channel gather(const Channel& channel, std::span<const std::uint64_t> numbers, std::uint32_t samples) {
    Channel out{channel.name, channel.type, channel.components / samples, {}, {}, channel.shape};
    const std::size_t width = out.value_bytes();
    out.buffer = Buffer::zeros(numbers.size() * width);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::uint8_t* to = out.buffer.data.get() + i * width;
        if (numbers[i] != no_sample)
            std::memcpy(to, channel.buffer.data.get() + numbers[i] * width, width);
        else if (channel.background.size() == width)
            std::memcpy(to, channel.background.data(), width);
    }
    return out;
}

namespace {

io::ScalarType scalar_type(ValueType type) {
    switch (type) {
        case ValueType::bytes:
        case ValueType::u8:
            break;
        case ValueType::i8:
            return io::ScalarType::i8;
        case ValueType::i16:
            return io::ScalarType::i16;
        case ValueType::u16:
            return io::ScalarType::u16;
        case ValueType::u32:
            return io::ScalarType::u32;
        case ValueType::i32:
            return io::ScalarType::i32;
        case ValueType::u64:
            return io::ScalarType::u64;
        case ValueType::i64:
            return io::ScalarType::i64;
        case ValueType::f32:
            return io::ScalarType::f32;
        case ValueType::f64:
            return io::ScalarType::f64;
        case ValueType::f16:
            return io::ScalarType::f16;
        case ValueType::boolean:
            return io::ScalarType::b8;
    }
    return io::ScalarType::u8;
}

}  // namespace

void write_channel(const std::string& path, const Channel& channel, std::uint64_t rows) {
    io::TableView table{scalar_type(channel.type), {rows}, channel.buffer.data.get()};
    std::uint64_t scalars = 1;
    for (const std::uint16_t extent : channel.shape) scalars *= extent;
    if (!channel.shape.empty() && scalars == channel.components)  // otherwise values are whole blocks
        table.shape.insert(table.shape.end(), channel.shape.begin(), channel.shape.end());
    else if (channel.components != 1)
        table.shape.push_back(channel.components);
    io::write_table(path, table);
}

}  // namespace quadrat::cli
