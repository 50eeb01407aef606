# mt_build_id: a library with the build id (version and git commit), remade when the commit changes.
add_custom_target(mt_build_id_stamp
  COMMAND ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D VERSION=${PROJECT_VERSION}
          -D BUILD_TYPE=${CMAKE_BUILD_TYPE} -D OUTPUT=${PROJECT_BINARY_DIR}/generated/build_id.cpp -P ${PROJECT_SOURCE_DIR}/scripts/cmake/WriteBuildId.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/build_id.cpp
  COMMENT "Checking the build id"
  VERBATIM)
add_library(mt_build_id STATIC ${PROJECT_BINARY_DIR}/generated/build_id.cpp)
add_dependencies(mt_build_id mt_build_id_stamp)
target_include_directories(mt_build_id PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_features(mt_build_id PUBLIC cxx_std_20)
