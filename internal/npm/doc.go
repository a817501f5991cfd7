// Package npm downloads packages from npm registries without running npm. Package npm
// reads npm's settings (.npmrc files and environment variables), queries the registry,
// verifies the download and unpacks it. Package npm never runs a script of a package
// and never fetches a dependency.
//
// Begin with [LoadConfig] and [New]:
//
//	config, err := npm.LoadConfig(npm.Environment{Getenv: os.Getenv, Environ: os.Environ, Home: home, Dir: "."})
//	client := npm.New(config, npm.Options{})
//	pkg, err := client.Package(ctx, "opentabs-plugin-slack")
//	version, err := pkg.ChooseVersion("^1.2.0")
//	file, err := client.Download(ctx, version, dir)
//	err = npm.Unpack(file, target)
//
// # Trust
//
// A download is accepted only if it matches the sha512 integrity hash from the
// registry's metadata. The size of every response is limited. A password or token
// is sent only to the address that the setting names, never to another host, even
// if the registry redirects there.
//
// # Concurrency
//
// A Config never changes after it is loaded. A Client may be used from any
// goroutine. Two concurrent calls of [Unpack] may not have the same target.
package npm
