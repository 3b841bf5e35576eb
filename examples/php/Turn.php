<?php

// What one turn knows: its messages, what was shown, what was used.

declare(strict_types=1);

final class Turn
{
    private const TOKENS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];
    private const KEPT = ['messages', 'reply', 'container', 'requests', 'usage', 'shown'];

    public ?object $reply = null;
    public ?string $container = null;
    public int $requests = 0;
    public array $usage = [];
    public array $shown = [];
    public readonly array $history;

    public function __construct(public array $messages)
    {
        $this->history = $messages;
    }

    public function body(): array
    {
        return ['messages' => $this->messages] + ($this->container ? ['container' => $this->container] : []);
    }

    public function checkpoint(): array
    {
        return array_intersect_key(get_object_vars($this), array_flip(self::KEPT));
    }

    /** Goes on from a checkpoint, if it is one of this very turn. */
    public function resume(mixed $kept): void
    {
        $kept = (array) $kept;
        if (array_slice($kept['messages'] ?? [], 0, count($this->history)) == $this->history) {
            foreach (array_intersect_key($kept, array_flip(self::KEPT)) as $name => $value) {
                $this->$name = $name === 'usage' ? (array) $value : $value;
            }
        }
    }

    public function receive(object $reply): void
    {
        $this->reply = $reply;
        $this->requests++;
        foreach (self::TOKENS as $name) {
            $this->usage[$name] = ($this->usage[$name] ?? 0) + ($reply->usage->$name ?? 0);
        }
    }

    /** Deals with the reply: how the turn ends, or null to ask again. */
    public function take(): ?array
    {
        [$reply, $this->reply] = [$this->reply, null];
        $this->container = $reply->container->id ?? $this->container;
        $decision = Decision::of($reply, (bool) $this->shown);
        if ($decision->forget) {
            array_splice($this->messages, count($this->history) - 1);
        }
        if ($decision->said) {
            $this->messages[] = ['role' => 'assistant', 'content' => $decision->said];
        }
        $this->show($decision->text);
        return $decision->status ? [$decision->status, $decision->note] : null;
    }

    public function show(string $text, bool $isError = false): void
    {
        if ($text !== '') {
            $this->shown[] = ['role' => 'assistant', 'content' => $text, 'is_error' => $isError];
        }
    }
}
