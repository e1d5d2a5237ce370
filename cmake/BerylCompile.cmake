# How every object of the project is compiled: warnings, sanitizers, and a faster launcher and
# linker where the machine has them.

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Wcast-align
  -Wcast-qual -Wdouble-promotion -Wextra-semi -Wformat=2 -Woverloaded-virtual -Wundef -Wunused)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12's -Wrestrict misfires inside std::string's operator+ (GCC bug 105651).
  add_compile_options(-Wduplicated-cond -Wlogical-op -Wno-restrict)
  # It collects garbage while it compiles, which takes longer than the memory is worth.
  add_compile_options("SHELL:--param ggc-min-heapsize=524288")
else()
  # Clang counts sign changes as conversions and long doubles as promotions, GCC does not; the two
  # must agree on clean code.
  add_compile_options(-Wno-sign-conversion -Wno-double-promotion)
endif()

if(BERYL_SANITIZE)
  add_compile_options(
    -fsanitize=${BERYL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BERYL_SANITIZE})
  # simdjson's checks change its types, and it would have them in unoptimised files only.
  add_compile_definitions(_GLIBCXX_ASSERTIONS SIMDJSON_DEVELOPMENT_CHECKS=1)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Relative, because ccache makes no other path of this option the same for all checkouts.
    file(RELATIVE_PATH ignored "${CMAKE_BINARY_DIR}"
      "${PROJECT_SOURCE_DIR}/cmake/undefined-behaviour-ignored.txt")
    add_compile_options("-fsanitize-ignorelist=${ignored}")
  else()
    # Instrumentation hides initialisations from GCC; the release build keeps this warning.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

find_program(BERYL_CCACHE ccache)
if(BERYL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # It keeps nothing that was compiled with a precompiled header unless it is told this, and unless
  # Clang leaves the time out of what it precompiles.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  endif()
  # What was included is read off the compiler's own list: a first build then preprocesses once.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_DEPEND=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "${BERYL_CCACHE}")
endif()

find_program(BERYL_LLD ld.lld)
if(BERYL_LLD)
  add_link_options(-fuse-ld=lld)
endif()
