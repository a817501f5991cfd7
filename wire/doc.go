// Package wire defines the protocol between the server (the opentabs daemon) and the
// browser extension: each frame that crosses their WebSocket, as Go structs. The
// TypeScript types in wire.gen.ts are generated from package wire. The Go tests and the
// TypeScript tests use the golden frames in testdata/frames.
//
// A frame is one JSON-RPC 2.0 message in one WebSocket text message. Only this package
// and the generated TypeScript contain the names of the fields of a frame:
//
//   - To read a frame, call [Parse], which splits the frame into an [Envelope]
//     without decoding its body. Then call [DecodeBody] with a pointer to the params or
//     result type.
//   - To write a frame, call [AppendRequest], [AppendNotification], [AppendResult] or
//     [AppendError], with a body of [EncodeBody].
//   - For frequent and large frames, call [AppendDispatch], [AppendAnswer],
//     [DecodeProgress], [DecodePart] and [DecodeDispatchResult]. These functions copy JSON text
//     instead of decoding and encoding it.
//
// To change the protocol: edit the Go types, run make gen, fix what tsc and go
// test report, and add or change a golden frame. Raise [Version] if an older
// peer would misread the new frames.
//
// # Concurrency
//
// Package wire has no state. All functions of package wire are safe for concurrent use.
package wire

//go:generate go run ../internal/genwire -in . -out wire.gen.ts
