// The error that a call throws, to look into.
#pragma once

#include <quadrat/error.hpp>

#include <gtest/gtest.h>

namespace quadrat::test {

template <class Call>
Error thrown_by(Call&& call) {
    try {
        call();
    } catch (const Error& e) {
        return e;
    }
    ADD_FAILURE() << "nothing was thrown";
    return Error(ErrorKind::stopped, "");
}

}  // namespace quadrat::test
