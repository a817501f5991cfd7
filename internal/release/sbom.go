package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The type sbom is a software bill of materials (SBOM) in the format CycloneDX.
type sbom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     sbomMetadata `json:"metadata"`
	Components   []component  `json:"components"`
}

type sbomMetadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

// The type component is a program or a library in an SBOM.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	URL     string `json:"purl"`
}

func (r release) writeSBOM(t target) error {
	info, err := buildinfo.ReadFile(r.programPath(t))
	if err != nil {
		return err
	}
	program := newComponent("application", "golang", "opentabs", "v"+r.version)
	bom := sbom{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: sbomMetadata{Timestamp: r.commitTime.Format(time.RFC3339), Component: program},
		Components: []component{
			newComponent("library", "golang", "stdlib", strings.TrimPrefix(info.GoVersion, "go")),
		},
	}
	for _, module := range info.Deps {
		bom.Components = append(bom.Components, newComponent("library", "golang", module.Path, module.Version))
	}
	embeddedComponents, err := embeddedPackages()
	if err != nil {
		return err
	}
	bom.Components = append(bom.Components, embeddedComponents...)
	hash := sha256.Sum256([]byte(r.commit + " " + r.baseName(t)))
	bom.SerialNumber = uuidText(hash[:])
	encodedJSON, err := json.MarshalIndent(bom, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.outDir, r.baseName(t)+".cdx.json"), append(encodedJSON, '\n'), 0o644)
}

func uuidText(hash []byte) string {
	id := append([]byte{}, hash[:16]...)
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

func newComponent(kind, ecosystem, name, version string) component {
	url := fmt.Sprintf("pkg:%s/%s@%s", ecosystem, strings.Replace(name, "@", "%40", 1), version)
	return component{Type: kind, Ref: url, Name: name, Version: version, URL: url}
}

func embeddedPackages() ([]component, error) {
	var lockFile struct {
		Packages map[string]struct{ Version string }
	}
	fileContent, err := os.ReadFile("package-lock.json")
	if err == nil {
		err = json.Unmarshal(fileContent, &lockFile)
	}
	if err != nil {
		return nil, fmt.Errorf("read package-lock.json: %w", err)
	}
	var components []component
	for _, pattern := range []string{"sdk-ts/vendor/*", "extension/vendor/*"} {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			return nil, err
		}
		for _, folder := range folders {
			name := filepath.Base(folder)
			lockedVersion := lockFile.Packages["node_modules/"+name].Version
			if lockedVersion == "" {
				return nil, fmt.Errorf("package-lock.json has no version of the package %s", name)
			}
			components = append(components, newComponent("library", "npm", name, lockedVersion))
		}
	}
	return components, nil
}
