// Package policy decides which plugins and tools may run.
//
// [Policy] stores what the user allows agents to do: reviews, permissions, limits and
// grants, in permissions.json. [Enforcer] applies a Policy to calls with the gates and
// hooks of a dispatcher: review, calling plugin, permission, limit and secret settings.
//
// # Concurrency
//
// Policy and Enforcer are safe for concurrent use. Each part of their state is a type
// with its own lock: the file and its listeners ([opentabs/internal/statedoc.Watched]),
// grants in memory (memoryGrants.mu), refused calls between plugins (refusedCalls.mu)
// and counters of calls (callMeters.mu). No two of these locks are held at the same
// time.
package policy
