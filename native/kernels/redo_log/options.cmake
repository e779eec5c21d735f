# Logs with and without mistakes: what takes long to compile and is not measured.
if(NOT ENGINEROOM_SANITIZE)
  set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/crash_runs.cpp PROPERTIES COMPILE_OPTIONS -O1)
endif()
