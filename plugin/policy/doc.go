// Package policy decides which plugins are allowed to run, and which of their tools can be
// called.
//
// [Policy] stores the user's reviews, permissions, limits and grants in permissions.json.
// [Enforcer] applies a Policy to calls. For each call, gates and hooks of the Enforcer
// check the review, the calling plugin, the permission, the limit and the secret
// settings.
//
// # Concurrency
//
// Policy and Enforcer are safe for concurrent use. A lock in
// [opentabs/internal/statedoc.Watched] guards permissions.json and the listeners.
// memoryGrants.mu guards the grants in memory. refusedCalls.mu guards the record of refused
// calls. callCounters.mu guards the counters of calls. A goroutine holds at most one lock of
// package policy at a time.
package policy
