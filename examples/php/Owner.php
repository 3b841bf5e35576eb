<?php

// Whom the job tells about problems and about what it used.

declare(strict_types=1);

final class Owner
{
    /** @param callable(Throwable|string): mixed $report  @param callable(array): mixed $meter */
    public function __construct(private $report, private $meter)
    {
    }

    public function report(Throwable|string $problem): void
    {
        ($this->report)($problem);
    }

    public function meter(array $totals): void
    {
        ($this->meter)($totals);
    }

    /** Does what must not bring down the turn; a failure of it is reported. */
    public function attempt(callable $step): void
    {
        try {
            $step();
        } catch (Throwable $problem) {
            try {
                $this->report($problem);
            } catch (Throwable) {
            }
        }
    }
}
