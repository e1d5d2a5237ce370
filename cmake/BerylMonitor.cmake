# The monitor: gRPC and TLS live in an executable of their own, `beryl-monitor`, so that
# neither `beryl` nor its build needs them. Without the libraries there is no such target.
#
# Linked statically where that is possible: fifty shared libraries take 5 MB of memory more.
find_package(PkgConfig QUIET)
find_program(BERYL_PROTOC protoc)
find_program(BERYL_GRPC_PLUGIN grpc_cpp_plugin)
if(PkgConfig_FOUND)
  pkg_check_modules(BERYL_GRPC QUIET grpc++ protobuf openssl)
endif()
if(NOT BERYL_GRPC_FOUND OR NOT BERYL_PROTOC OR NOT BERYL_GRPC_PLUGIN OR NOT TARGET beryl_server)
  message(STATUS "No beryl-monitor: install what tools/packages-monitor.txt lists")
  return()
endif()

set(generated "${PROJECT_BINARY_DIR}/generated/api")
file(MAKE_DIRECTORY "${generated}")
set(generated_sources)
foreach(proto IN ITEMS monitor smaragdine)
  set(outputs)
  foreach(suffix IN ITEMS pb.cc pb.h grpc.pb.cc grpc.pb.h)
    list(APPEND outputs "${generated}/${proto}.${suffix}")
  endforeach()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND "${BERYL_PROTOC}" "--proto_path=${PROJECT_SOURCE_DIR}/api"
      "--cpp_out=${generated}" "--grpc_out=${generated}"
      "--plugin=protoc-gen-grpc=${BERYL_GRPC_PLUGIN}" "${proto}.proto"
    DEPENDS "${PROJECT_SOURCE_DIR}/api/${proto}.proto"
    VERBATIM)
  list(APPEND generated_sources ${outputs})
endforeach()

add_library(beryl_api STATIC ${generated_sources})
target_compile_options(beryl_api PRIVATE -w -ffunction-sections -fdata-sections ${light_optimisation})
target_include_directories(beryl_api SYSTEM PUBLIC
  "${PROJECT_BINARY_DIR}/generated" "${generated}" ${BERYL_GRPC_INCLUDE_DIRS})

# pkg-config names what static libraries need, some of it many times over.
set(grpc_static ${BERYL_GRPC_STATIC_LIBRARIES})
list(REMOVE_DUPLICATES grpc_static)
list(REMOVE_ITEM grpc_static dl pthread rt atomic m)
add_library(beryl_grpc INTERFACE)
find_library(BERYL_GRPC_ARCHIVE libgrpc++.a)
if(BERYL_GRPC_ARCHIVE)
  list(TRANSFORM grpc_static PREPEND "-l")
  target_link_libraries(beryl_grpc INTERFACE
    "-Wl,--gc-sections" "-Wl,--as-needed"
    "-Wl,-Bstatic" "-Wl,--start-group" ${grpc_static} "-Wl,--end-group" "-Wl,-Bdynamic"
    ${CMAKE_DL_LIBS} Threads::Threads)
else()
  target_link_libraries(beryl_grpc INTERFACE ${BERYL_GRPC_LIBRARIES} Threads::Threads)
endif()

file(GLOB rpc_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/server/rpc/*.cc" "${PROJECT_SOURCE_DIR}/src/server/rpc/*.h")
file(GLOB rpc_tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/server/rpc/*_test.cc")
list(REMOVE_ITEM rpc_sources ${rpc_tests})
add_library(beryl_rpc STATIC ${rpc_sources})
set_target_properties(beryl_rpc PROPERTIES LINKER_LANGUAGE CXX)
target_compile_options(beryl_rpc PRIVATE -ffunction-sections -fdata-sections ${light_optimisation})
target_link_libraries(beryl_rpc PUBLIC beryl_grpc beryl_server beryl_api)

add_executable(beryl-monitor "${PROJECT_SOURCE_DIR}/src/cli/monitor_main.cc")
target_link_libraries(beryl-monitor PRIVATE beryl_cli beryl_rpc)

if(BERYL_TESTS AND rpc_tests)
  beryl_test(rpc beryl_rpc ${rpc_tests})
endif()
