# Requests that can be given up, and hooks. `busy` is the command that is waited for.

hook() { curl -sS -X "$1" "$HARNESS_URL$2" -H 'content-type: application/json' --data-binary @-; }
# What jq 1.6 would have rounded goes out as the number it is.
plain() { sed -E 's/"\\u0001(-?[0-9]+)"/\1/g'; }
# Runs a command until it ends or the turn is cancelled, which may come while it is being started.
watched() {
    [ -z "$stopped" ] || return 1
    "$@" &
    busy=$!
    [ -z "$stopped" ] || kill "$busy"
    wait "$busy"
    code=$?
    busy=''
    return "$code"
}
# Posts the file `body`; leaves the answer, its head and its status.
post() {
    url=$1 answer=$2 seconds=$3
    shift 3
    : >"$answer"
    : >head
    watched curl -sS "$url" -o "$answer" -D head -w '%{http_code}' -H 'content-type: application/json' -H expect: \
        --max-time "$seconds" --data-binary @body "$@" >status 2>problem
}
