# A second engine, of which one session is looked at: what takes long to compile and is not measured.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/latch_order.cpp
                            PROPERTIES COMPILE_OPTIONS -O1)
