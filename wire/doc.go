// Package wire is the contract between the server and the browser extension:
// every frame that crosses the WebSocket, as Go structs. The TypeScript view,
// wire.gen.ts, is generated from this package; golden frames in
// testdata/frames are read by both sides.
//
// A frame is one JSON-RPC 2.0 message in one WebSocket text message. Start
// with [Parse], which splits a frame into an [Envelope] without decoding its
// body, and with [AppendRequest], [AppendNotification], [AppendResult] and
// [AppendError], which build frames without re-encoding a body that is JSON
// already.
//
// To change the wire: edit the Go types, run make gen, fix what tsc and go
// test show, add or change a golden frame, and raise [Version] if an old peer
// would misread the new frames.
//
// # Concurrency
//
// The package holds no state; everything in it may be used from any goroutine.
package wire

//go:generate go run ../internal/genwire -in . -out wire.gen.ts
