// Package shape converts calls to the forms that surfaces show, such as the side panel. A [dispatch.View] describes a
// call completely. Each surface shows some fields of a View:
//
//   - The HTTP API, events, MCP resources, the flag --json and the terminal use
//     [dispatch.View], or a [List] of Views.
//   - The side panel receives a [wire.CallView], which [PanelCalls] builds.
//   - Agents receive a [Job] for a call that continues after its request was answered; see
//     [JobForAgent].
//   - The audit log contains an [AuditedCall], which [CallForAudit] builds.
//
// Only package shape converts a View to the form for a surface. The file testdata/fields.txt lists the fields of a View
// that each form contains, and a test compares the list with the code.
//
// Package shape has no global state, so its functions are safe for concurrent use.
package shape
