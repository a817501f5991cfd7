// Package schema checks arguments and results of tools against JSON Schemas.
//
// A [Validator] compiles one schema at its first use and checks values with the compiled schema. Errors list every
// violation in a sentence that an agent can act on. A faster check precedes the check by the jsonschema library, and
// does not decode the JSON text.
//
// Schemas come from plugin packages, so package schema does not trust them. [Clean] removes hidden characters and cuts
// long texts. [RelaxDefaults] makes properties with a default optional. A schema cannot load files or URLs, and the
// matching of a slow pattern is stopped at a time limit.
//
// # Concurrency
//
// A Validator is safe for concurrent use. Each Validator compiles its schema in a sync.Once. The timeout counters of a
// Validator's patterns are atomic. Package schema uses no mutex.
package schema
