# generated/version.h, and generated/version.cc with the commit.
configure_file(cmake/version.h.in generated/version.h)

set(BERYL_COMMIT "")
find_program(BERYL_GIT git)
# A tarball may be unpacked inside another project's checkout.
if(BERYL_GIT AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  execute_process(COMMAND "${BERYL_GIT}" rev-parse --short=7 HEAD
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE BERYL_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # It has a new line whenever the commit changes.
  execute_process(COMMAND "${BERYL_GIT}" rev-parse --git-path logs/HEAD
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    OUTPUT_VARIABLE commits OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  cmake_path(ABSOLUTE_PATH commits BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
  if(EXISTS "${commits}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${commits}")
  endif()
endif()
configure_file(cmake/version.cc.in generated/version.cc)
