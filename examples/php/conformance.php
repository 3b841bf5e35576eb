<?php

// Plays one turn of the job for loop-harness, which starts this file anew for each:
//     loop-harness run --command 'php examples/php/conformance.php'
// The job is the one of production, with its own limits and cache keys; they are declared, not set.

declare(strict_types=1);

use Illuminate\Cache\ArrayStore;
use Illuminate\Cache\Repository;

error_reporting(E_ALL & ~E_DEPRECATED);
// Of a Laravel project, this is its vendor/autoload.php.
$installed = getenv('ILLUMINATE') ?: '/usr/share/php/Illuminate/Cache/autoload.php';
require_once is_file($installed) ? $installed : __DIR__ . '/illuminate.php';
foreach ([$argv[1] ?? 'Json', 'MessagesApi', 'Turn', 'AgentJob'] as $class) {
    require __DIR__ . "/$class.php";
}

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
}

/** The cache of the job, kept by the harness, so that it outlives the process. */
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

$keys = ['checkpoint' => 'agent:*:checkpoint', 'cancel' => 'agent:*:cancel'];
$caps = ['iterations' => 8, 'wall_clock' => 100];
echo Json::encode(['hello' => ['declaration' => compact('keys', 'caps') + ['tools' => 'none']]]), "\n";

$told = Json::decode(stream_get_contents(STDIN));
$harness = new Harness($told->harness_url);
$server = ['type' => 'url', 'name' => 'archive', 'url' => 'https://mcp.example.com/archive'];
$request = ['model' => $told->model, 'max_tokens' => $told->max_tokens, 'system' => $told->system,
    'mcp_servers' => [$server], 'tools' => [['type' => 'mcp_toolset', 'mcp_server_name' => 'archive']]];
$outcome = (new AgentJob($told->conversation, $request, $told->messages))->handle(
    new Repository(new HarnessStore($harness)),
    new MessagesApi($told->base_url, $told->api_key),
    fn (Throwable|string $problem) => $harness->ask('POST', '/report', is_string($problem)
        ? ['problem' => $problem]
        : ['problem' => $problem->getMessage(), 'exception' => $problem::class]),
    fn (array $totals) => $harness->ask('POST', '/usage', $totals),
);
echo Json::encode(compact('outcome')), "\n";
