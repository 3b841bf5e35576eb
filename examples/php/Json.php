<?php

declare(strict_types=1);

// JSON that goes out as it came in: objects stay objects, and integers beyond 2^63 keep their digits.
final class Json
{
    private const FLAGS = JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_PRESERVE_ZERO_FRACTION;

    public static function decode(string $text): mixed
    {
        $kept = preg_replace('/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*F)|(?<![\d.])-?\d{19,}(?![\d.eE])/', '"\\u0000$0"', $text);
        return json_decode($kept ?? $text, false, 512, JSON_THROW_ON_ERROR);
    }

    public static function encode(mixed $value): string
    {
        return preg_replace('/"\\\\u0000(-?\d+)"/', '$1', json_encode($value, self::FLAGS));
    }
}
