// Package npm downloads packages from npm registries without running npm. Package npm
// reads npm's settings (.npmrc files and environment variables), queries the registry,
// and verifies and unpacks the downloaded package. Package npm never runs the scripts of
// a package and never downloads dependencies.
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
// A downloaded file must match the sha512 integrity hash in the registry's metadata. The
// client limits the size of every HTTP response that it reads. A password or token is
// sent only to the address that the npm setting names, never to the target of a redirect
// on another host.
//
// # Concurrency
//
// A Config is immutable. A Client is safe for concurrent use. Two concurrent calls of
// [Unpack] must not have the same target.
package npm
