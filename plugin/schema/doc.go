// Package schema checks arguments and results of tools against JSON Schemas.
//
// A [Validator] compiles one schema when it is first used and checks values with it.
// The errors of package schema list every violation in a sentence that an agent can act
// on.
//
// The schemas come from plugin packages, so the package does not trust them.
// [Clean] removes hidden characters and cuts long texts. [RelaxDefaults] makes
// properties with a default optional. Schemas cannot load files or URLs, and slow
// patterns run under a time limit.
//
// # Concurrency
//
// A Validator is safe for concurrent use. A Validator compiles its schema once, guarded
// by a sync.Once. The counters of slow patterns are atomic. There are no other locks.
package schema
