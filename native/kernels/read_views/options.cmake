# Transaction systems that are counted, not measured: what takes long to compile.
if(NOT ENGINEROOM_SANITIZE)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/histories.cpp ${CMAKE_CURRENT_LIST_DIR}/isolation.cpp
                              ${CMAKE_CURRENT_LIST_DIR}/statement_cost.cpp
                              PROPERTIES COMPILE_OPTIONS -O1)
endif()
