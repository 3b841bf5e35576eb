<?php

// A queue job that plays one turn of an agent whose tools the provider runs. It keeps its state in the cache, where a
// page polls it, and goes on from there when it is run again.

declare(strict_types=1);

use Illuminate\Contracts\Cache\Repository as Cache;

final class AgentJob
{
    private Turn $turn;
    private Page $page;
    private Bounds $bounds;

    public function __construct(private string $conversation, private array $request, array $history)
    {
        $this->turn = new Turn($history);
    }

    public function handle(Cache $cache, MessagesApi $api, Owner $owner): array
    {
        $this->page = new Page($cache, $this->conversation);
        $this->bounds = new Bounds($this->page);
        $this->turn->resume($this->page->checkpoint());
        try {
            do {
                $end = $this->step($api, $owner);
            } while (!$end);
            $end = $this->bounds->cancelled() ? ['cancelled', ''] : $end;
        } catch (Throwable $problem) {
            $end = ['failed', "The answer could not be completed: {$problem->getMessage()}"];
        }
        return $this->land($owner, ...$end);
    }

    /** One request, and what follows from its reply: how the turn ends, or null. */
    private function step(MessagesApi $api, Owner $owner): ?array
    {
        [$turn, $bounds] = [$this->turn, $this->bounds];
        if (!$turn->reply) {
            if ($end = $bounds->mustStop($turn->requests)) {
                return $end;
            }
            $owner->attempt(fn () => $this->page->publish($turn, 'Thinking'));
            $owner->attempt(fn () => $this->page->keep($turn));
            $reply = $api->ask($this->request + $turn->body(), $bounds);
            if (!$reply) {
                return $bounds->mustStop($turn->requests) ?? ['capped', 'Stopped: the time is up.'];
            }
            $turn->receive($reply);
            $owner->attempt(fn () => $this->page->keep($turn));
        }
        return $turn->take();
    }

    /** The one way out: each of these is done, whatever becomes of the others. */
    private function land(Owner $owner, string $status, string $note): array
    {
        $turn = $this->turn;
        $turn->messages = Blocks::settled($turn->messages);
        $turn->show($note, $status !== 'refused');
        $owner->attempt(fn () => $note && $status !== 'refused' && $owner->report($note));
        $owner->attempt(fn () => $owner->meter(['iterations' => $turn->requests] + $turn->usage));
        $owner->attempt(fn () => $this->page->drop());
        $owner->attempt(fn () => $this->page->uncancel());
        $owner->attempt(fn () => $this->page->publish($turn, '', $status === 'cancelled', true));
        return ['status' => $status, 'shown' => $turn->shown, 'history' => $turn->messages, 'usage' => $turn->usage];
    }
}
