# beryl_room(<room> [DEPENDS <room>...] [LINK <target>...])
#
# Makes the library beryl_<room> from src/<room>/*.cc and, when BERYL_TESTS is on, the executable
# <room>_test from its *_test.cc files. Headers are included by their path below src/. A room
# without files is skipped, here and as a dependency of others. Tests run in the project's folder.
function(beryl_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  set(folder "${PROJECT_SOURCE_DIR}/src/${room}")
  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cc" "${folder}/*.h")
  file(GLOB tests CONFIGURE_DEPENDS "${folder}/*_test.cc")
  list(REMOVE_ITEM sources "${folder}/main.cc" "${folder}/monitor_main.cc" ${tests})
  if(NOT sources)
    return()
  endif()

  set(library beryl_${room})
  add_library(${library} STATIC ${sources})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)  # a room may be all headers
  target_include_directories(${library} PUBLIC
    "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/generated")
  target_link_libraries(${library} PUBLIC ${arg_LINK})
  foreach(dependency IN LISTS arg_DEPENDS)
    if(TARGET beryl_${dependency})
      target_link_libraries(${library} PUBLIC beryl_${dependency})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY BERYL_ROOMS ${library})

  if(BERYL_TESTS AND tests)
    beryl_test(${room} ${library} ${tests})
  endif()
endfunction()

# beryl_test(<name> <library> <source>...)
#
# Makes <name>_test. The macros of GoogleTest take longer to optimise than to run, and its headers
# longer to read than most tests: they are compiled as they stand, with the headers read once for
# all, and no fuzzer looks at which of their lines were reached.
function(beryl_test name library)
  set(options -O0)
  if(BERYL_SANITIZE MATCHES "fuzzer-no-link")
    list(APPEND options -fno-sanitize=fuzzer-no-link)
  endif()
  add_executable(${name}_test ${ARGN})
  target_link_libraries(${name}_test PRIVATE ${library} GTest::gmock_main)
  target_compile_options(${name}_test PRIVATE ${options})
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    if(NOT TARGET precompiled_test)
      file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/precompiled_test.cc" CONTENT "")
      add_library(precompiled_test OBJECT "${PROJECT_BINARY_DIR}/generated/precompiled_test.cc")
      target_link_libraries(precompiled_test PRIVATE GTest::gmock)
      target_compile_options(precompiled_test PRIVATE ${options})
      target_precompile_headers(precompiled_test PRIVATE
        <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <string>
        <string_view> <unordered_map> <utility> <vector> <gmock/gmock.h> <gtest/gtest.h>)
    endif()
    target_precompile_headers(${name}_test REUSE_FROM precompiled_test)
  endif()
  gtest_discover_tests(${name}_test
    TEST_PREFIX "${name}/"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DISCOVERY_TIMEOUT 60)
endfunction()

# beryl_precompile(<name> ROOMS <room>... [OPTIONS <option>...])
#
# What nearly every file includes is read once for all of these rooms, which are compiled with the
# same options. A library of its own holds it, so that no room waits for another.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without, and shows whether each file includes what it
# uses.
function(beryl_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;OPTIONS")
  set(precompiled precompiled_${name})
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # The first for ccache. GCC 12 forgets that what it has precompiled is of the system, and
      # misfires inside std::string.
      list(APPEND arg_OPTIONS
        -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endif()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${precompiled}.cc" CONTENT "")
    add_library(${precompiled} OBJECT "${PROJECT_BINARY_DIR}/generated/${precompiled}.cc")
    target_link_libraries(${precompiled} PRIVATE beryl_base)
    target_compile_options(${precompiled} PRIVATE ${arg_OPTIONS})
    target_precompile_headers(${precompiled} PRIVATE
      <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <string>
      <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
  endif()
  foreach(room IN LISTS arg_ROOMS)
    target_compile_options(beryl_${room} PRIVATE ${arg_OPTIONS})
    if(TARGET ${precompiled})
      target_precompile_headers(beryl_${room} REUSE_FROM ${precompiled})
    endif()
  endforeach()
endfunction()
