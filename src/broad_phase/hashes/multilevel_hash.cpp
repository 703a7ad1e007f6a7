#include <quadrat/broad_phase/multilevel_hash.hpp>

#include "cells/hashes/classed_hash.hpp"

namespace quadrat {

template <int D, class T>
MultilevelHash<D, T>::MultilevelHash(const Options& options)
    : BoxHash<D, T, cells::MultilevelScheme>({.executor = options.executor,
                                              .smallest = options.smallest,
                                              .levels = options.levels,
                                              .table_per_class = options.table_per_class,
                                              .max_bytes = options.max_bytes}) {}

template class MultilevelHash<2, float>;
template class MultilevelHash<3, float>;
template class MultilevelHash<2, double>;
template class MultilevelHash<3, double>;

}  // namespace quadrat
