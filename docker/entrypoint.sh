#!/bin/bash
# Starts Neo4j with the settings of the environment, by the rules of the official image:
# NEO4J_server_memory_heap_max__size=1g means server.memory.heap.max_size=1g (one underscore is a
# dot, two are an underscore), and NEO4J_AUTH=neo4j/<password> sets the first password.
set -eu

export NEO4J_HOME=/var/lib/neo4j NEO4J_CONF=/var/lib/neo4j/conf
mkdir -p "$NEO4J_CONF" "$NEO4J_HOME"/{import,plugins,logs}

declare -A settings=(
  [server.default_listen_address]=0.0.0.0
  [server.directories.data]=/data
)
for name in "${!NEO4J_@}"; do
  case $name in NEO4J_AUTH | NEO4J_HOME | NEO4J_CONF) continue ;; esac
  key=${name#NEO4J_}
  key=${key//__/%}
  key=${key//_/.}
  settings[${key//%/_}]=${!name}
done
if [ "${NEO4J_AUTH:-}" = none ]; then
  settings[dbms.security.auth_enabled]=false
fi
for key in "${!settings[@]}"; do
  printf '%s=%s\n' "$key" "${settings[$key]}"
done >"$NEO4J_CONF/neo4j.conf"

if [ "${1:-}" != neo4j ]; then
  exec "$@"
fi

if [ ! -e /data/databases ] && [ "${NEO4J_AUTH:-none}" != none ]; then
  # An argument file keeps the password out of the process list; Java unescapes it.
  first=$(mktemp)
  password=${NEO4J_AUTH#neo4j/}
  password=${password//\\/\\\\}
  printf '%s "%s"' 'org.neo4j.cli.AdminTool dbms set-initial-password --' \
    "${password//\"/\\\"}" >"$first"
  java @/opt/neo4j/java.args "@$first"
  rm "$first"
fi

unset NEO4J_AUTH
exec java @/opt/neo4j/java.args -Xmx"${settings[server.memory.heap.max_size]:-512m}" \
  org.neo4j.server.Neo4jCommunity \
  --home-dir="$NEO4J_HOME" --config-dir="$NEO4J_CONF" --console-mode
