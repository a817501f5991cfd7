// Package npm gets packages from npm registries without npm: it reads the same
// settings (.npmrc files and environment variables), asks the registry, checks
// what it sends, and unpacks it. No script of a package is ever run and no
// dependency is fetched.
//
// Begin with [LoadConfig] and [New]:
//
//	config, err := npm.LoadConfig(npm.Environment{Getenv: os.Getenv, Environ: os.Environ, Home: home, Dir: "."})
//	client := npm.New(config, npm.Options{})
//	pkg, err := client.Package(ctx, "opentabs-plugin-slack")
//	version, err := pkg.Pick("^1.2.0")
//	file, err := client.Download(ctx, version, dir)
//	err = npm.Unpack(file, target)
//
// # Trust
//
// What a registry sends is believed only as far as it fits the sha512 integrity
// that the registry tells of it, and its size is limited everywhere. A password
// or token goes to the address it was written down for, never to another host,
// also not when the registry sends the reader there.
//
// # Concurrency
//
// A Config never changes after it is loaded. A Client may be used from any
// goroutine. Two Unpacks may not have the same target.
package npm
