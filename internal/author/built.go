package author

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/internal/jsbuild"
	"opentabs/plugin"
)

// tempBuild is a build of a plugin's current source in a temporary directory.
type tempBuild struct {
	*plugin.Plugin
	sourceDir string // the plugin's directory
	outDir    string // directory of the built files
	result    *jsbuild.BuildResult
}

// buildTemporary builds the plugin in dir into a temporary directory. Call remove to
// delete the temporary directory. If the plugin's source does not compile, the error is a
// *jsbuild.BuildError.
func buildTemporary(ctx context.Context, dir string, o jsbuild.Options) (b *tempBuild, remove func(), err error) {
	tempDir, err := os.MkdirTemp("", "opentabs-author-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to build in: %w", err)
	}
	remove = func() { os.RemoveAll(tempDir) }
	if b, err = buildInto(ctx, tempDir, dir, o); err != nil {
		remove()
		return nil, nil, err
	}
	return b, remove, nil
}

// buildInto builds the plugin in dir into tempDir and loads the built package.
func buildInto(ctx context.Context, tempDir, dir string, o jsbuild.Options) (*tempBuild, error) {
	b := &tempBuild{outDir: filepath.Join(tempDir, "dist")}
	o.Out = b.outDir
	var err error
	if b.result, err = jsbuild.BuildPlugin(ctx, dir, o); err != nil {
		return nil, err
	}
	b.sourceDir = b.result.Dir
	text, err := os.ReadFile(filepath.Join(b.sourceDir, "package.json"))
	if err == nil {
		err = os.WriteFile(filepath.Join(tempDir, "package.json"), text, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("copy package.json: %w", err)
	}
	if b.Plugin, err = plugin.Load(tempDir); err != nil {
		return nil, fmt.Errorf("load the built plugin: %w", err)
	}
	return b, nil
}
