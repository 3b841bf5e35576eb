// One request to the Messages API and its reply, tried again where that can help and there is time.
import { setTimeout as sleep } from "node:timers/promises";
import { dump, parse, streamed } from "./wire.mjs";

const RETRIES = 2;

// Resolves to { reply }, or { stop } where `mustStop` says so between two attempts. Throws where there is none.
export async function ask({ baseURL, apiKey }, body, { signal, left, mustStop, count }) {
  for (let attempt = 0; ; attempt++) {
    const failure = await attemptOnce(`${baseURL}/v1/messages`, apiKey, body, signal, attempt);
    count(failure.usage ?? {});
    if (failure.reply) return failure;
    const wait = failure.wait ?? 500 * 2 ** attempt;
    if (!signal.aborted) {
      if (!failure.again || attempt === RETRIES || wait >= left()) throw new Error(failure.text);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
    const stop = await mustStop();
    if (stop) return { stop };
  }
}

async function attemptOnce(url, apiKey, body, signal, attempt) {
  const headers = {
    "x-api-key": apiKey,
    "anthropic-version": "2023-06-01",
    "content-type": "application/json",
    "x-stainless-retry-count": String(attempt),
  };
  try {
    const response = await fetch(url, { method: "POST", headers, body: dump(body), signal });
    if (!response.ok) return await refused(response);
    const reply = body.stream ? await streamed(response.body) : parse(await response.text());
    if (reply?.type !== "message") throw new Error("the reply is not a message");
    return { reply, usage: reply.usage };
  } catch (error) {
    return { again: true, text: error.cause?.message ?? error.message, usage: error.usage };
  }
}

async function refused(response) {
  const { status, headers } = response;
  const advice = headers.get("x-should-retry");
  const again = advice ? advice === "true" : [408, 409, 429].includes(status) || status >= 500;
  const after = headers.get("retry-after-ms") ?? 1000 * headers.get("retry-after");
  return { again, wait: Number(after) || undefined, text: `${status} ${await response.text()}` };
}
