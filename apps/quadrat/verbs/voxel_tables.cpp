#include "verbs/voxel_tables.hpp"

#include <quadrat/error.hpp>

#include <cstring>

#include "io/by_ending.hpp"

namespace quadrat::cli {

Channel gather(const Channel& channel, std::span<const std::uint64_t> numbers, std::uint32_t samples) {
    Channel out{channel.name, channel.type, channel.components / samples, {}};
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

void write_channel(const std::string& path, const Channel& channel, std::uint64_t rows) {
    io::ScalarType type = io::ScalarType::u8;
    std::uint64_t columns = channel.components;
    std::vector<std::int32_t> wide;
    const void* data = channel.buffer.data.get();
    const auto widen = [&](auto zero) {
        using T = decltype(zero);
        const auto* values = reinterpret_cast<const T*>(channel.buffer.data.get());
        wide.assign(values, values + rows * columns);
        type = io::ScalarType::i32;
        data = wide.data();
    };
    switch (channel.type) {
        case ValueType::bytes:
        case ValueType::u8:
            break;
        case ValueType::i8:
            widen(std::int8_t{});
            break;
        case ValueType::i16:
            widen(std::int16_t{});
            break;
        case ValueType::u16:
            widen(std::uint16_t{});
            break;
        case ValueType::u32:
            type = io::ScalarType::u32;
            break;
        case ValueType::i32:
            type = io::ScalarType::i32;
            break;
        case ValueType::u64:
            type = io::ScalarType::u64;
            break;
        case ValueType::i64:
            type = io::ScalarType::i64;
            break;
        case ValueType::f32:
            type = io::ScalarType::f32;
            break;
        case ValueType::f64:
            type = io::ScalarType::f64;
            break;
    }
    io::TableView table{type, {rows}, data};
    if (columns != 1) table.shape.push_back(columns);
    io::write_table(path, table);
}

}  // namespace quadrat::cli
