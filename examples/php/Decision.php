<?php

// What a reply means for the turn. The stop reason decides; what goes on stands above what ends.

declare(strict_types=1);

final class Decision
{
    /**
     * @param array       $said   blocks to keep
     * @param string      $text   what to show
     * @param string|null $status how the turn ends; null to ask again
     * @param bool        $forget the messages of the turn are dropped
     */
    private function __construct(
        public readonly array $said,
        public readonly string $text,
        public readonly ?string $status = null,
        public readonly string $note = '',
        public readonly bool $forget = false,
    ) {
    }

    /** `$spoke`: whether the turn has shown anything before this reply. */
    public static function of(object $reply, bool $spoke): self
    {
        $said = Blocks::takenBack($reply->content);
        $reason = $reply->stop_reason;
        $silent = $said && Blocks::isThoughtAlone($said) && !$spoke;
        return match ($reason) {
            'pause_turn', 'compaction' => new self($said, Blocks::text($said)),
            'refusal' => new self([], '', 'refused', 'The model declined to answer this request.', forget: true),
            'max_tokens', 'model_context_window_exceeded' =>
                self::last(Blocks::withoutCalls($said), 'truncated', 'The answer is incomplete: the model reached a limit.'),
            'tool_use' => self::last($said, 'failed', 'The model called a tool, and there is none.'),
            'end_turn', 'stop_sequence' => $silent
                ? self::last($said, 'failed', 'The model thought, and said nothing.')
                : self::last($said, 'completed'),
            default => self::last($said, 'failed', "Unknown stop reason: $reason."),
        };
    }

    /** The last reply of a turn. The API does not take thinking alone as a last message. */
    private static function last(array $said, string $status, string $note = ''): self
    {
        return new self(Blocks::isThoughtAlone($said) ? [] : $said, Blocks::text($said), $status, $note);
    }
}
