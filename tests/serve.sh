# Starts servers for the scripts that test them from outside, which source this. They have a function
# `die`, a folder in `work`, and call `stop_servers` when they end.
start_limit=30 # seconds
server_pids=()

# start NAME BINARY: starts a server, whose output is in $work/NAME.log, and sets `url` to where it
# listens.
start() {
  local name=$1 server=$2 pid i
  [[ -x $server ]] || die "$server is not an executable file"
  : >"$work/$name.log" # the first look may come before the server has opened it
  "$server" --http 127.0.0.1:0 </dev/null >"$work/$name.log" 2>&1 &
  pid=$!
  server_pids+=("$pid")
  url=
  for ((i = 0; i < start_limit * 10; i++)); do
    url=$(sed -n 's#.*listening on \(http://[^ ]*/mcp\)$#\1#p' "$work/$name.log" | head -n 1)
    [[ -z $url ]] || return 0
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/$name.log" >&2
  die "$name did not say within $start_limit s where it listens"
}

stop_servers() {
  local pid
  for pid in ${server_pids[@]+"${server_pids[@]}"}; do
    # A test server has nothing to save, so it need not be asked first.
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
}
