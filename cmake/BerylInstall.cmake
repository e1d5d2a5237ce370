# What `cmake --install` and the Debian packages put where, in three components: beryl, beryl-monitor
# and beryl-server. ./beryl install is made of the same rules (tools/install.sh).
include(GNUInstallDirs)

install(TARGETS beryl COMPONENT beryl)

# Man pages and completions are what the program says of itself, asked for when it is installed.
set(made "${PROJECT_BINARY_DIR}/installed/beryl")
install(CODE "
  file(REMOVE_RECURSE \"${made}\")
  file(MAKE_DIRECTORY \"${made}\")
  execute_process(COMMAND_ERROR_IS_FATAL ANY
    COMMAND \"${PROJECT_SOURCE_DIR}/tools/make_man_pages.py\" \"$<TARGET_FILE:beryl>\" \"${made}/man1\")
  foreach(shell IN ITEMS bash zsh fish)
    execute_process(COMMAND_ERROR_IS_FATAL ANY
      COMMAND \"$<TARGET_FILE:beryl>\" completion \${shell} OUTPUT_FILE \"${made}/\${shell}\")
  endforeach()"
  COMPONENT beryl)
install(DIRECTORY "${made}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}" COMPONENT beryl)
foreach(completion IN ITEMS
    bash:bash-completion/completions/beryl
    zsh:zsh/site-functions/_beryl
    fish:fish/vendor_completions.d/beryl.fish)
  string(REGEX MATCH "^([a-z]+):(.*)/(.*)$" matched "${completion}")
  install(FILES "${made}/${CMAKE_MATCH_1}" RENAME "${CMAKE_MATCH_3}"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2}" COMPONENT beryl)
endforeach()
install(FILES LICENSE RENAME copyright
  DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/beryl" COMPONENT beryl)

# A service: its program and its systemd units, in a component and a package of its own.
set(packages beryl)
function(beryl_install_service name)
  set(packages ${packages} ${name} PARENT_SCOPE)
  install(TARGETS ${name} COMPONENT ${name})
  install(FILES LICENSE RENAME copyright
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${name}" COMPONENT ${name})
  # The units name the program where it will be.
  install(CODE "
    foreach(unit IN ITEMS ${ARGN})
      file(READ \"${PROJECT_SOURCE_DIR}/systemd/\${unit}\" text)
      string(REPLACE \"/usr/local/bin\" \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\" text \"\${text}\")
      file(WRITE \"${PROJECT_BINARY_DIR}/installed/${name}/\${unit}\" \"\${text}\")
    endforeach()"
    COMPONENT ${name})
endfunction()

set(made "${PROJECT_BINARY_DIR}/installed")
if(TARGET beryl-monitor)
  beryl_install_service(beryl-monitor beryl-monitor.service beryl-monitor.service.d/user.conf)
  # One service for the whole machine, or one for a user, which every prefix has a place for.
  install(FILES "${made}/beryl-monitor/beryl-monitor.service" DESTINATION lib/systemd/system
    COMPONENT beryl-monitor)
  install(DIRECTORY "${made}/beryl-monitor/" DESTINATION "${CMAKE_INSTALL_DATADIR}/systemd/user"
    COMPONENT beryl-monitor)
endif()
if(TARGET beryl-server)
  beryl_install_service(beryl-server beryl-server.service beryl-server.socket)
  install(FILES "${made}/beryl-server/beryl-server.service" "${made}/beryl-server/beryl-server.socket"
    DESTINATION lib/systemd/system COMPONENT beryl-server)
endif()

# Packages are made of what is built; `all` would have the benchmarks too.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY ON)
set(CMAKE_SKIP_PACKAGE_ALL_DEPENDENCY ON)
set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL ${packages})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
# So that an install script sees the prefix that the package will be unpacked to.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_VENDOR "The Beryl project")
set(CPACK_PACKAGE_CONTACT "The Beryl project")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_BERYL_PACKAGE_NAME beryl)
set(CPACK_DEBIAN_BERYL-MONITOR_PACKAGE_NAME beryl-monitor)
set(CPACK_DEBIAN_BERYL_DESCRIPTION
  "energy of deep-learning programs, by layer and operation
Beryl measures the energy of deep-learning programs, attributes it to every module, layer and tensor
operation, and predicts it for models that were not run. License: Apache-2.0.")
set(CPACK_DEBIAN_BERYL-MONITOR_DESCRIPTION
  "energy measurements as a service, over gRPC and for Prometheus
The service that beryl monitor starts, with units for systemd. Installing it does not start it.
License: Apache-2.0.")
set(CPACK_DEBIAN_BERYL-MONITOR_PACKAGE_DEPENDS "beryl (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_BERYL-SERVER_PACKAGE_NAME beryl-server)
set(CPACK_DEBIAN_BERYL-SERVER_DESCRIPTION
  "models and predictions of energy over HTTP
The server that beryl serve starts, with units for systemd. Installing it does not start it.
License: Apache-2.0.")
set(CPACK_DEBIAN_BERYL-SERVER_PACKAGE_DEPENDS "beryl (= ${PROJECT_VERSION})")
find_program(BERYL_SHLIBDEPS dpkg-shlibdeps)
if(BERYL_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
