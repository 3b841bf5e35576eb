<?php

// What one turn knows: its messages, what was shown, what was used. The stop reason of a reply decides how it goes on.

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
    private array $history;

    public function __construct(public array $messages, private float $until)
    {
        $this->history = $messages;
    }

    public function left(): float
    {
        return $this->until - microtime(true);
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

    public function count(object $used): void
    {
        $this->requests++;
        foreach (self::TOKENS as $name) {
            $this->usage[$name] = ($this->usage[$name] ?? 0) + ($used->$name ?? 0);
        }
    }

    /** Deals with the reply: how the turn ends, or null to ask again. */
    public function take(): ?array
    {
        [$reply, $this->reply] = [$this->reply, null];
        $this->container = $reply->container->id ?? $this->container;
        // The API sends blank text, and does not take it back.
        $said = array_values(array_filter($reply->content, fn ($block) => trim($block->text ?? 'x') !== ''));
        $reason = $reply->stop_reason;
        if ($reason === 'refusal') {
            array_splice($this->messages, count($this->history) - 1);
            return ['refused', 'The model declined to answer this request.'];
        }
        $this->show($said);
        $goesOn = in_array($reason, ['pause_turn', 'compaction'], true);
        $cut = in_array($reason, ['max_tokens', 'model_context_window_exceeded'], true);
        $kept = $cut ? array_values(array_filter($said, fn ($block) => $block->type !== 'tool_use')) : $said;
        $thought = !array_filter($kept, fn ($block) => !str_ends_with($block->type, 'thinking'));
        if ($kept && ($goesOn || !$thought)) {
            $this->messages[] = ['role' => 'assistant', 'content' => $kept];
        }
        return match (true) {
            $goesOn => null,
            $cut => ['truncated', 'The answer is incomplete: the model reached a limit.'],
            $reason === 'tool_use' => ['failed', 'The model called a tool, and there is none.'],
            !in_array($reason, ['end_turn', 'stop_sequence'], true) => ['failed', "Unknown stop reason: $reason."],
            $thought && $kept && !$this->shown => ['failed', 'The model thought, and said nothing.'],
            default => ['completed', ''],
        };
    }

    /** Ends with a note, and leaves a history that the API takes back: without calls that nobody will answer. */
    public function settle(string $note, bool $isError): void
    {
        $blocks = array_merge(...array_map(fn ($message) => $this->blocks($message), $this->messages));
        $done = array_flip(array_filter(array_map(fn ($block) => $block->tool_use_id ?? null, $blocks)));
        $stands = fn ($block) => !str_ends_with($block->type, 'tool_use') || isset($done[$block->id]);
        $speaks = fn ($block) => !str_ends_with($block->type, 'thinking');
        $messages = [];
        foreach ($this->messages as $message) {
            $message = (array) $message;
            if ($message['role'] === 'assistant') {
                $message['content'] = array_values(array_filter($this->blocks($message), $stands));
                if (!array_filter($message['content'], $speaks)) {
                    continue;
                }
            }
            $messages[] = $message;
        }
        $this->messages = $messages;
        if ($note) {
            $this->shown[] = ['role' => 'assistant', 'content' => $note, 'is_error' => $isError];
        }
    }

    /** What the page shows. */
    public function state(): array
    {
        $prompt = ['role' => 'user', 'content' => ((array) end($this->history))['content'], 'is_error' => false];
        $errors = array_filter($this->shown, fn ($message) => ((array) $message)['is_error']);
        return ['messages' => [$prompt, ...$this->shown], 'has_error' => (bool) $errors];
    }

    /** Neighbouring texts are one, cut where citations begin and end. */
    private function show(array $content): void
    {
        $joined = implode('', array_map(fn ($block) => $block->type === 'text' ? $block->text : "\0", $content));
        $text = implode("\n\n", array_filter(explode("\0", $joined), fn ($part) => trim($part) !== ''));
        if ($text !== '') {
            $this->shown[] = ['role' => 'assistant', 'content' => $text, 'is_error' => false];
        }
    }

    private function blocks(mixed $message): array
    {
        $content = ((array) $message)['content'];
        return is_array($content) ? $content : [(object) ['type' => 'text', 'text' => $content]];
    }
}
