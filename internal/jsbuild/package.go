package jsbuild

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"opentabs/plugin"
)

const (
	packageFile  = "package.json"
	defaultEntry = "src/index.ts"
	// outputDir is where the built files go.
	outputDir = "dist"
)

// source is a plugin's package.json, as far as building needs it. Whether it
// is in order is for [plugin.Load] to say, here and everywhere.
type source struct {
	// Dir is absolute.
	Dir string
	// Text is the file.
	Text []byte
	// Entry is the module to build, relative to Dir, with slashes.
	Entry string
	ID    identity
	// Version is the package's.
	Version string
	// PreScript is the source of a script that this version can't build yet.
	PreScript string
}

// readSource reads package.json. What is wrong with it is in the problems; an
// error is returned if there is nothing to go on with.
func readSource(dir string) (source, []Problem, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		// Esbuild follows links; paths inside the adapter are relative to this.
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return source{}, nil, fmt.Errorf("find the plugin's directory: %w", err)
	}
	s := source{Dir: abs, Entry: defaultEntry}
	within := fence{dir: abs}
	if p := within.checkOwn(packageFile); p != nil {
		return s, nil, &BuildError{Dir: abs, Problems: []Problem{*p}}
	}
	s.Text, err = os.ReadFile(filepath.Join(abs, packageFile))
	if errors.Is(err, os.ErrNotExist) {
		return s, nil, &BuildError{Dir: abs, Problems: []Problem{{Text: "it has no package.json; name the directory of a plugin"}}}
	} else if err != nil {
		return s, nil, fmt.Errorf("read the plugin's package.json: %w", err)
	}
	_, problems, err := checkPackage(s.Text, nil, nil)
	if err != nil {
		return s, nil, err
	}
	var pkg struct {
		Name     string `json:"name"`
		Version  string `json:"version"`
		OpenTabs struct {
			identity
			Entry     string `json:"entry"`
			PreScript string `json:"preScript"`
		} `json:"opentabs"`
	}
	if err := json.Unmarshal(s.Text, &pkg); err != nil {
		if len(problems) == 0 {
			problems = []Problem{{Where: packageFile, Text: err.Error() + "; correct it"}}
		}
		return s, nil, &BuildError{Dir: abs, Problems: problems}
	}
	s.ID, s.Version, s.PreScript = pkg.OpenTabs.identity, pkg.Version, pkg.OpenTabs.PreScript
	if s.ID.Name, err = plugin.NameOf(pkg.Name); err != nil {
		s.ID.Name = "unnamed" // the problems have it; the rest can still be checked
	}
	if pkg.OpenTabs.Entry != "" {
		s.Entry = filepath.ToSlash(filepath.Clean(pkg.OpenTabs.Entry))
	}
	if !filepath.IsLocal(filepath.FromSlash(s.Entry)) {
		problems = append(problems, Problem{Where: packageFile, Text: fmt.Sprintf(
			"opentabs.entry is %q; name a file inside the plugin's directory, such as %s", pkg.OpenTabs.Entry, defaultEntry)})
		return s, nil, &BuildError{Dir: abs, Problems: problems}
	}
	if _, err := os.Stat(filepath.Join(abs, filepath.FromSlash(s.Entry))); err != nil {
		problems = append(problems, Problem{Where: s.Entry, Text: "there is no such file; write the plugin there, or name its file in opentabs.entry of package.json"})
		return s, nil, &BuildError{Dir: abs, Problems: problems}
	}
	for _, name := range []string{s.Entry, outputDir} {
		if p := within.checkOwn(name); p != nil {
			return s, nil, &BuildError{Dir: abs, Problems: append(problems, *p)}
		}
	}
	return s, problems, nil
}

// checkPackage has a package checked as it will be when it is added; it
// returns what is odd and what is wrong. With no adapter only package.json is
// checked.
func checkPackage(text, adapter, tools []byte) (warnings, problems []Problem, err error) {
	dir, err := os.MkdirTemp("", "opentabs-build-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a directory to check the plugin in: %w", err)
	}
	defer os.RemoveAll(dir)
	files := map[string][]byte{packageFile: text}
	if adapter != nil {
		files["dist/"+bundleName], files["dist/"+toolsName] = adapter, tools
	}
	for name, content := range files {
		if err := writeFile(filepath.Join(dir, name), content); err != nil {
			return nil, nil, err
		}
	}
	loaded, err := plugin.Load(dir)
	if err == nil {
		for _, text := range loaded.Warnings {
			warnings = append(warnings, Problem{Text: text})
		}
		return warnings, nil, nil
	}
	var wrong *plugin.PackageError
	if !errors.As(err, &wrong) {
		return nil, nil, fmt.Errorf("check the plugin: %w", err)
	}
	for _, p := range wrong.Problems {
		if adapter != nil || p.File == packageFile {
			problems = append(problems, Problem{Where: p.File, Text: p.Text})
		}
	}
	return nil, problems, nil
}

// writeFile writes a file of the plugin in one step, so that nobody reads half
// of it, and makes its directory.
func writeFile(name string, content []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the plugin's output directory: %w", err)
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("write the plugin: %w", err)
	}
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		os.Remove(temp.Name())
		return fmt.Errorf("write the plugin: %w", err)
	}
	return nil
}
