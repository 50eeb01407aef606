# What `cmake --install` installs: programs, libraries, headers, a CMake package, the embedded pair, shell completion. All
# places are relative and fixed, so an installation can be moved: programs look for the pair in ../share.
include(CMakePackageConfigHelpers)

get_property(libraries GLOBAL PROPERTY MT_LIBRARIES)
set_target_properties(mt_options PROPERTIES EXPORT_NAME options)
install(TARGETS mt_options ${libraries} EXPORT minitorchTargets ARCHIVE DESTINATION lib)
# An include folder of their own keeps folders of such common names as models/ apart from those of others. What
# only the kernels' own sources include is left out.
foreach(folder IN ITEMS minitorch kernels models speculative)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} ${folder}/*.h ${folder}/*.def)
  list(FILTER headers EXCLUDE REGEX "^kernels/(cpu/|reference/|pointwise_functors)")
  foreach(header IN LISTS headers)
    cmake_path(GET header PARENT_PATH place)
    install(FILES ${header} DESTINATION include/minitorch/${place})
  endforeach()
endforeach()

set(package lib/cmake/minitorch)
set(version_file ${PROJECT_BINARY_DIR}/generated/minitorchConfigVersion.cmake)
write_basic_package_version_file(${version_file} COMPATIBILITY SameMinorVersion)
install(EXPORT minitorchTargets NAMESPACE minitorch:: DESTINATION ${package})
install(FILES scripts/cmake/minitorchConfig.cmake scripts/cmake/MinitorchSystemLibraries.cmake ${version_file}
  DESTINATION ${package})

install(DIRECTORY models/tiny_r1/ DESTINATION share/minitorch/tiny_r1)
if(MINITORCH_PROGRAMS OR MINITORCH_TESTS)  # either builds them
  get_target_property(programs programs MANUALLY_ADDED_DEPENDENCIES)
  install(TARGETS ${programs} RUNTIME DESTINATION bin)
  foreach(program IN LISTS programs)  # bash-completion looks for a file of the program's name
    install(FILES scripts/completion/minitorch.bash DESTINATION share/bash-completion/completions RENAME ${program})
  endforeach()
endif()
