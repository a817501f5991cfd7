// Package shape converts a call to the form that each surface shows. [dispatch.View] is
// the complete description of a call. Each surface shows some fields of a View:
//
//   - The HTTP API, events, resources, --json and the terminal use [dispatch.View]; a list
//     is a [List].
//   - The side panel gets a [wire.CallView], made by [PanelCalls].
//   - Agents get a [Job] for a call that outlives its request, made by [JobForAgent].
//   - A record of the audit has an [AuditedCall], made by [CallForAudit].
//
// Only package shape copies the fields of a call. testdata/fields.txt lists each field
// with the projections that contain the field. A test compares fields.txt with the
// code.
//
// Package shape has no state, so its functions may run in any goroutine.
package shape
