<?php

// What the job and its adapter need of illuminate/cache, for where it is not installed.

declare(strict_types=1);

namespace Illuminate\Contracts\Cache {
    interface Repository
    {
        public function get($key, $default = null);
        public function has($key);
        public function put($key, $value, $ttl = null);
        public function forget($key);
    }
}

namespace Illuminate\Cache {
    class ArrayStore
    {
        public function __construct()
        {
        }
    }

    final class Repository implements \Illuminate\Contracts\Cache\Repository
    {
        public function __construct(private ArrayStore $store)
        {
        }

        public function get($key, $default = null)
        {
            return $this->store->get($key) ?? $default;
        }

        public function has($key)
        {
            return $this->store->get($key) !== null;
        }

        public function put($key, $value, $ttl = null)
        {
            return $this->store->put($key, $value, $ttl ?? 0);
        }

        public function forget($key)
        {
            return $this->store->forget($key);
        }
    }
}
