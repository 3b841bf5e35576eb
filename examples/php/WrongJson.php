<?php

declare(strict_types=1);

// The wrong twin of `Json`, as it is often written: with arrays for objects, an empty object comes back as a list.
final class Json
{
    public static function decode(string $text): mixed
    {
        return self::object(json_decode($text, true, 512, JSON_THROW_ON_ERROR));
    }

    public static function encode(mixed $value): string
    {
        return json_encode($value, JSON_THROW_ON_ERROR);
    }

    private static function object(mixed $value): mixed
    {
        if (!is_array($value)) {
            return $value;
        }
        $mapped = array_map(self::object(...), $value);
        return array_is_list($value) ? $mapped : (object) $mapped;
    }
}
