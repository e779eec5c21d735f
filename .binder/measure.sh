#!/usr/bin/env bash
# Builds the image that Binder would, from Debian packages and pip where Binder takes conda's, and measures it: its size, and how long a new
# container takes until JupyterLab answers. Prints JSON, for data/binder/image.json. Needs podman, runc and mmdebstrap, and a quarter of an hour.
# `measure.sh again` starts containers of the image that is there.
#
# What conda changes: python, compilers and `mysqld` are conda-forge's then, with libraries of their own. How large that is was not measured.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in podman runc mmdebstrap git curl; do
  command -v "$tool" >/dev/null || { echo "measure.sh needs $tool: apt-get install --no-install-recommends $tool" >&2; exit 1; }
done
name=localhost/engineroom-binder
made=$(mktemp -d)
container=""
finish() {
  [ -z "$container" ] || podman rm --force --time 0 "$container" >/dev/null
  rm -rf "$made"
}
trap finish EXIT
podman=(podman --runtime runc)

build() {
  packages=(python3 python3-venv python3-dev g++ cmake make ninja-build git ca-certificates)
  mapfile -t -O "${#packages[@]}" packages <.binder/apt.txt
  codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
  mirror=$(apt-get update --print-uris | sed -n "s#^'\(.*\)/dists/$codename/InRelease'.*#\1#p" | head -n 1)
  mmdebstrap --quiet --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"' \
    --include="$(IFS=,; echo "${packages[*]}")" "$codename" "$made/base.tar" "$mirror" >&2
  "${podman[@]}" import --quiet "$made/base.tar" "$name-base" >/dev/null

  git clone --quiet --depth 1 "file://$PWD" "$made/checkout"
  cat >"$made/Containerfile" <<EOF
FROM $name-base
RUN useradd --create-home reader
COPY --chown=reader checkout /home/reader/engineroom
USER reader
WORKDIR /home/reader/engineroom
ENV PATH=/home/reader/env/bin:/usr/local/bin:/usr/bin:/bin
RUN python3 -m venv /home/reader/env && pip install --quiet --no-cache-dir -r requirements/book.txt
RUN sh .binder/postBuild
EOF
  # How this computer reaches the registries: its certificates and its settings of pip.
  reach=(--network host --volume /etc/ssl/certs:/etc/ssl/certs:ro)
  for setting in $(compgen -e | grep -E '^(PIP_|SSL_CERT_|NODE_EXTRA_CA|.*_proxy$|.*_PROXY$)' || true); do reach+=(--env "$setting"); done
  [ ! -f /etc/pip.conf ] || reach+=(--volume /etc/pip.conf:/etc/pip.conf:ro)
  SECONDS=0
  "${podman[@]}" build --quiet "${reach[@]}" --file "$made/Containerfile" --tag "$name" "$made" >&2
  built_s=$SECONDS
}
built_s=null revision=null
[ "${1-}" = again ] || { build; revision="\"$(git rev-parse --short=12 HEAD)\""; }

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
milliseconds() { date +%s%3N; }
start_ms=()
for _ in 1 2 3 4 5; do
  before=$(milliseconds)
  container=$("${podman[@]}" run --detach --ulimit nofile=4096:4096 --ulimit nproc=4096:4096 --publish "127.0.0.1:$port:8888" "$name" .binder/start \
    jupyter lab --ip 0.0.0.0 --port 8888 --no-browser --IdentityProvider.token=measured)
  until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/api/status?token=measured"; do
    [ $(($(milliseconds) - before)) -lt 120000 ] || { podman logs "$container" >&2; echo "JupyterLab did not answer within two minutes" >&2; exit 1; }
    sleep 0.05
  done
  start_ms+=($(($(milliseconds) - before)))
  servers=$("${podman[@]}" exec "$container" engineroom server list 2>/dev/null | head -20 || true)
  podman rm --force --time 0 "$container" >/dev/null
  container=""
done
echo "$servers" >&2
bytes=$("${podman[@]}" image inspect --format '{{.Size}}' "$name")
printf '{"bytes": %s, "build_s": %s, "start_ms": [%s], "load": "%s", "revision": %s, "recorded": "%s"}\n' \
  "$bytes" "$built_s" "$(IFS=,; echo "${start_ms[*]}")" "$(cut -d' ' -f1 /proc/loadavg)" "$revision" "$(date -u +%F)"
