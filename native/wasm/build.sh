#!/usr/bin/env bash
# Compiles each explorable's kernel to book/web/wasm/<word>.wasm and draws its plain figure. Same input, same bytes.
# `build.sh FOLDER` writes into FOLDER instead, for the test that compares. What was compiled is kept in _build/wasm and taken
# from there while compiler, options and preprocessed sources are the same.
set -euo pipefail
cd "$(dirname "$0")/../.."

clang=clang++-19
if ! command -v "$clang" >/dev/null; then
  echo "make wasm needs clang 19 for WebAssembly. On Debian:"
  echo "  apt-get install --no-install-recommends clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32"
  exit 1
fi

target=${1:-book/web/wasm}
made=_build/wasm
mkdir -p "$target" "$made"
declare -A options_of=([speed]="-O2" [size]="-Oz -flto -DNDEBUG -mbulk-memory")
compile() {
  local word=$1 optimize=$2 sources=("${@:3}") options command key
  local link=(-mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all -Wl,--compress-relocations)
  read -ra options <<<"${options_of[$optimize]}"
  command=("$clang" --target=wasm32-wasi -std=c++20 "${options[@]}" -fno-exceptions -fno-rtti -stdlib=libc++
    -Wall -Wextra -Wconversion -Werror -ffile-prefix-map="$PWD"=. -ffunction-sections
    -Inative -Inative/kernels "native/wasm/$word.cpp" "${sources[@]/#/native/}")
  key=$({ "$clang" --version; echo "${command[@]} ${link[@]}"; "${command[@]}" -E; } | sha256sum)
  if [ "$(cat "$made/$word.key" 2>/dev/null)" != "$key" ]; then
    rm -f "$made/$word.key"
    "${command[@]}" "${link[@]}" -o "$made/$word.wasm"
    echo "$key" >"$made/$word.key"
  fi
  cp "$made/$word.wasm" "$target/$word.wasm"
  echo "$target/$word.wasm: $(stat -c %s "$target/$word.wasm") bytes"
}
# Modules, what they are optimized for and their sources are declared in src/engineroom/chapters.toml.
declared=$(PYTHONPATH=src python3 -m engineroom.chapters wasm)
compilers=()
while read -ra module; do
  compile "${module[@]}" &
  compilers+=($!)
done <<<"$declared"
for compiler in "${compilers[@]}"; do wait "$compiler"; done
[ $# -gt 0 ] || PYTHONPATH=src python3 -m engineroom.widgets.headless
