# What the compiler does at the server's own optimisation level is what this chapter measures.
if(NOT ENGINEROOM_SANITIZE)
  file(GLOB low_concurrency_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
  set_source_files_properties(${low_concurrency_sources} PROPERTIES COMPILE_OPTIONS -O2)
endif()
