// What is at this cell: VoxelGrid, whose channels become arrays on the same memory, mapped files included.
#include "arrays.hpp"
#include "bind.hpp"
#include "calls.hpp"
#include "voxel_rays.hpp"

#include <quadrat/voxels.hpp>

#include <pybind11/stl.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <variant>

namespace quadrat::python {
namespace {

// A column of values before packing, as the Python layer has checked it: rows of bytes, which the array keeps alive.
struct Column {
    Column(std::string given_name, int given_type, std::uint32_t given_components, py::array given_rows,
           std::vector<std::uint16_t> given_shape)
        : name(std::move(given_name)),
          type(static_cast<ValueType>(given_type)),
          components(given_components),
          rows(std::move(given_rows)),
          bytes(std::as_bytes(elements<std::uint8_t>(rows))),
          shape(std::move(given_shape)) {}

    std::string name;
    ValueType type;
    std::uint32_t components;
    py::array rows;
    std::span<const std::byte> bytes;
    std::vector<std::uint16_t> shape;  // of one sample; empty: a scalar or a row
};

struct PackOptions {
    std::string layout, optimize, encoding, construction, coherence;
    std::uint64_t seed;
    int offset_bits;
    unsigned threads;
};

// The enumerator whose name on the command line this is; "auto" for the first.
template <class E>
E named(const std::string& wanted, const char* field, std::initializer_list<const char*> names) {
    int k = 0;
    for (const char* name : names) {
        if (wanted == name) return static_cast<E>(k);
        ++k;
    }
    throw Error(ErrorKind::bad_value, "there is no " + wanted, {.field = field});
}

VoxelOptions options_of(const PackOptions& given) {
    VoxelOptions options;
    options.layout = named<Layout>(given.layout, "layout", {"auto", "voxel", "brick", "bits", "keys"});
    options.optimize = named<Optimize>(given.optimize, "optimize", {"speed", "size"});
    options.encoding =
        named<Encoding>(given.encoding, "encoding",
                        {"auto", "constrained", "domain-bit", "position-tag", "position-hash", "bucket-tag"});
    options.construction = named<Construction>(given.construction, "construction", {"fast", "compact"});
    options.coherence = named<Coherence>(given.coherence, "coherence", {"none", "defined", "domain"});
    options.seed = given.seed;
    options.offset_bits = given.offset_bits;
    options.executor = executor_of(given.threads);
    return options;
}

template <int D>
VoxelGrid<D> packed(std::span<const Voxel<D>> positions, const std::vector<Column>& columns, VoxelOptions options) {
    options.value_bytes = 0;
    for (const Column& c : columns) options.value_bytes += size_of(c.type) * c.components;
    VoxelGrid<D> grid;
    grid.index = VoxelIndex<D>::build(positions, options);
    for (const Column& c : columns) grid.add_channel(c.name, c.type, c.components, positions, c.bytes).shape = c.shape;
    return grid;
}

// The channel as (samples, ...) on its own memory.
py::array channel_array(const Channel& channel, std::uint64_t samples, std::uint32_t components) {
    // In the order of ValueType; bytes are read as numbers.
    static constexpr const char* names[] = {"u1", "u1", "i1", "u2", "i2", "u4", "i4",
                                            "u8", "i8", "f4", "f8", "f2", "?"};
    const auto type = static_cast<std::size_t>(channel.type);
    if (type >= std::size(names))
        throw Error(ErrorKind::unsupported, "values of an unknown type", {.field = channel.name});
    Shape shape{static_cast<py::ssize_t>(samples)};
    if (!channel.shape.empty())
        shape.insert(shape.end(), channel.shape.begin(), channel.shape.end());
    else if (components > 1)
        shape.push_back(components);
    const py::dtype dtype(names[type]);
    if (samples == 0) return py::array(dtype, std::move(shape));
    const py::capsule base(new std::shared_ptr<std::uint8_t>(channel.buffer.data),
                           [](void* held) { delete static_cast<std::shared_ptr<std::uint8_t>*>(held); });
    return py::array(dtype, std::move(shape), channel.buffer.data.get(), base);
}

class Voxels {
    // fn with what is held, as the kind that it is.
    template <class Fn>
    decltype(auto) visit(Fn&& fn) {
        return std::visit([&](auto& grid) -> decltype(auto) { return fn(grid); }, grid_);
    }

  public:
    explicit Voxels(AnyVoxelGrid grid) : grid_(std::move(grid)) {}

    static std::unique_ptr<Voxels> pack(const py::array& coordinates, int dimension, const std::vector<Column>& columns,
                                        std::uint32_t block, const PackOptions& given, py::object progress) {
        // The fast construction stops when it is asked to, and reports nothing.
        Call call(std::move(progress), coordinates.shape(0) < 20'000 ? Call::Work::here : Call::Work::aside);
        VoxelOptions options = options_of(given);
        options.watch = call.watch();
        AnyVoxelGrid grid;
        const auto make = [&]<int D>() {
            const auto positions = rows<Voxel<D>, std::int32_t>(coordinates);
            call.run([&] {
                if (block == 0) {
                    grid = packed<D>(positions, columns, options);
                    return;
                }
                std::vector<ColumnView> views;
                for (const Column& c : columns) views.push_back({c.name, c.type, c.components, c.bytes, {}});
                VoxelGrid<D> made = pack_blocks<D>(positions, views, {.size = block, .voxels = options});
                for (const Column& c : columns) made.channel(c.name)->shape = c.shape;
                grid = std::move(made);
            });
        };
        if (dimension == 2)
            make.operator()<2>();
        else
            make.operator()<3>();
        return std::make_unique<Voxels>(std::move(grid));
    }
    static std::unique_ptr<Voxels> read(const std::string& path, bool verify, std::size_t max_bytes) {
        AnyVoxelGrid grid;
        Call().run([&] { grid = read_qvox(std::filesystem::path(path), {verify, max_bytes}); });
        return std::make_unique<Voxels>(std::move(grid));
    }
    static std::unique_ptr<Voxels> decode(const py::bytes& bytes, bool verify, std::size_t max_bytes) {
        const std::string_view text = bytes;
        AnyVoxelGrid grid;
        Call().run([&] {
            grid = decode_qvox({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, {verify, max_bytes});
        });
        return std::make_unique<Voxels>(std::move(grid));
    }
    void write(const std::string& path, int compression) {
        visit([&](auto& grid) {
            Call().read(lock_, [&] { write_qvox(grid, std::filesystem::path(path), {compression}); });
        });
    }
    py::bytes encode(int compression) {
        return visit([&](auto& grid) {
            std::vector<std::uint8_t> bytes;
            Call().read(lock_, [&] { bytes = encode_qvox(grid, {compression}); });
            return py::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        });
    }
    // The number of the sample at each position, -1 where there is none.
    py::array find(const py::array& positions) {
        return visit([&]<int D>(VoxelGrid<D>& grid) {
            const auto asked = rows<Voxel<D>, std::int32_t>(positions);
            std::vector<std::uint64_t> numbers(asked.size());
            static_assert(static_cast<std::int64_t>(no_sample) == -1);
            Call().read(lock_, [&] { find_samples(grid, asked, std::span<std::uint64_t>(numbers)); });
            return taken<std::int64_t>(std::move(numbers));
        });
    }
    // Positions by z, y, x, and the numbers of their samples.
    py::tuple sorted() {
        return visit([&]<int D>(VoxelGrid<D>& grid) {
            std::vector<Voxel<D>> positions;
            std::vector<std::int64_t> numbers;
            Call().read(lock_, [&] {
                for (const auto& [p, number] : sorted_samples(grid)) {
                    positions.push_back(p);
                    numbers.push_back(static_cast<std::int64_t>(number));
                }
            });
            return py::make_tuple(taken<std::int32_t>(std::move(positions)), taken<std::int64_t>(std::move(numbers)));
        });
    }
    std::vector<std::string> names() {
        return visit([](auto& grid) {
            std::vector<std::string> all;
            for (const Channel& c : grid.channels) all.push_back(c.name);
            return all;
        });
    }
    py::array channel(const std::string& name) {
        return visit([&](auto& grid) {
            const Channel* c = grid.channel(name);
            if (!c) throw py::key_error(name);
            const std::uint32_t samples = samples_per_value(grid);
            return channel_array(*c, std::uint64_t{grid.index.values()} * samples, c->components / samples);
        });
    }
    void add_channel(const Column& column, const py::array& positions) {
        visit([&]<int D>(VoxelGrid<D>& grid) {
            const auto given = rows<Voxel<D>, std::int32_t>(positions);
            Call().write(lock_, [&] {
                grid.add_channel(column.name, column.type, column.components, given, column.bytes).shape = column.shape;
            });
        });
    }
    std::unique_ptr<RayMarcher> rays() {
        return visit([&]<int D>(VoxelGrid<D>& grid) {
            if (grid.block || grid.mipmap.levels)
                throw Error(ErrorKind::unsupported, "rays pass single voxels, not blocks or mipmaps",
                            {.field = "rays"});
            std::unique_ptr<RayMarcher> made;
            Call().read(lock_, [&] { made = std::make_unique<RayMarcher>(VoxelRays<D>(grid.index)); });
            return made;
        });
    }
    py::dict about() {
        return visit([&]<int D>(VoxelGrid<D>& grid) {
            const VoxelStats s = grid.stats();
            py::list origin, extent;
            for (int a = 0; a < D; ++a) {
                const auto k = static_cast<std::size_t>(a);
                const int edge = grid.block ? static_cast<int>(grid.block) : 1;
                origin.append(grid.mipmap.levels ? grid.mipmap.origin[a] : grid.index.origin()[a] * edge);
                extent.append(grid.mipmap.levels ? grid.mipmap.extent[k]
                                                 : grid.index.extent()[k] * static_cast<std::uint32_t>(edge));
            }
            return py::dict("dimension"_a = D, "entries"_a = s.entries, "values"_a = s.values,
                            "index_bytes"_a = s.index_bytes, "value_bytes"_a = s.value_bytes,
                            "layout"_a = name(grid.index.layout()), "encoding"_a = name(grid.index.encoding()),
                            "exact"_a = grid.index.exact(), "block"_a = grid.block, "levels"_a = grid.mipmap.levels,
                            "origin"_a = py::tuple(origin), "extent"_a = py::tuple(extent),
                            "overhead_bits_per_entry"_a = grid.index.overhead_bits_per_entry(grid.value_bytes()));
        });
    }

  private:
    AnyVoxelGrid grid_;
    ObjectLock lock_;
};

}  // namespace

void bind_voxels(py::module_& module) {
    py::class_<Column>(module, "Column")
        .def(py::init<std::string, int, std::uint32_t, py::array, std::vector<std::uint16_t>>(), "name"_a, "type"_a,
             "components"_a, "rows"_a, "shape"_a)
        .def("nbytes", [](const Column& column) { return column.bytes.size(); });
    py::class_<PackOptions>(module, "PackOptions")
        .def(py::init([](std::string layout, std::string optimize, std::string encoding, std::string construction,
                         std::string coherence, std::uint64_t seed, int offset_bits, unsigned threads) {
                 return PackOptions{std::move(layout),    std::move(optimize),
                                    std::move(encoding),  std::move(construction),
                                    std::move(coherence), seed,
                                    offset_bits,          threads};
             }),
             "layout"_a, "optimize"_a, "encoding"_a, "construction"_a, "coherence"_a, "seed"_a, "offset_bits"_a,
             "threads"_a);
    py::class_<Voxels>(module, "Voxels")
        .def_static("pack", &Voxels::pack, "coordinates"_a, "dimension"_a, "columns"_a, "block"_a, "options"_a,
                    "progress"_a)
        .def_static("read", &Voxels::read, "path"_a, "verify"_a, "max_bytes"_a)
        .def_static("decode", &Voxels::decode, "data"_a, "verify"_a, "max_bytes"_a)
        .def("write", &Voxels::write, "path"_a, "compression"_a)
        .def("encode", &Voxels::encode, "compression"_a)
        .def("find", &Voxels::find, "positions"_a)
        .def("sorted", &Voxels::sorted)
        .def("names", &Voxels::names)
        .def("channel", &Voxels::channel, "name"_a)
        .def("add_channel", &Voxels::add_channel, "column"_a, "positions"_a)
        .def("rays", &Voxels::rays)
        .def("about", &Voxels::about);
}

}  // namespace quadrat::python
