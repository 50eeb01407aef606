# Tests: from tests/<folder>/*_test.cpp to ctest entries, and what is checked about them at configure time.

# mt_check_test_file(file): stops the configuration when the file holds no test case, or one whose name contains a
# semicolon: CMake and CTest split lists there, so such a test can turn into two filters that match nothing.
function(mt_check_test_file file)
  file(READ ${file} text)
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
  if(NOT text MATCHES "TEST_CASE[A-Z_]*\\(")
    message(FATAL_ERROR "${shown}: a test file needs at least one TEST_CASE")
  endif()
  set(string "\"([^\"\\\\]|\\\\.)*\"")
  set(string_with_semicolon "\"([^\"\\\\;]|\\\\.)*;([^\"\\\\]|\\\\.)*\"")
  if(text MATCHES "(TEST_CASE|SUBCASE|TEST_SUITE)[A-Z_]*\\(([A-Za-z_0-9:]+, *)?(${string}[ \n]*)*${string_with_semicolon}")
    message(FATAL_ERROR "${shown}: the name of a test must not contain ';': ${CMAKE_MATCH_0}")
  endif()
endfunction()

# mt_add_tests(folder LIBRARIES lib... DEPENDS target...): one executable test_<folder> of all *_test.cpp below
# tests/<folder>, and one ctest entry per file, <folder>/<file>, so that each can be run and timed on its own. Files
# named *_timing_test.cpp measure time: no other test runs beside them.
function(mt_add_tests folder)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;DEPENDS" ${ARGN})
  set(root ${PROJECT_SOURCE_DIR}/tests/${folder})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${root}/*_test.cpp)
  if(NOT files)
    return()
  endif()
  add_executable(test_${folder} ${files})
  target_link_libraries(test_${folder} PRIVATE mt_test_support ${ARG_LIBRARIES})
  set_target_properties(test_${folder} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  foreach(file IN LISTS files)
    mt_check_test_file(${file})
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${root} OUTPUT_VARIABLE path)
    string(REGEX REPLACE "_test\\.cpp$" "" name ${folder}/${path})
    add_test(NAME ${name} COMMAND test_${folder} "--source-file=*/tests/${folder}/${path}")
    set_tests_properties(${name} PROPERTIES TIMEOUT 900)
    if(name MATCHES "_timing$")
      set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
  endforeach()
  if(ARG_DEPENDS)
    add_dependencies(test_${folder} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY MT_TEST_FILES ${files})
endfunction()

# mt_check_all_tests_added(): stops the configuration when a *_test.cpp file belongs to no mt_add_tests().
function(mt_check_all_tests_added)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cpp)
  get_property(added GLOBAL PROPERTY MT_TEST_FILES)
  if(added)
    list(REMOVE_ITEM files ${added})
  endif()
  if(files)
    message(FATAL_ERROR "no mt_add_tests() in tests/CMakeLists.txt covers: ${files}")
  endif()
endfunction()

# mt_add_check(name script argument...): a ctest entry checks/<name> that runs a script of scripts/.
function(mt_add_check name script)
  add_test(NAME checks/${name} COMMAND bash ${PROJECT_SOURCE_DIR}/scripts/${script} ${ARGN})
  set_tests_properties(checks/${name} PROPERTIES TIMEOUT 300)
endfunction()
