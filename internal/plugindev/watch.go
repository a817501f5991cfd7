package plugindev

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"opentabs/internal/author"
	"opentabs/internal/jsbuild"
	"opentabs/internal/terminal"
)

// ErrNoPlugin is the error of [Watch] for a directory without a plugin.
var ErrNoPlugin = errors.New("there is no plugin in the directory")

// Watch builds the plugin in dir, and again after each change, until ctx ends. Watch
// prints each build and its errors.
func Watch(ctx context.Context, dir string, out *terminal.Output) error {
	watch, err := author.NewWatcher(dir) // the watcher starts before the first build, to detect changes during that build
	if err != nil {
		return err
	}
	cache := &jsbuild.BuildCache{}
	defer cache.Close()
	build := func() error {
		built, err := jsbuild.BuildPlugin(ctx, dir, jsbuild.Options{Cache: cache})
		if err != nil {
			printBuildFailure(ctx, out, err)
			return err
		}
		printBuild(out, built)
		return nil
	}
	if build() != nil && !hasPackage(dir) {
		return ErrNoPlugin
	}
	if ctx.Err() == nil {
		out.Notef("waiting for changes in %s; Ctrl-C ends", dir)
	}
	err = watch.Run(ctx, func(files []string) {
		out.Notef("%s changed", joinFiles(files))
		_ = build() // build has printed the error
	})
	if ctx.Err() != nil {
		return nil // Ctrl-C
	}
	return err
}

// hasPackage reports whether there is a package.json in dir.
func hasPackage(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package.json"))
	return err == nil
}

// printBuild prints a build in one line, and its warnings.
func printBuild(o *terminal.Output, built *jsbuild.BuildResult) {
	for _, w := range built.Warnings {
		o.Notef("warning: %s", w)
	}
	o.PrintLine("built %s %s, %s, in %s", built.Name, terminal.SafeLine(built.Version), terminal.Plural(len(built.Tools), "tool"), terminal.Elapsed(built.Duration))
}

// printBuildFailure prints why a build failed: the problems in the plugin's files if
// there are any, else the error.
func printBuildFailure(ctx context.Context, o *terminal.Output, err error) {
	var failed *jsbuild.BuildError
	switch {
	case ctx.Err() != nil: // the user ended the command
	case !errors.As(err, &failed):
		o.Notef("%v", err)
	default:
		for _, p := range failed.Problems {
			o.Notef("error: %s", p)
		}
	}
}

// joinFiles returns the first few names, and the number of the others.
func joinFiles(files []string) string {
	const most = 3
	if len(files) > most {
		return strings.Join(files[:most], ", ") + " and " + terminal.Plural(len(files)-most, "other file")
	}
	return strings.Join(files, ", ")
}
