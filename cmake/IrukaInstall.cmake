# What `cmake --install` puts down for C++ users: libraries, headers, find_package(iruka), licences.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(iruka iruka_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
target_compile_features(iruka PUBLIC cxx_std_20)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/iruka)

install(TARGETS iruka iruka_compiler EXPORT irukaTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(PROGRAMS ${IRUKA_OPENBLAS} DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/iruka DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT irukaTargets NAMESPACE iruka:: DESTINATION ${package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/licenses DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/irukaConfig.cmake.in ${PROJECT_BINARY_DIR}/irukaConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
# Below 1.0 a new minor version may break what the old one promised.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/irukaConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/irukaConfig.cmake ${PROJECT_BINARY_DIR}/irukaConfigVersion.cmake
        DESTINATION ${package_folder})
