package wire

import "embed"

// Source holds the TypeScript view of this package, which the server bundles
// into the extension: wire.gen.ts and frame.ts.
//
//go:embed wire.gen.ts frame.ts
var Source embed.FS
