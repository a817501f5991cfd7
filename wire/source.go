package wire

import "embed"

// Source has the TypeScript files of package wire, which opentabs bundles into the
// extension.
//
//go:embed wire.gen.ts frame.ts
var Source embed.FS
