<?php

// The blocks of a message: which of them go back to the API, and what a user reads of them.

declare(strict_types=1);

final class Blocks
{
    public static function of(mixed $message): array
    {
        $content = ((array) $message)['content'];
        return is_array($content) ? $content : [(object) ['type' => 'text', 'text' => $content]];
    }

    /** The API sends blank text, and does not take it back. */
    public static function takenBack(array $content): array
    {
        return array_values(array_filter($content, fn ($block) => trim($block->text ?? 'x') !== ''));
    }

    public static function withoutCalls(array $content): array
    {
        return array_values(array_filter($content, fn ($block) => $block->type !== 'tool_use'));
    }

    public static function isThoughtAlone(array $content): bool
    {
        return !array_filter($content, fn ($block) => !str_ends_with($block->type, 'thinking'));
    }

    /** Neighbouring texts are one, cut where citations begin and end. */
    public static function text(array $content): string
    {
        $joined = implode('', array_map(fn ($block) => $block->type === 'text' ? $block->text : "\0", $content));
        return implode("\n\n", array_filter(explode("\0", $joined), fn ($part) => trim($part) !== ''));
    }

    /** A history that the API takes back: without calls that nobody will answer. */
    public static function settled(array $messages): array
    {
        $blocks = array_merge(...array_map(self::of(...), $messages));
        $done = array_flip(array_filter(array_map(fn ($block) => $block->tool_use_id ?? null, $blocks)));
        $stands = fn ($block) => !str_ends_with($block->type, 'tool_use') || isset($done[$block->id]);
        $settled = [];
        foreach ($messages as $message) {
            $message = (array) $message;
            if ($message['role'] === 'assistant') {
                $message['content'] = array_values(array_filter(self::of($message), $stands));
                if (self::isThoughtAlone($message['content'])) {
                    continue;
                }
            }
            $settled[] = $message;
        }
        return $settled;
    }
}
