package jsbuild

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"opentabs/internal/rawjson"
	"opentabs/internal/svgicon"
	"opentabs/plugin"
)

const (
	packageFile  = "package.json"
	defaultEntry = "src/index.ts"
	outputDir    = "dist"
)

// pluginSource contains the parts of package.json that a build needs. [plugin.Load]
// validates package.json.
type pluginSource struct {
	// Dir is the absolute path of the plugin's directory.
	Dir string
	// Text is the text of the plugin's package.json.
	Text []byte
	// Entry is the path of the module to build, relative to Dir, with slashes.
	Entry string
	ID    pluginIdentity
	// Version is the plugin's version in package.json.
	Version string
	// PreScript is the path of the pre-script's module, relative to Dir, with slashes.
	// PreScript is empty if the plugin has no pre-script.
	PreScript string
	// ConfigSchema is the declaration of the plugin's settings in package.json. If the
	// plugin's code also declares settings, the declaration in the code takes precedence.
	ConfigSchema json.RawMessage
	Icons        svgicon.Set
}

// readSource returns a list of problems with which the build can continue, and returns any other problem as an error.
func readSource(dir string) (pluginSource, []Problem, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		// EvalSymlinks resolves symbolic links in the plugin's path, because the paths that esbuild reports have no
		// links.
		abs, err = filepath.EvalSymlinks(abs)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return pluginSource{}, nil, fmt.Errorf("there is no directory %s: name the directory of a plugin", dir)
	case err != nil:
		return pluginSource{}, nil, fmt.Errorf("find the plugin's directory: %w", err)
	}
	s := pluginSource{Dir: abs}
	pluginBoundary := sourceBoundary{dir: abs}
	if p := pluginBoundary.checkPluginLink(packageFile); p != nil {
		return s, nil, &BuildError{Dir: abs, Problems: []Problem{*p}}
	}
	// esbuild reads tsconfig.json and jsconfig.json of the plugin.
	for _, name := range []string{packageFile, "tsconfig.json", "jsconfig.json"} {
		if err := checkPlainFile(filepath.Join(abs, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return s, nil, &BuildError{Dir: abs, Problems: []Problem{{Location: name, Text: err.Error()}}}
		}
	}
	s.Text, err = os.ReadFile(filepath.Join(abs, packageFile))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil, &BuildError{Dir: abs, Problems: []Problem{{Text: "the directory has no package.json; name the directory of a plugin"}}}
	} else if err != nil {
		return s, nil, fmt.Errorf("read the plugin's package.json: %w", err)
	}
	s.Text = rawjson.TrimBOM(s.Text)
	_, problems, err := checkPackage(s.Text, nil)
	if err != nil {
		return s, nil, err
	}
	var pkg struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		OpenTabs struct {
			pluginIdentity
			Entry        string          `json:"entry"`
			PreScript    string          `json:"preScript"`
			ConfigSchema json.RawMessage `json:"configSchema"`
		} `json:"opentabs"`
	}
	if err := json.Unmarshal(s.Text, &pkg); err != nil {
		if len(problems) == 0 {
			problems = []Problem{{Location: packageFile, Text: err.Error() + "; correct it"}}
		}
		return s, nil, &BuildError{Dir: abs, Problems: problems}
	}
	s.ID, s.Version, s.ConfigSchema = pkg.OpenTabs.pluginIdentity, pkg.Version, pkg.OpenTabs.ConfigSchema
	if s.ID.Name, err = plugin.NameOf(pkg.Name); err != nil {
		s.ID.Name = "unnamed" // the list of problems already has the error of NameOf, so the checks continue
	}
	var fieldProblems []Problem
	entry := cmp.Or(pkg.OpenTabs.Entry, defaultEntry)
	s.Entry, fieldProblems = pluginBoundary.modulePath("entry", entry, defaultEntry, "write the plugin there, or name its file in opentabs.entry of package.json")
	if pkg.OpenTabs.PreScript != "" {
		var iconProblems []Problem
		s.PreScript, iconProblems = pluginBoundary.modulePath("preScript", pkg.OpenTabs.PreScript, "src/pre-script.ts", "write the pre-script there, or remove opentabs.preScript from package.json")
		fieldProblems = append(fieldProblems, iconProblems...)
	}
	if p := pluginBoundary.checkPluginLink(outputDir); p != nil {
		fieldProblems = append(fieldProblems, *p)
	}
	if len(fieldProblems) > 0 {
		return s, nil, &BuildError{Dir: abs, Problems: append(problems, fieldProblems...)}
	}
	files, fieldProblems := pluginBoundary.readIcons()
	icons, iconErrors := svgicon.BuildSet(s.ID.Name, files)
	for _, p := range iconErrors {
		fieldProblems = append(fieldProblems, Problem{Location: p.File, Text: p.Text})
	}
	s.Icons = icons
	return s, append(problems, fieldProblems...), nil
}

func (f sourceBoundary) modulePath(key, name, example, missingMessage string) (string, []Problem) {
	cleanPath := filepath.ToSlash(filepath.Clean(name))
	if !filepath.IsLocal(filepath.FromSlash(cleanPath)) {
		return "", []Problem{{Location: packageFile, Text: fmt.Sprintf(
			"opentabs.%s is %q; name a file inside the plugin's directory, such as %s", key, name, example)}}
	}
	if p := f.checkPluginLink(cleanPath); p != nil {
		return "", []Problem{*p}
	}
	switch err := checkPlainFile(filepath.Join(f.dir, filepath.FromSlash(cleanPath))); {
	case errors.Is(err, os.ErrNotExist):
		return "", []Problem{{Location: cleanPath, Text: "the file does not exist; " + missingMessage}}
	case err != nil:
		return "", []Problem{{Location: cleanPath, Text: err.Error()}}
	}
	return cleanPath, nil
}

func (f sourceBoundary) readIcons() (map[string][]byte, []Problem) {
	files := map[string][]byte{}
	var problems []Problem
	for _, name := range svgicon.Files {
		path := filepath.Join(f.dir, name)
		if p := f.checkPluginLink(name); p != nil {
			problems = append(problems, *p)
			continue
		}
		err := checkPlainFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		var file *os.File
		if err == nil {
			file, err = os.Open(path)
		}
		var iconSVG []byte
		if err == nil {
			iconSVG, err = io.ReadAll(io.LimitReader(file, svgicon.MaxBytes+1))
			file.Close()
		}
		if err != nil {
			problems = append(problems, Problem{Location: name, Text: "it can't be read: " + err.Error() + "; check its permissions"})
			continue
		}
		files[name] = iconSVG
	}
	return files, problems
}
