<?php

// What the job keeps in the cache for one conversation: the state that a page polls, a checkpoint to go on from, and
// the flag by which somebody cancels.

declare(strict_types=1);

use Illuminate\Contracts\Cache\Repository as Cache;

final class Page
{
    public function __construct(private Cache $cache, private string $conversation)
    {
    }

    public function cancelled(): bool
    {
        return $this->cache->has($this->key('cancel'));
    }

    public function uncancel(): void
    {
        $this->cache->forget($this->key('cancel'));
    }

    public function checkpoint(): mixed
    {
        return $this->cache->get($this->key('checkpoint'));
    }

    public function keep(Turn $turn): void
    {
        $this->cache->put($this->key('checkpoint'), $turn->checkpoint());
    }

    public function drop(): void
    {
        $this->cache->forget($this->key('checkpoint'));
    }

    public function publish(Turn $turn, string $activity, bool $stopped = false, bool $done = false): void
    {
        $prompt = (array) $turn->history[array_key_last($turn->history)];
        $state = [
            'messages' => [['role' => 'user', 'content' => $prompt['content'], 'is_error' => false], ...$turn->shown],
            'has_error' => (bool) array_filter($turn->shown, fn ($message) => ((array) $message)['is_error']),
            'activity' => $activity,
            'stopped' => $stopped,
        ];
        $this->cache->put($this->key('state'), compact('state', 'done') + ['history' => $turn->messages]);
    }

    private function key(string $name): string
    {
        return "agent:{$this->conversation}:$name";
    }
}
