#!/usr/bin/env bash
# Compiles each explorable's kernel to book/web/wasm/<word>.wasm and draws its plain figure. Same input, same bytes.
# `build.sh FOLDER` writes into FOLDER instead, for the test that compares.
set -euo pipefail
cd "$(dirname "$0")/../.."

clang=clang++-19
if ! command -v "$clang" >/dev/null; then
  echo "make wasm needs clang 19 for WebAssembly. On Debian:"
  echo "  apt-get install --no-install-recommends clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32"
  exit 1
fi

# What each module is made of besides its entry; files and threads stay native.
declare -A kernels_of=(
  [hash_join]="common/storage.cpp hash_join/hybrid.cpp hash_join/relation.cpp hash_join/row_buffer.cpp hash_join/row_memory.cpp hash_join/skewed_keys.cpp"
  [low_concurrency]="low_concurrency/arena.cpp low_concurrency/insert_values.cpp"
  [filesort]="common/storage.cpp filesort/design.cpp filesort/filesort.cpp filesort/merge.cpp filesort/sort_records.cpp filesort/table.cpp"
  [machine]="../machine/sim_file.cpp ../machine/sim_machine.cpp ../wasm/small/no_text.cpp"
  [redo_log]="../machine/sim_file.cpp ../machine/sim_machine.cpp ../wasm/small/no_text.cpp"
  [log_steps]="../machine/sim_file.cpp ../machine/sim_machine.cpp ../wasm/small/no_text.cpp"
  [join_order]="join_order/enumerate.cpp join_order/hypergraph.cpp join_order/inner_plans.cpp join_order/plans.cpp"
  [query_graph]="join_order/enumerate.cpp join_order/hypergraph.cpp join_order/inner_plans.cpp join_order/plans.cpp"
)
# Coroutines make much code: where a log is simulated, size counts more than speed.
small="-Oz -flto -DNDEBUG -mbulk-memory"
declare -A options_of=([machine]=$small [redo_log]=$small [log_steps]=$small)

target=${1:-book/web/wasm}
mkdir -p "$target"
compile() {
  local entry=$1 word kernels options
  word=$(basename "$entry" .cpp)
  read -ra kernels <<<"${kernels_of[$word]}"
  read -ra options <<<"${options_of[$word]:--O2}"
  "$clang" --target=wasm32-wasi -std=c++20 "${options[@]}" -fno-exceptions -fno-rtti -stdlib=libc++ -mexec-model=reactor \
    -Wall -Wextra -Wconversion -Werror -ffile-prefix-map="$PWD"=. -ffunction-sections -Wl,--gc-sections -Wl,--strip-all -Wl,--compress-relocations \
    -Inative -Inative/kernels "$entry" "${kernels[@]/#/native/kernels/}" -o "$target/$word.wasm"
  echo "$target/$word.wasm: $(stat -c %s "$target/$word.wasm") bytes"
}
compilers=()
for entry in native/wasm/*.cpp; do
  compile "$entry" &
  compilers+=($!)
done
for compiler in "${compilers[@]}"; do wait "$compiler"; done
[ $# -gt 0 ] || PYTHONPATH=src python3 -m engineroom.widgets.headless
