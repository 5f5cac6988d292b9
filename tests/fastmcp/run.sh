#!/usr/bin/env bash
# Drives the example servers with FastMCP's Python client.
#
# usage: tests/fastmcp/run.sh DEPLOY_BINARY CONFORMANCE_BINARY
#
# Each server is started as `BINARY --http 127.0.0.1:0` and must print
# `listening on http://127.0.0.1:PORT/mcp`. Passes only if every check of drive.py does.
# The client is kept in $SIDING_FASTMCP_CACHE (default: ~/.cache/siding-fastmcp).
set -euo pipefail

usage="usage: tests/fastmcp/run.sh DEPLOY_BINARY CONFORMANCE_BINARY"
deploy=${1:?$usage}
conformance=${2:?$usage}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${SIDING_FASTMCP_CACHE:-$HOME/.cache/siding-fastmcp}
python=${PYTHON:-python3}
requirements=$here/requirements.txt

die() {
  echo "fastmcp: $*" >&2
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

tag=$("$python" -c 'import sys; print("py%d.%d" % sys.version_info[:2]); sys.exit(sys.version_info < (3, 10))') ||
  die "FastMCP needs Python 3.10 or later"
version=$(sed -n 's/^fastmcp==//p' "$requirements")

# One folder for each FastMCP version, Python version and list of requirements. It is moved into
# place when complete, so that it exists only as a whole; a virtual environment could not be moved.
installed=$cache/$version-$tag-$(cksum <"$requirements" | cut -d ' ' -f 1)
if [[ ! -d $installed ]]; then
  mkdir -p "$cache"
  installing=$(mktemp -d "$cache/installing.XXXXXX")
  echo "fastmcp: installing FastMCP $version"
  "$python" -m venv "$work/pip" || die "python3-venv is missing"
  "$work/pip/bin/python" -m pip install --quiet --disable-pip-version-check --no-input \
    --only-binary :all: --target "$installing" --requirement "$requirements" </dev/null ||
    die "pip could not install $requirements"
  mv "$installing" "$installed"
fi

start deploy "$deploy"
deploy_url=$url
start conformance "$conformance"
conformance_url=$url

# FastMCP reads settings from the environment and from `.env` in the folder where it runs.
cd "$work"
code=0
env -u PYTHONHOME NO_PROXY=127.0.0.1 PYTHONNOUSERSITE=1 PYTHONPATH="$installed" \
  "$python" "$here/drive.py" "$deploy_url" "$conformance_url" </dev/null || code=$?
if ((code != 0)); then
  for name in deploy conformance; do
    echo "--- the last lines of $name"
    tail -n 20 "$work/$name.log"
  done
  die "a check failed"
fi
echo "fastmcp: all checks passed"
