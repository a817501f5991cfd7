// Package wire defines the protocol between the opentabs daemon and the browser extension. Each kind of frame on the
// WebSocket between daemon and extension has a Go struct. The TypeScript types in wire.gen.ts are generated from the Go
// structs of package wire.
//
// A frame is one JSON-RPC 2.0 message in one WebSocket text message. Only package wire and the generated TypeScript
// contain the JSON names of a frame's fields:
//
//   - To read a frame, call [Parse], which returns an [Envelope] with the body still
//     undecoded. Then call [DecodeBody] with a pointer to the params or result type.
//   - To write a frame, call [AppendRequest], [AppendNotification], [AppendResult] or
//     [AppendError], with a body that [EncodeBody] returned.
//   - For frequent and large frames, call [AppendDispatch], [AppendAnswer],
//     [DecodeProgress], [DecodeResultPart] and [DecodeDispatchResult]. The functions for large frames
//     copy tool arguments, results and texts as JSON, without parsing the JSON.
//
// To change the protocol: edit the Go types, run make gen, fix the errors of tsc and go test, and add or change an
// example frame. Raise [Version] if an older peer would misread the changed frames.
//
// # Concurrency
//
// Package wire has no global state, so its functions are safe for concurrent use.
package wire

//go:generate go run ../internal/genwire -in . -out wire.gen.ts
