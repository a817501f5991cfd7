// Package schema checks arguments and results of tools against JSON Schemas.
//
// A [Validator] compiles one schema at the first use and checks values with the
// compiled schema. The errors of package schema list every violation in a sentence that
// an agent can act on. An acceptor first checks the JSON text without decoding it. The
// library jsonschema checks the values that the acceptor does not accept.
//
// Package schema does not trust the schemas, because they come from plugin packages.
// [Clean] removes hidden characters and cuts long texts. [RelaxDefaults] makes
// properties with a default optional. Schemas cannot load files or URLs, and slow
// patterns run under a time limit.
//
// # Concurrency
//
// A Validator is safe for concurrent use. A Validator compiles its schema once, guarded
// by a sync.Once in the Validator. The counters of slow patterns are atomic. Package
// schema has no mutex.
package schema
