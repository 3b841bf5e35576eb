<?php

// One request to the Messages API and its reply, tried again where that can help and there is time.

declare(strict_types=1);

final class MessagesApi
{
    private const RETRIES = 2;
    private const RETRYABLE = [408, 409, 429];

    public function __construct(private string $baseUrl, private string $apiKey)
    {
    }

    /**
     * The reply, or null where the turn is to stop, which is asked many times a second. Throws where there is none.
     */
    public function ask(array $body, Bounds $bounds): ?object
    {
        for ($attempt = 0; ; $attempt++) {
            [$reply, $problem, $again, $wait] = $this->once($body, $attempt, $bounds);
            if ($reply) {
                return $reply;
            }
            $wait ??= 0.5 * 2 ** $attempt;
            if (!$bounds->stop() && (!$again || $attempt === self::RETRIES || $wait >= $bounds->left())) {
                throw new RuntimeException($problem);
            }
            for ($until = microtime(true) + $wait; microtime(true) < $until && !$bounds->stop();) {
                usleep(20_000);
            }
            if ($bounds->stop()) {
                return null;
            }
        }
    }

    private function once(array $body, int $attempt, Bounds $bounds): array
    {
        $headers = [];
        $curl = curl_init("{$this->baseUrl}/v1/messages");
        curl_setopt_array($curl, [
            CURLOPT_POSTFIELDS => Json::encode($body),
            CURLOPT_HTTPHEADER => [
                'content-type: application/json', "x-api-key: {$this->apiKey}", 'anthropic-version: 2023-06-01',
                'anthropic-beta: mcp-client-2025-11-20', "x-stainless-retry-count: $attempt", 'expect:',
            ],
            CURLOPT_RETURNTRANSFER => true,
            CURLOPT_TIMEOUT_MS => max(1, (int) (1000 * $bounds->left())),
            CURLOPT_NOPROGRESS => false,
            CURLOPT_PROGRESSFUNCTION => fn () => (int) $bounds->stop(),
            CURLOPT_HEADERFUNCTION => function ($curl, string $line) use (&$headers): int {
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $headers[strtolower($name)] = trim($value);
                return strlen($line);
            },
        ]);
        $text = curl_exec($curl);
        $status = curl_getinfo($curl, CURLINFO_RESPONSE_CODE);
        if ($text === false) {
            return [null, curl_error($curl), true, null];
        }
        if ($status !== 200) {
            $advice = $headers['x-should-retry'] ?? null;
            $again = $advice ? $advice === 'true' : $status >= 500 || in_array($status, self::RETRYABLE, true);
            $after = $headers['retry-after-ms'] ?? 1000 * (float) ($headers['retry-after'] ?? 0);
            return [null, "$status $text", $again, $after > 0 ? $after / 1000 : null];
        }
        $reply = Json::decode($text);
        return ($reply->type ?? '') === 'message' ? [$reply, '', false, null] : [null, 'no message came', true, null];
    }
}
