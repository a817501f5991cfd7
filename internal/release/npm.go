package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The type manifest is the content of a package.json file.
type manifest struct {
	Name                 string                       `json:"name"`
	Version              string                       `json:"version"`
	Description          string                       `json:"description"`
	License              string                       `json:"license"`
	Type                 string                       `json:"type,omitempty"`
	Bin                  map[string]string            `json:"bin,omitempty"`
	Exports              map[string]map[string]string `json:"exports,omitempty"`
	Files                []string                     `json:"files"`
	Engines              map[string]string            `json:"engines,omitempty"`
	OS                   []string                     `json:"os,omitempty"`
	CPU                  []string                     `json:"cpu,omitempty"`
	Dependencies         map[string]string            `json:"dependencies,omitempty"`
	OptionalDependencies map[string]string            `json:"optionalDependencies,omitempty"`
}

func npmName(t target) string { return "@opentabs/cli-" + t.npmOS() + "-" + t.npmArch() }

// writeNPM writes one npm package with the program for each pair of operating system and processor. The npm package
// named opentabs runs the program for the user's computer. The npm package of the SDK contains JavaScript modules and
// their TypeScript types.
func (r release) writeNPM(ctx context.Context, targets []target) error {
	launcher := manifest{
		Name: "opentabs", Version: r.version, License: "MIT", Description: "Let AI agents call functions in the web pages you are logged in to",
		Bin: map[string]string{"opentabs": "opentabs.js"}, Files: []string{"opentabs.js"}, Engines: map[string]string{"node": ">=18"}, OptionalDependencies: map[string]string{},
	}
	for _, t := range targets {
		program, err := os.ReadFile(r.programPath(t))
		if err != nil {
			return err
		}
		m := manifest{
			Name: npmName(t), Version: r.version, License: "MIT", Description: "The program opentabs for " + t.npmOS() + " " + t.npmArch(),
			Files: []string{"bin", licensesFile}, OS: []string{t.npmOS()}, CPU: []string{t.npmArch()},
		}
		licenses, err := os.ReadFile(r.extraFileOfTarget(t, licensesFile))
		if err != nil {
			return err
		}
		files := []archivedFile{{"bin/" + t.program(), program, 0o755}, {licensesFile, licenses, 0o644}}
		if err := r.packNPM(ctx, "cli-"+t.npmOS()+"-"+t.npmArch(), m, files); err != nil {
			return err
		}
		launcher.OptionalDependencies[m.Name] = r.version
	}
	script, err := templates.ReadFile("files/opentabs.js")
	if err != nil {
		return err
	}
	if err := r.packNPM(ctx, "opentabs", launcher, []archivedFile{{"opentabs.js", script, 0o755}}); err != nil {
		return err
	}
	return r.writeSDK(ctx)
}

func (r release) writeSDK(ctx context.Context) error {
	dir, err := filepath.Abs(filepath.Join(r.outDir, "npm", "sdk"))
	if err != nil {
		return err
	}
	compiler := exec.CommandContext(ctx, filepath.Join("node_modules", ".bin", "tsc"), "-p", "sdk-ts/tsconfig.package.json", "--outDir", filepath.Join(dir, "dist"))
	if output, err := compiler.CombinedOutput(); err != nil {
		return fmt.Errorf("compile the SDK: %w\n%s", err, output)
	}
	for _, library := range []string{"linkedom", "whatwg-url-minimum"} { // npm installs zod, which is a dependency of the package
		if err := os.CopyFS(filepath.Join(dir, "dist", "vendor", library), os.DirFS(filepath.Join("sdk-ts", "vendor", library))); err != nil {
			return err
		}
	}
	var source struct{ Dependencies map[string]string }
	fileContent, err := os.ReadFile("sdk-ts/package.json")
	if err == nil {
		err = json.Unmarshal(fileContent, &source)
	}
	if err != nil {
		return err
	}
	m := manifest{
		Name: "@opentabs/sdk", Version: r.version, License: "MIT", Description: "Write plugins for opentabs", Type: "module", Files: []string{"dist"},
		Exports:      map[string]map[string]string{".": exportEntry("index"), "./pre-script": exportEntry("pre-script"), "./testing": exportEntry("testing")},
		Dependencies: source.Dependencies,
	}
	return r.packNPM(ctx, "sdk", m, nil)
}

func exportEntry(module string) map[string]string {
	return map[string]string{"types": "./dist/src/" + module + ".d.ts", "default": "./dist/src/" + module + ".js"}
}

func (r release) packNPM(ctx context.Context, name string, m manifest, files []archivedFile) error {
	dir := filepath.Join(r.outDir, "npm", name)
	encodedJSON, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	files = append(files, archivedFile{"package.json", append(encodedJSON, '\n'), 0o644}, archivedFile{"LICENSE", license, 0o644})
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.content, os.FileMode(f.mode)); err != nil {
			return err
		}
	}
	packCmd := exec.CommandContext(ctx, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", "..")
	packCmd.Dir = dir
	if output, err := packCmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pack the npm package %s: %w\n%s", m.Name, err, output)
	}
	return os.RemoveAll(dir)
}
