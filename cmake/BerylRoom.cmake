# beryl_room(<room> [DEPENDS <room>...] [TESTS_WITH <room>...] [LINK <target>...])
#
# Makes the library beryl_<room> from src/<room>/*.cc and its folders (server/rpc is a library of its
# own, see BerylMonitor.cmake) and, when BERYL_TESTS is on, the executable
# <room>_test from its *_test.cc files. Headers are included by their path below src/. A room
# without files is skipped, here and as a dependency of others. Tests run in the project's folder, and
# may make what they need with the rooms of TESTS_WITH.
function(beryl_room room)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;TESTS_WITH;LINK")
  set(folder "${PROJECT_SOURCE_DIR}/src/${room}")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cc" "${folder}/*.h")
  list(FILTER sources EXCLUDE REGEX "/server/rpc/")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(REMOVE_ITEM sources "${folder}/main.cc" "${folder}/monitor_main.cc"
    "${folder}/server_main.cc" ${tests})
  if(BERYL_TESTS_ABOUT)
    foreach(test IN LISTS tests)
      file(STRINGS "${test}" about REGEX "${BERYL_TESTS_ABOUT}" LIMIT_COUNT 1)
      if(NOT about)
        list(REMOVE_ITEM tests "${test}")
      endif()
    endforeach()
  endif()
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
    foreach(other IN LISTS arg_TESTS_WITH)
      target_link_libraries(${room}_test PRIVATE beryl_${other})
    endforeach()
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
  # Tests with PostgreSQL start one server for all of them.
  if(name STREQUAL "store")
    add_test(NAME store/postgres COMMAND store_test --gtest_filter=*/Postgres)
    set_tests_properties(store/postgres PROPERTIES
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" TIMEOUT 300)
  endif()
  gtest_discover_tests(${name}_test
    TEST_FILTER "-*/Postgres"
    TEST_PREFIX "${name}/"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES TIMEOUT 300  # a test that hangs fails
    DISCOVERY_TIMEOUT 60)
endfunction()

# beryl_precompile(<name> ROOMS <room>... [OPTIONS <option>...] [HEADERS <header>...])
#
# What nearly every file includes is read once for all of these rooms, which are compiled with the
# same options; HEADERS are read beside it. A library of its own holds it, so that no room waits for
# another.
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without, and shows whether each file includes what it
# uses.
function(beryl_precompile name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ROOMS;OPTIONS;HEADERS")
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
    # A list of headers that changes has to make what is precompiled anew. CMake gives the file that
    # it writes itself an old time, so that Ninja would not see it.
    set(includes "")
    foreach(header IN LISTS arg_HEADERS ITEMS
        <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <string>
        <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
      if(NOT header MATCHES "^<")
        file(RELATIVE_PATH header "${PROJECT_SOURCE_DIR}/src" "${header}")
        set(header "\"${header}\"")
      endif()
      string(APPEND includes "#include ${header}\n")
    endforeach()
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/generated/${precompiled}.h" CONTENT "${includes}"
      @ONLY)
    target_precompile_headers(${precompiled} PRIVATE
      "${PROJECT_BINARY_DIR}/generated/${precompiled}.h")
  endif()
  foreach(room IN LISTS arg_ROOMS)
    target_compile_options(beryl_${room} PRIVATE ${arg_OPTIONS})
    if(TARGET ${precompiled})
      target_precompile_headers(beryl_${room} REUSE_FROM ${precompiled})
    endif()
  endforeach()
endfunction()
