# Lock systems whose runs are not measured: what takes long to compile.
if(NOT ENGINEROOM_SANITIZE)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/random_runs.cpp ${CMAKE_CURRENT_LIST_DIR}/playground.cpp
                              PROPERTIES COMPILE_OPTIONS -O1)
endif()
