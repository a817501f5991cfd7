// Package shape converts a call to what each surface shows of it. There is one
// description of a call, [dispatch.View], and here are its projections:
//
//   - The HTTP API, events, resources, --json and the terminal use [dispatch.View]; a list
//     is a [List].
//   - The side panel gets a [wire.CallView], made by [CallForPanel].
//   - Agents get a [Job] for a call that outlives its request, made by [JobForAgent].
//   - A record of the audit has an [AuditedCall], made by [CallForAudit].
//
// No other code copies the fields of a call. testdata/fields.txt lists each field and the
// projections that contain it; a test keeps the list true.
//
// The package has no state. Its functions may run in any goroutine.
package shape
