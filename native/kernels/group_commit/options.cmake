# Whole runs in files of their own, none of which is measured: what takes long to compile.
if(NOT ENGINEROOM_SANITIZE)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/crash_runs.cpp
                              PROPERTIES COMPILE_OPTIONS -O1)
endif()
