# Finding libraries that bring no CMake package, without pkg-config. Used by this build and by the installed package, so that
# the latter names no path of the machine it was built on.

# minitorch_import_system_library(library [header]): makes the imported target minitorch::<library> when the library (and
# its header, where one is named) is found; without it there is no such target.
function(minitorch_import_system_library library)
  if(TARGET minitorch::${library})
    return()
  endif()
  string(MAKE_C_IDENTIFIER "MINITORCH_${library}" prefix)
  find_library(${prefix}_LIBRARY ${library})
  mark_as_advanced(${prefix}_LIBRARY)
  if(ARGC GREATER 1)
    find_path(${prefix}_INCLUDE ${ARGV1})
    mark_as_advanced(${prefix}_INCLUDE)
  endif()
  if(NOT ${prefix}_LIBRARY OR (ARGC GREATER 1 AND NOT ${prefix}_INCLUDE))
    return()
  endif()
  add_library(minitorch::${library} UNKNOWN IMPORTED)
  set_target_properties(minitorch::${library} PROPERTIES IMPORTED_LOCATION ${${prefix}_LIBRARY})
  if(ARGC GREATER 1)
    target_include_directories(minitorch::${library} SYSTEM INTERFACE ${${prefix}_INCLUDE})
  endif()
endfunction()
