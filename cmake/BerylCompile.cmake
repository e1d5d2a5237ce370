# How every object of the project is compiled: warnings, sanitizers, and a faster launcher and
# linker where the machine has them.

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Wcast-qual -Wdouble-promotion -Wextra-semi -Wformat=2 -Woverloaded-virtual -Wundef -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's -Wrestrict misfires inside std::string's operator+ (GCC bug 105651).
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-restrict)
else()
  # Clang counts sign changes as conversions, GCC does not; the two must agree on clean code.
  add_compile_options(-Wno-sign-conversion)
endif()

if(BERYL_SANITIZE)
  add_compile_options(
    -fsanitize=${BERYL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERYL_SANITIZE})
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Instrumentation hides initialisations from GCC; the release build keeps this warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

find_program(BERYL_CCACHE ccache)
if(BERYL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It keeps nothing that was compiled with a precompiled header unless it is told this.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros "${BERYL_CCACHE}")
endif()

find_program(BERYL_LLD ld.lld)
if(BERYL_LLD)
  add_link_options(-fuse-ld=lld)
endif()
