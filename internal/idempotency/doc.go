// Package idempotency runs tool calls with idempotency keys, so that a client can retry a call safely. A repeated call
// with the same key does not run the tool again, and returns the result or error of the first call.
//
// An idempotency key belongs to one client and one tool.
//
// A call that certainly did not run releases its idempotency key. If it is possible that a call ran, but its result is
// unknown, the key stays in use until the result arrives or the key expires.
//
// The recorder writes each idempotency key to the disk before the call runs in a page, so keys survive a restart and a
// crash. If the recorder cannot write the idempotency key, the call fails.
//
// # Concurrency
//
// A [Keys] is safe for concurrent use. A goroutine that has locked Keys.mu may start a job, or write a note with
// the recorder. Calls without an idempotency key never lock Keys.mu.
package idempotency
