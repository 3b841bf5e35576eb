<?php

// Plays one turn of the job for loop-harness, which starts this file anew for each:
//     loop-harness run --command 'php examples/php/conformance.php'
// The job is the one of production, with its own limits and cache keys; they are declared, not set.

declare(strict_types=1);

use Illuminate\Cache\Repository;

error_reporting(E_ALL & ~E_DEPRECATED);
// Of a Laravel project, this is its vendor/autoload.php.
$installed = getenv('ILLUMINATE') ?: '/usr/share/php/Illuminate/Cache/autoload.php';
require_once is_file($installed) ? $installed : __DIR__ . '/illuminate.php';
$classes = ['MessagesApi', 'Blocks', 'Decision', 'Turn', 'Page', 'Bounds', 'Owner', 'AgentJob', 'Harness'];
foreach ([$argv[1] ?? 'Json', ...$classes] as $class) {
    require __DIR__ . "/$class.php";
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
    new Owner($harness->report(...), fn (array $totals) => $harness->ask('POST', '/usage', $totals)),
);
echo Json::encode(compact('outcome')), "\n";
