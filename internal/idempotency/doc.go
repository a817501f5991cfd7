// Package idempotency makes calls with idempotency keys: a repeated call with the same key
// does not act again, and gets the ending of the first call.
//
// [ParseKey] checks the key of a request, and [Keys.Start] starts a call with a key or finds
// the earlier call. A key belongs to one client and one tool.
//
// A call that certainly did not run releases its key. A call that may have acted, but whose
// result is unknown, keeps its key until the page delivers the result or the key expires.
//
// The recorder stores the keys, so that they survive a restart and a crash: a key is on the
// disk before its call runs in a page. A call whose key cannot be written fails.
//
// # Concurrency
//
// A [Keys] is safe for concurrent use. Keys.mu may be locked while a job starts and while the
// recorder writes a note. No other lock is taken while Keys.mu is held except those of the
// jobs and of the recorder. A call without a key never waits for Keys.mu.
package idempotency
