#!/bin/bash
# Builds the image milepost/neo4j:<version> without an image registry. See README.md beside this.
#
# Environment: BASE, an image to build on (default: a Debian made here by debootstrap);
#              PYTHON, the interpreter of Milepost's environment (default: .venv/bin/python);
#              MILEPOST_CACHE_DIR, where the jars are kept.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
repository=$(dirname "$here")
python=${PYTHON:-$repository/.venv/bin/python}
base=${BASE:-milepost/debian:bookworm}
version=$(sed -n '1s/^neo4j //p' "$repository/graph/server/neo4j.lock")
image=milepost/neo4j:$version

docker version >/dev/null || { echo "build.sh: no Docker engine answers" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! docker image inspect "$base" >/dev/null 2>&1; then
  if [ -n "${BASE:-}" ]; then
    docker pull "$base"
  else
    echo "build.sh: making $base with debootstrap" >&2
    debootstrap --variant=minbase bookworm "$work/root" >"$work/debootstrap.log" 2>&1 ||
      { tail -n 5 "$work/debootstrap.log" >&2; exit 1; }
    rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/*
    tar --numeric-owner -C "$work/root" -c . | docker import - "$base" >/dev/null
    rm -rf "$work/root"
  fi
fi

echo "build.sh: building $image" >&2
cache=$(cd "$repository" && "$python" -c 'from app import settings; print(settings.load().cache_dir)')
(cd "$repository" && "$python" -m graph.server.bundle "$work/context/neo4j" "$cache")
cp "$here"/{Dockerfile,entrypoint.sh,neo4j-admin} "$work/context/"
chmod 755 "$work"/context/{entrypoint.sh,neo4j-admin}
# The classic builder needs no plugin and no image of its own.
DOCKER_BUILDKIT=0 docker build --build-arg BASE="$base" --tag "$image" "$work/context" \
  >"$work/build.log" 2>&1 || { tail -n 20 "$work/build.log" >&2; exit 1; }
echo "build.sh: $image is ready" >&2
