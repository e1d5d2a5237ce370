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
    add_executable(${room}_test ${tests})
    target_link_libraries(${room}_test PRIVATE ${library} GTest::gmock_main)
    gtest_discover_tests(${room}_test
      TEST_PREFIX "${room}/"
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
      DISCOVERY_TIMEOUT 60)
  endif()
endfunction()

# beryl_precompile(<room>...)
#
# What nearly every file includes is read once for all of these rooms, which have to be compiled with
# the same options. In release builds only: the others see to it that each file includes what it
# uses. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON does without.
function(beryl_precompile first)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  target_precompile_headers(beryl_${first} PRIVATE
    <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <optional> <string>
    <string_view> <unordered_map> <utility> <vector> <fmt/format.h>)
  foreach(room IN LISTS ARGN)
    target_precompile_headers(beryl_${room} REUSE_FROM beryl_${first})
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(room IN ITEMS ${first} ${ARGN})
      # The first for ccache. GCC 12 forgets that what it has precompiled is of the system, and
      # misfires inside std::string.
      target_compile_options(beryl_${room} PRIVATE
        -fpch-preprocess -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
    endforeach()
  endif()
endfunction()
