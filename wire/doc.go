// Package wire defines the protocol between the server (the opentabs daemon)
// and the browser extension: each frame that crosses their WebSocket, as Go
// structs. The TypeScript types, wire.gen.ts, are generated from this package.
// Both languages test against the golden frames in testdata/frames.
//
// A frame is one JSON-RPC 2.0 message in one WebSocket text message. Begin with
// [Parse], which splits a frame into an [Envelope] without decoding its body,
// and with [AppendRequest], [AppendNotification], [AppendResult] and
// [AppendError], which encode a frame around a body that is already JSON.
//
// To change the protocol: edit the Go types, run make gen, fix what tsc and go
// test report, and add or change a golden frame. Raise [Version] if an older
// peer would misread the new frames.
//
// # Concurrency
//
// The package has no state. All functions are safe for concurrent use.
package wire

//go:generate go run ../internal/genwire -in . -out wire.gen.ts
