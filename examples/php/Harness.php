<?php

// What an adapter needs of loop-harness: hooks are requests to it, and the cache of a job is its store.

declare(strict_types=1);

use Illuminate\Cache\ArrayStore;

final class Harness
{
    private CurlHandle $curl;

    public function __construct(private string $url)
    {
        $this->curl = curl_init();
    }

    public function ask(string $method, string $path, mixed $value = null): mixed
    {
        curl_setopt_array($this->curl, [
            CURLOPT_URL => $this->url . $path,
            CURLOPT_CUSTOMREQUEST => $method,
            CURLOPT_POSTFIELDS => $value === null ? '' : Json::encode($value),
            CURLOPT_RETURNTRANSFER => true,
        ]);
        $text = curl_exec($this->curl);
        $status = curl_getinfo($this->curl, CURLINFO_RESPONSE_CODE);
        if ($status === 404) {
            return null;
        }
        return $status === 200 ? Json::decode($text) : throw new RuntimeException((string) $text);
    }

    public function report(Throwable|string $problem): mixed
    {
        return $this->ask('POST', '/report', is_string($problem)
            ? ['problem' => $problem]
            : ['problem' => $problem->getMessage(), 'exception' => $problem::class]);
    }
}

/** A cache that outlives the process. */
final class HarnessStore extends ArrayStore
{
    public function __construct(private Harness $harness)
    {
        parent::__construct();
    }

    public function get($key)
    {
        return $this->harness->ask('GET', '/store/' . rawurlencode($key));
    }

    public function put($key, $value, $seconds)
    {
        // What a page polls is what the user sees.
        str_ends_with($key, ':state')
            ? $this->harness->ask('POST', '/publish', $value)
            : $this->harness->ask('PUT', '/store/' . rawurlencode($key), $value);
        return true;
    }

    public function forever($key, $value)
    {
        return $this->put($key, $value, 0);
    }

    public function forget($key)
    {
        $this->harness->ask('DELETE', '/store/' . rawurlencode($key));
        return true;
    }
}
