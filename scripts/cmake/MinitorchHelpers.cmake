# Functions the CMakeLists.txt files share.

# mt_require_package(name debian_package [option]): find_package(name), or one clear error. `option` is what
# scripts/setup.sh wants in order to install it.
macro(mt_require_package name debian_package)
  find_package(${name} QUIET)
  if(NOT ${name}_FOUND)
    string(JOIN " " setup scripts/setup.sh ${ARGN})
    message(FATAL_ERROR "minitorch needs the library ${name} (Debian's package ${debian_package}); ${setup} installs it.")
  endif()
endmacro()

# mt_add_library(name SOURCES folder... LIBRARIES lib...): a static library of all .cpp files below the folders.
# A folder without sources gives an interface library, so that layers may be empty. Other projects know mt_<short> as
# minitorch::<short>.
function(mt_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(files)
  foreach(folder IN LISTS ARG_SOURCES)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    list(APPEND files ${found})
  endforeach()
  if(files)
    add_library(${name} STATIC ${files})
    target_link_libraries(${name} PUBLIC mt_options ${ARG_LIBRARIES})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE mt_options ${ARG_LIBRARIES})
  endif()
  string(REGEX REPLACE "^mt_" "" short ${name})
  add_library(minitorch::${short} ALIAS ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${short})
  set_property(GLOBAL APPEND PROPERTY MT_LIBRARIES ${name})
endfunction()

# mt_set_isa_flags(target): sources of the name *_avx2.cpp, *_avx512.cpp, *_avx512vnni.cpp, *_neon.cpp and *_neondot.cpp
# get their instruction sets, and no others do. These files define everything inside a namespace of their own and export
# no weak symbol (scripts/check_weak_symbols.sh).
function(mt_set_isa_flags target)
  # GCC 12 needs minutes to optimise the instrumented code of one such file, so sanitizer builds keep their own level.
  set(optimise -O3)
  if(MINITORCH_SANITIZE)
    set(optimise)
  endif()
  set(scalar)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(variants scalar|avx2|avx512|avx512vnni)
    set(avx2 -mavx2 -mfma -mf16c)
    set(avx512 ${avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl -mprefer-vector-width=512)
    set(avx512vnni ${avx512} -mavx512vnni)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
    set(variants scalar|neon|neondot)
    set(neon)
    set(neondot -march=armv8.2-a+dotprod)
  else()
    return()
  endif()
  get_target_property(files ${target} SOURCES)
  foreach(file IN LISTS files)
    if(file MATCHES "/kernels/cpu/.*_(${variants})\\.cpp$")
      set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS "${optimise};${${CMAKE_MATCH_1}}")
    endif()
  endforeach()
endfunction()

# mt_require_system_library(library header debian_package): the target minitorch::<library> of a library that brings no
# CMake package, or one clear error.
function(mt_require_system_library library header debian_package)
  minitorch_import_system_library(${library} ${header})
  if(NOT TARGET minitorch::${library})
    message(FATAL_ERROR
      "minitorch needs the library ${library} (Debian's package ${debian_package}); scripts/setup.sh installs all packages.")
  endif()
endfunction()

# mt_add_programs(folder LIBRARIES lib...): one program per folder/<name>/main.cpp. All .cpp files beside it become the
# library <name>_parts, which tests may link too. Files in folder/common serve all programs. The target `programs`
# builds them all.
function(mt_add_programs folder)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  file(GLOB common CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/common/*.cpp)
  if(common)
    add_library(mt_${folder}_common STATIC ${common})
    target_link_libraries(mt_${folder}_common PUBLIC ${ARG_LIBRARIES})
    list(APPEND ARG_LIBRARIES mt_${folder}_common)
  endif()
  add_custom_target(programs)
  file(GLOB mains CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*/main.cpp)
  foreach(main IN LISTS mains)
    cmake_path(GET main PARENT_PATH program_folder)
    cmake_path(GET program_folder FILENAME program)
    file(GLOB parts CONFIGURE_DEPENDS ${program_folder}/*.cpp)
    list(REMOVE_ITEM parts ${main})
    add_executable(${program} ${main})
    if(parts)
      add_library(${program}_parts STATIC ${parts})
      target_link_libraries(${program}_parts PUBLIC ${ARG_LIBRARIES})
      target_link_libraries(${program} PRIVATE ${program}_parts)
    endif()
    target_link_libraries(${program} PRIVATE ${ARG_LIBRARIES})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    add_dependencies(programs ${program})
  endforeach()
endfunction()
