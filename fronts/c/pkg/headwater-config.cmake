# find_package(headwater): the targets headwater::headwater (libheadwater.so) and headwater::static
# (libheadwater.a). Relative to this file, so that the tree may be moved.
get_filename_component(_headwater_prefix "${CMAKE_CURRENT_LIST_DIR}/@UP_FROM_CMAKE@" ABSOLUTE)

if(NOT TARGET headwater::headwater)
  add_library(headwater::headwater SHARED IMPORTED)
  set_target_properties(headwater::headwater PROPERTIES
    IMPORTED_LOCATION "${_headwater_prefix}/@LIBDIR@/libheadwater.so.0"
    IMPORTED_SONAME "libheadwater.so.0"
    INTERFACE_INCLUDE_DIRECTORIES "${_headwater_prefix}/include")
endif()

if(NOT TARGET headwater::static)
  add_library(headwater::static STATIC IMPORTED)
  set_target_properties(headwater::static PROPERTIES
    IMPORTED_LOCATION "${_headwater_prefix}/@LIBDIR@/libheadwater.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_headwater_prefix}/include")
endif()

unset(_headwater_prefix)
