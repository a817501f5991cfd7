package jsbuild

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/plugin"
)

// outputFiles contains the built files by their names in dist, in the order of
// BuildResult.Files. If the text of a file is nil, the build deletes the file that an
// earlier build wrote under the same name.
type outputFiles []struct {
	name        string
	packageJSON []byte
}

func makeOutput(builtSource pluginSource, compiledPluginValue compiledPlugin) (built outputFiles, hash string, err error) {
	code, hash := lockAdapter(compiledPluginValue.Adapter.MinifiedCode, builtSource.ID.Name)
	code = append(code, "//# sourceMappingURL="+sourceMapName+"\n"...)
	file := compiledPluginValue.Extracted.toolsFile()
	if compiledPluginValue.Adapter.IsForOriginalSDK {
		file.Start = plugin.StartAtDocumentIdle // the original OpenTabs starts an adapter only after its page has loaded
	}
	if file.ConfigSchema == nil {
		file.ConfigSchema = builtSource.ConfigSchema
	}
	file.IconSVG, file.IconInactiveSVG = builtSource.Icons.Icon, builtSource.Icons.Inactive
	file.IconDarkSVG, file.IconDarkInactiveSVG = builtSource.Icons.Dark, builtSource.Icons.DarkInactive
	if compiledPluginValue.PreScript != nil {
		checksum := sha256.Sum256(compiledPluginValue.PreScript)
		file.PreScriptFile, file.PreScriptHash = preScriptName, hex.EncodeToString(checksum[:])
	}
	tools, err := file.encode()
	if err != nil {
		return nil, "", err
	}
	return outputFiles{{bundleFileName, code}, {sourceMapName, compiledPluginValue.Adapter.MinifiedMap}, {preScriptName, compiledPluginValue.PreScript}, {toolsName, tools}}, hash, nil
}

func (b *BuildResult) write(builtSource pluginSource, compiledPluginValue compiledPlugin, o Options) error {
	built, hash, err := makeOutput(builtSource, compiledPluginValue)
	if err != nil {
		return err
	}
	b.Hash = hash
	warnings, problems, err := checkPackage(builtSource.Text, built)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return &BuildError{Dir: builtSource.Dir, Problems: problems}
	}
	b.Warnings = append(b.Warnings, warnings...)
	dir := o.Out
	if dir == "" {
		dir = filepath.Join(builtSource.Dir, outputDir)
	}
	for _, file := range built {
		name := filepath.Join(dir, file.name)
		if file.packageJSON == nil {
			if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("remove a file of the previous build: %w", err)
			}
			continue
		}
		if err := writeFile(name, file.packageJSON); err != nil {
			return err
		}
		b.Files = append(b.Files, BuiltFile{Path: name, Bytes: len(file.packageJSON)})
	}
	return nil
}

// If built is empty, checkPackage checks only package.json.
func checkPackage(packageJSON []byte, built outputFiles) (warnings, problems []Problem, err error) {
	dir, err := os.MkdirTemp("", "opentabs-build-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to check the plugin in: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := writeFile(filepath.Join(dir, packageFile), packageJSON); err != nil {
		return nil, nil, err
	}
	for _, file := range built {
		if file.packageJSON == nil {
			continue
		}
		if err := writeFile(filepath.Join(dir, outputDir, file.name), file.packageJSON); err != nil {
			return nil, nil, err
		}
	}
	loadedPlugin, err := plugin.Load(dir)
	if err == nil {
		err = loadedPlugin.CheckSchemas()
	}
	if err == nil {
		for _, warningText := range loadedPlugin.Warnings {
			warnings = append(warnings, Problem{Text: warningText})
		}
		return warnings, nil, nil
	}
	var packageErr *plugin.PackageError
	if !errors.As(err, &packageErr) {
		return nil, nil, fmt.Errorf("check the plugin: %w", err)
	}
	for _, p := range packageErr.Problems {
		if built != nil || p.File == packageFile {
			problems = append(problems, Problem{Location: p.File, Text: p.Text})
		}
	}
	return nil, problems, nil
}

// writeFile writes a file atomically, so that no process reads a partial file.
func writeFile(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the plugin's output directory: %w", err)
	}
	tempFile, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write the plugin: %w", err)
	}
	_, err = tempFile.Write(content)
	err = errors.Join(err, tempFile.Chmod(0o644), tempFile.Close())
	if err == nil {
		err = os.Rename(tempFile.Name(), name)
	}
	if err != nil {
		os.Remove(tempFile.Name())
		return fmt.Errorf("write the plugin: %w", err)
	}
	return nil
}
