#!/bin/sh
# An agent's turn with nothing but curl and jq. What the turn knows is in the file `state`:
#     loop-harness run --command 'sh examples/shell/agent.sh'
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/http.sh"
work=$(mktemp -d)
cd "$work" || exit 1
stopped='' busy=''
trap 'rm -rf "$work"' EXIT
trap 'stopped=1; [ -z "$busy" ] || kill "$busy" 2>/dev/null' INT TERM USR1

with() { jq -L "$here" "$@"; }
use='include "blocks"; include "reply"; include "turn";'
# Changes the turn by a jq expression, in which `$it` is the text of a file.
turn() { with -c "$use $1" state >next && mv next state; }
from() { with -c --rawfile it "$1" "$use $2" state >next && mv next state; }
over() { ! grep -q '^{"again":[a-z]*,"over":null' state; }
must_stop() {
    if [ "$stopped" ] || curl -sS "$HARNESS_URL/cancelled" | grep -q true; then turn 'ends("cancelled"; "")'; else turn must_stop; fi
    over
}

# One request, tried again where that can help and there is time: its reply is dealt with, or the turn is over.
ask() {
    for attempt in 0 1 2; do
        with -r '([.until - now, 0.001] | max), (.request | tojson)' state >asked
        { read -r seconds; plain >body; } <asked
        post "$ANTHROPIC_BASE_URL/v1/messages" reply "$seconds" -H "x-api-key: $ANTHROPIC_API_KEY" \
            -H 'anthropic-version: 2023-06-01' -H "x-stainless-retry-count: $attempt"
        from reply 'received($it)'
        grep -q '^{"again":false' state && return
        must_stop && return
        pause=$(with -rR --slurp --argjson attempt "$attempt" --argjson status "$(sed 's/^0*//; s/^$/0/' status)" \
            --slurpfile state state "$use pause(\$attempt; \$status; \$state[0].until - now)" head)
        [ "$pause" ] || break
        watched sleep "$pause"
        must_stop && return
    done
    cat reply problem >said
    from said 'ends("failed"; "The answer could not be completed: \($it)")'
}

answer_call() { # which of them
    must_stop
    with -r "[.request.tools[].name] as \$known | .calls[$1] | .name, (\$known - [.name] != \$known), (.input | tojson)" state >call
    { read -r name; read -r known; plain >body; } <call
    if [ "$known" = false ]; then echo "There is no tool $name." >said
    elif over; then echo "$name was not run: the turn ended first." >said
    elif post "$HARNESS_URL/tools/$name" said "$(with '[.until - now, 0.001] | max' state)" && [ "$(cat status)" = 200 ]; then
        from said "answered($1; \$it | read)" && return
    else cat problem >>said; fi
    from said "answered($1; {content: \$it, is_error: true})"
}

with -Rs "$use read" >told
with -c "$use begin" told >state
{ curl -sS "$HARNESS_URL/cancelled?wait=60" | grep -q true && kill -s USR1 "$$"; } 2>/dev/null &
until must_stop; do
    ask
    for i in $(with '.calls | keys[]' state); do answer_call "$i"; done
done
with .over.note state | grep -q '""' || with '{problem: .over.note}' state | hook POST /report
with '{iterations} + .usage' state | hook POST /usage
hook DELETE "/store/$(with -r .cancel_key told)" </dev/null
with -c "$use outcome" state | plain | hook POST /outcome
wait
