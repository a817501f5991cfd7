// Package policy decides which plugins and tools may run.
//
// [Policy] stores what the user allows agents to do: reviews, permissions, limits and
// grants, in permissions.json. [Enforcer] applies a Policy to calls with the gates and
// hooks of a dispatcher: review, calling plugin, permission, limit and secret settings.
//
// # Concurrency
//
// Policy and Enforcer are safe for concurrent use. Each part of the state of package
// policy is a type with its own lock: the file and its listeners
// ([opentabs/internal/statedoc.Watched]), grants in memory (memoryGrants.mu), refused
// calls between plugins (refusedCalls.mu) and counters of calls (callMeters.mu). A
// goroutine holds at most one lock of package policy at a time.
package policy
