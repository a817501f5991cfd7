// Package policy decides which plugins and tools may run.
//
// [Policy] stores what the user allows agents to do: reviews, permissions, limits and
// grants, in permissions.json. [Enforcer] applies a Policy to calls with the gates and
// hooks of a dispatcher: review, calling plugin, permission, limit and secret settings.
//
// # Concurrency
//
// Policy and Enforcer are safe for concurrent use. Each part of the state of package
// policy has its own lock. The file and its listeners have the lock of
// [opentabs/internal/statedoc.Watched], and grants in memory memoryGrants.mu. Refused
// calls between plugins have refusedCalls.mu, and counters of calls callMeters.mu. A
// goroutine holds at most one lock of package policy at a time.
package policy
