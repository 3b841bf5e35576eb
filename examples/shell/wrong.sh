#!/bin/sh
# The wrong twin of `agent.sh`, as it is often written: what came is the answer, whatever the reply stopped for.
set -u
turn=$(cat)
printf '%s' "$turn" | jq '{model, max_tokens, system, messages}' |
    curl -sS "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" \
        -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' -d @- |
    jq -c '{outcome: {status: "completed", shown: [.content[].text // empty]}}'
