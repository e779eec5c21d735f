#!/usr/bin/env bash
# Compiles each explorable's kernel to book/web/explorables/<word>.wasm and draws its plain figure. Same input, same bytes.
# `build.sh FOLDER` writes into FOLDER instead, for the test that compares. A source of several modules is compiled once; what was
# compiled is kept in _build/wasm and taken from there while compiler, options and all that was read are the same. A library in C comes
# from its Python package, of the version in the lock file, so that page and package compress alike.
set -euo pipefail
cd "$(dirname "$0")/../.."

clang=clang++-19
if ! command -v "$clang" >/dev/null; then
  echo "make wasm needs clang 19 for WebAssembly. On Debian:"
  echo "  apt-get install --no-install-recommends clang-19 lld-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32"
  exit 1
fi

target=${1:-book/web/explorables}
made=_build/wasm
mkdir -p "$target" "$made/lib"
version=$("$clang" --version)
declare -A options_of=([speed]="-O2 -DNDEBUG" [size]="-Oz -flto -DNDEBUG -mbulk-memory")

# An object as `<optimize>.<source>.o`, with its key beside it.
object() { echo "$made/$1.${2//\//.}.o"; }
file_of() { case $1 in lib/*) echo "$made/$1" ;; *) echo "native/$1" ;; esac; }
# What an object is known by: the compiler, the command, and all files that were read.
key_of() { { echo "$version ${*:2}"; sed 's/^[^ ]*://; s/\\$//' "$1.d" | xargs sha256sum; } | sha256sum; }
compile() {
  local optimize=$1 source=$2 options command out
  read -ra options <<<"${options_of[$optimize]}"
  out=$(object "$optimize" "$source")
  command=("$clang" --target=wasm32-wasi "${options[@]}" -ffile-prefix-map="$PWD"=. -ffunction-sections)
  case $source in
    # No threads and small, in words of upstream.
    lib/*.c) command+=(-x c -std=c11 -w -D__EMSCRIPTEN__ -DZSTD_NO_INLINE -DZSTD_STRIP_ERROR_STRINGS) ;;
    *) command+=(-std=c++20 -fno-exceptions -fno-rtti -stdlib=libc++ -Wall -Wextra -Wconversion -Werror -Inative -Inative/kernels -isystem "$made/lib/zstd"
      -fpch-validate-input-files-content) ;;  # a checkout gives the same text another time
  esac
  case $source in *.cpp) command+=(-include-pch "$(object "$optimize" wasm/library.hpp)") ;; esac
  command+=(-c "$(file_of "$source")" -o "$out")
  [ -f "$out.d" ] && [ "$(cat "$out.key" 2>/dev/null)" = "$(key_of "$out" "${command[@]}" 2>/dev/null)" ] && return
  rm -f "$out.key"
  "${command[@]}" -MD -MF "$out.d"
  key_of "$out" "${command[@]}" >"$out.key"
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
# zstd in one C file, as the package `zstandard` has it, checked by the lock file's hashes.
fetch_zstd() {
  local locked python=python3
  locked=$(sed -n '/^zstandard==/,/[^\\]$/p' requirements/test.txt)
  [ "$(cat "$made/lib/zstd/locked" 2>/dev/null)" = "$locked" ] && return
  [ -x .venv/bin/python ] && python=.venv/bin/python
  rm -rf "$made/lib/zstd" && mkdir -p "$made/lib/zstd"
  echo "$locked" >"$made/lib/zstd.txt"
  "$python" -m pip download -q --no-deps --no-binary zstandard --require-hashes -r "$made/lib/zstd.txt" -d "$made/lib"
  tar -xzf "$made"/lib/zstandard-*.tar.gz -C "$made/lib/zstd" --strip-components=2 --wildcards '*/zstd/*'
  echo "$locked" >"$made/lib/zstd/locked"
}
# Modules, what they are optimized for and their sources are declared in src/engineroom/chapters.toml.
declared=$(PYTHONPATH=src python3 -m engineroom.chapters)
[[ $declared != *" lib/zstd/"* ]] || fetch_zstd
for optimize in "${!options_of[@]}"; do echo "$optimize wasm/library.hpp"; done | each_line compile
while read -r _ optimize sources; do
  for source in $sources; do echo "$optimize $source"; done
done <<<"$declared" | sort -u | each_line compile
each_line link <<<"$declared"
[ $# -gt 0 ] || PYTHONPATH=src python3 -m engineroom.show.headless
