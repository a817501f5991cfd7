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

// Watch builds the plugin in dir after each change of its files, until ctx is done. Watch
// prints each successful build with printResult, or as a line of text if printResult is
// nil. Watch also prints the errors of failed builds. Watch sets Cache in the options.
func Watch(ctx context.Context, dir string, terminalOut *terminal.Output, o jsbuild.Options, printResult func(*jsbuild.BuildResult) error) error {
	if printResult == nil {
		printResult = func(buildResult *jsbuild.BuildResult) error {
			printBuild(terminalOut, buildResult)
			return nil
		}
	}
	watcher, err := author.NewWatcher(dir) // the watcher starts before the first build, to detect changes during this build
	if err != nil {
		return err
	}
	o.Cache = &jsbuild.BuildCache{}
	defer o.Cache.Close()
	build := func() error {
		buildResult, err := jsbuild.BuildPlugin(ctx, dir, o)
		if err != nil {
			printBuildFailure(ctx, terminalOut, err)
			return err
		}
		return printResult(buildResult)
	}
	if build() != nil && !hasPackageFile(dir) {
		return ErrNoPlugin
	}
	if ctx.Err() == nil {
		terminalOut.Notef("waiting for changes in %s; Ctrl-C ends", dir)
	}
	err = watcher.Run(ctx, func(files []string) {
		terminalOut.Notef("%s changed", formatFileList(files))
		_ = build()
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func hasPackageFile(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "package.json"))
	return err == nil
}

func printBuild(o *terminal.Output, buildResult *jsbuild.BuildResult) {
	for _, w := range buildResult.Warnings {
		o.Notef("warning: %s", w)
	}
	o.PrintLine("built %s %s, %s, in %s", buildResult.Name, terminal.SafeLine(buildResult.Version), terminal.CountNoun(len(buildResult.Tools), "tool"), terminal.Elapsed(buildResult.Duration))
}

func printBuildFailure(ctx context.Context, o *terminal.Output, err error) {
	var buildErr *jsbuild.BuildError
	switch {
	case ctx.Err() != nil:
	case !errors.As(err, &buildErr):
		o.Notef("%v", err)
	default:
		for _, p := range buildErr.Problems {
			o.Notef("error: %s", p)
		}
	}
}

func formatFileList(files []string) string {
	const maxFiles = 3
	if len(files) > maxFiles {
		return strings.Join(files[:maxFiles], ", ") + " and " + terminal.CountNoun(len(files)-maxFiles, "other file")
	}
	return strings.Join(files, ", ")
}
