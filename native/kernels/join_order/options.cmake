# Tables of which source function an instruction is of: nearly all of the planner is inlined into its enumerator,
# and a profiler is to tell growing sets from pricing pairs.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/inner_plans.cpp PROPERTIES COMPILE_OPTIONS -g1)
