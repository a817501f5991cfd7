package wire

import "embed"

// Source contains the TypeScript files of the protocol, which opentabs bundles into the
// extension.
//
//go:embed wire.gen.ts frame.ts
var Source embed.FS
