<?php

// A queue job that plays one turn of an agent whose tools the provider runs. It keeps its state in the cache, where a
// page polls it, and goes on from there when it is run again.

declare(strict_types=1);

use Illuminate\Contracts\Cache\Repository as Cache;

final class AgentJob
{
    private const MAX_REQUESTS = 8;
    private const MAX_SECONDS = 100;

    private Turn $turn;
    private bool $told = false;

    public function __construct(private string $conversation, private array $request, array $history)
    {
        $this->turn = new Turn($history, microtime(true) + self::MAX_SECONDS);
    }

    public function handle(Cache $cache, MessagesApi $api, callable $report, callable $meter): array
    {
        foreach ([SIGINT, SIGTERM] as $signal) {
            pcntl_signal($signal, fn () => $this->told = true);
        }
        $this->turn->resume($cache->get("agent:{$this->conversation}:checkpoint"));
        try {
            do {
                $end = $this->step($cache, $api, $report);
            } while (!$end);
            $end = $this->cancelled($cache) ? ['cancelled', ''] : $end;
        } catch (Throwable $problem) {
            $end = ['failed', "The answer could not be completed: {$problem->getMessage()}"];
        }
        return $this->land($cache, $report, $meter, ...$end);
    }

    private function step(Cache $cache, MessagesApi $api, callable $report): ?array
    {
        $turn = $this->turn;
        if (!$turn->reply) {
            $keep = fn () => $cache->put("agent:{$this->conversation}:checkpoint", $turn->checkpoint());
            $stop = fn (): bool => $this->cancelled($cache) || $turn->left() <= 0;
            if ($end = $this->mustStop($cache)) {
                return $end;
            }
            $this->attempt(fn () => $this->publish($cache, 'Thinking'), $report);
            $this->attempt($keep, $report);
            $turn->reply = $api->ask($this->request + $turn->body(), $turn->left(...), $stop);
            if (!$turn->reply) {
                return $this->mustStop($cache) ?? ['capped', 'Stopped: the time is up.'];
            }
            $turn->count($turn->reply->usage);
            $this->attempt($keep, $report);
        }
        return $turn->take();
    }

    /** The one way out: each of these is done, whatever becomes of the others. */
    private function land(Cache $cache, callable $report, callable $meter, string $status, string $note): array
    {
        $turn = $this->turn;
        $turn->settle($note, $status !== 'refused');
        $this->attempt(fn () => $note && $status !== 'refused' && $report($note), $report);
        $this->attempt(fn () => $meter(['iterations' => $turn->requests] + $turn->usage), $report);
        $this->attempt(fn () => $cache->forget("agent:{$this->conversation}:checkpoint"), $report);
        $this->attempt(fn () => $cache->forget("agent:{$this->conversation}:cancel"), $report);
        $this->attempt(fn () => $this->publish($cache, '', $status === 'cancelled', true), $report);
        return ['status' => $status, 'shown' => $turn->shown, 'history' => $turn->messages, 'usage' => $turn->usage];
    }

    /** Does what must not bring down the turn; a failure of it is reported. */
    private function attempt(callable $step, callable $report): void
    {
        try {
            $step();
        } catch (Throwable $problem) {
            try {
                $report($problem);
            } catch (Throwable) {
            }
        }
    }

    private function mustStop(Cache $cache): ?array
    {
        return match (true) {
            $this->cancelled($cache) => ['cancelled', ''],
            $this->turn->requests >= self::MAX_REQUESTS => ['capped', "Stopped after {$this->turn->requests} requests."],
            $this->turn->left() <= 0 => ['capped', 'Stopped: the time is up.'],
            default => null,
        };
    }

    private function cancelled(Cache $cache): bool
    {
        pcntl_signal_dispatch();
        return $this->told || $cache->has("agent:{$this->conversation}:cancel");
    }

    private function publish(Cache $cache, string $activity, bool $stopped = false, bool $done = false): void
    {
        $state = $this->turn->state() + ['activity' => $activity, 'stopped' => $stopped];
        $cache->put("agent:{$this->conversation}:state", compact('state', 'done') + ['history' => $this->turn->messages]);
    }
}
