#!/bin/bash
# Builds the image milepost/neo4j:<version> without an image registry. See README.md beside this.
#
# Environment: BASE, an image to build on (default: a Debian made here by debootstrap);
#              PYTHON, the interpreter of Milepost's environment (default: .venv/bin/python);
#              MILEPOST_CACHE_DIR, where the jars are kept.
set -euo pipefail
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
base=${BASE:-milepost/debian:bookworm}
image=milepost/neo4j:$(sed -n '1s/^neo4j //p' graph/server/neo4j.lock)
sources=(docker/Dockerfile docker/entrypoint.sh docker/neo4j-admin docker/build.sh
  graph/server/neo4j.lock graph/server/java.py)
digest=$( (echo "$base" && cat "${sources[@]}") | sha256sum | cut -c -16)

docker version >/dev/null || { echo "build.sh: no Docker engine answers" >&2; exit 1; }
built=$(docker image inspect --format '{{index .Config.Labels "milepost.sources"}}' "$image" \
  2>/dev/null || true)
if [ "$built" = "$digest" ]; then
  echo "build.sh: $image is up to date" >&2
  exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

make_base() {
  echo "build.sh: making $base with debootstrap" >&2
  debootstrap --variant=minbase bookworm "$work/root" >"$work/log" 2>&1 ||
    { tail -n 5 "$work/log" >&2; exit 1; }
  rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*
  tar --numeric-owner -C "$work/root" -c . | docker import - "$base" >/dev/null
  rm -rf "$work/root"
}

if ! docker image inspect "$base" >/dev/null 2>&1; then
  if [ -n "${BASE:-}" ]; then docker pull "$base"; else make_base; fi
fi

echo "build.sh: building $image" >&2
cache=$("$python" -c 'from app import settings; print(settings.load().cache_dir)')
"$python" -m graph.server.bundle "$work/context/neo4j" "$cache"
cp docker/{Dockerfile,entrypoint.sh,neo4j-admin} "$work/context/"
chmod 755 "$work"/context/{entrypoint.sh,neo4j-admin}
# The classic builder needs no plugin and no image of its own.
DOCKER_BUILDKIT=0 docker build --build-arg BASE="$base" --label milepost.sources="$digest" \
  --tag "$image" "$work/context" >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
echo "build.sh: $image is ready" >&2
