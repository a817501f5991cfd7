package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
)

// tempBuild is the build of a plugin's current source, in a temporary directory.
type tempBuild struct {
	*plugin.Plugin
	source string // the plugin's directory
	out    string // the directory of the built files
	result *jsbuild.BuildResult
}

// buildTemporary builds the plugin in dir into a temporary directory, which remove
// deletes. The error is a *jsbuild.BuildError if the plugin's source is the cause.
func buildTemporary(ctx context.Context, dir string, o jsbuild.Options) (b *tempBuild, remove func(), err error) {
	temp, err := os.MkdirTemp("", "opentabs-author-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to build in: %w", err)
	}
	remove = func() { os.RemoveAll(temp) }
	if b, err = buildIn(ctx, temp, dir, o); err != nil {
		remove()
		return nil, nil, err
	}
	return b, remove, nil
}

// buildIn builds the plugin in dir into temp and loads the built package.
func buildIn(ctx context.Context, temp, dir string, o jsbuild.Options) (*tempBuild, error) {
	b := &tempBuild{out: filepath.Join(temp, "dist")}
	o.Out = b.out
	var err error
	if b.result, err = jsbuild.BuildPlugin(ctx, dir, o); err != nil {
		return nil, err
	}
	b.source = b.result.Dir
	text, err := os.ReadFile(filepath.Join(b.source, "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(temp, "package.json"), text, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("copy package.json: %w", err)
	}
	if b.Plugin, err = plugin.Load(temp); err != nil {
		return nil, fmt.Errorf("load the built plugin: %w", err)
	}
	return b, nil
}
