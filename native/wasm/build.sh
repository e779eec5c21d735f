#!/usr/bin/env bash
# Compiles each explorable's kernel to book/web/wasm/<word>.wasm and draws its plain figure. Same input, same bytes.
# `build.sh FOLDER` writes into FOLDER instead, for the test that compares. A source of several modules is compiled once; what was
# compiled is kept in _build/wasm and taken from there while compiler, options and preprocessed sources are the same.
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

# An object as `<optimize>.<source>.o`, with its key beside it.
object() { echo "$made/$1.${2//\//.}.o"; }
compile() {
  local optimize=$1 source=$2 options command out key
  read -ra options <<<"${options_of[$optimize]}"
  command=("$clang" --target=wasm32-wasi -std=c++20 "${options[@]}" -fno-exceptions -fno-rtti -stdlib=libc++
    -Wall -Wextra -Wconversion -Werror -ffile-prefix-map="$PWD"=. -ffunction-sections -Inative -Inative/kernels)
  out=$(object "$optimize" "$source")
  key=$({ "$clang" --version; echo "${command[@]} $source"; "${command[@]}" -E "native/$source"; } | sha256sum)
  [ "$(cat "$out.key" 2>/dev/null)" = "$key" ] && return
  rm -f "$out.key"
  "${command[@]}" -c "native/$source" -o "$out"
  echo "$key" >"$out.key"
}
link() {
  local word=$1 optimize=$2 sources=("${@:3}") options objects=() each
  for each in "${sources[@]}"; do objects+=("$(object "$optimize" "$each")"); done
  read -ra options <<<"${options_of[$optimize]}"
  "$clang" --target=wasm32-wasi "${options[@]}" -stdlib=libc++ -mexec-model=reactor -Wl,--gc-sections -Wl,--strip-all \
    -Wl,--compress-relocations "${objects[@]}" -o "$target/$word.wasm"
  echo "$target/$word.wasm: $(stat -c %s "$target/$word.wasm") bytes"
}
# Calls $1 with the words of each line of standard input, as many at once as there are processors; ends with the first failure.
each_line() {
  local words running=0
  while read -ra words; do
    [ "$running" -lt "$(nproc)" ] || { wait -n; running=$((running - 1)); }
    "$1" "${words[@]}" &
    running=$((running + 1))
  done
  while [ "$running" -gt 0 ]; do wait -n; running=$((running - 1)); done
}
# Modules, what they are optimized for and their sources are declared in src/engineroom/chapters.toml.
declared=$(PYTHONPATH=src python3 -m engineroom.chapters wasm | while read -r word rest; do
  read -r optimize sources <<<"$rest"
  echo "$word $optimize wasm/$word.cpp $sources"
done)
while read -r _ optimize sources; do
  for source in $sources; do echo "$optimize $source"; done
done <<<"$declared" | sort -u | each_line compile
each_line link <<<"$declared"
[ $# -gt 0 ] || PYTHONPATH=src python3 -m engineroom.widgets.headless
