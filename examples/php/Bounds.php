<?php

// What ends a turn from without: somebody cancels it, a worker is told to go, or it has used up what it may.

declare(strict_types=1);

final class Bounds
{
    private const MAX_REQUESTS = 8;
    private const MAX_SECONDS = 100;

    private float $until;
    private bool $told = false;

    public function __construct(private Page $page)
    {
        $this->until = microtime(true) + self::MAX_SECONDS;
        foreach ([SIGINT, SIGTERM] as $signal) {
            pcntl_signal($signal, fn () => $this->told = true);
        }
    }

    public function left(): float
    {
        return $this->until - microtime(true);
    }

    public function cancelled(): bool
    {
        pcntl_signal_dispatch();
        return $this->told || $this->page->cancelled();
    }

    /** Whether to let go of what is being waited for. */
    public function stop(): bool
    {
        return $this->cancelled() || $this->left() <= 0;
    }

    /** How the turn is to end now, or null. */
    public function mustStop(int $requests): ?array
    {
        return match (true) {
            $this->cancelled() => ['cancelled', ''],
            $requests >= self::MAX_REQUESTS => ['capped', "Stopped after $requests requests."],
            $this->left() <= 0 => ['capped', 'Stopped: the time is up.'],
            default => null,
        };
    }
}
