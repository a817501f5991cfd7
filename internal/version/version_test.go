package version

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

func TestVersion(t *testing.T) {
	// Chrome accepts versions with one to four numbers, but npm requires exactly three.
	if !regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(Version) {
		t.Errorf("VERSION is %q, want three numbers such as 0.1.0", Version)
	}
}

func TestAllFilesHaveSameVersion(t *testing.T) {
	files := []string{"package.json", "extension/manifest.json"}
	packages, err := filepath.Glob("../../*/package.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 4 {
		t.Errorf("found %d workspaces with a package.json, want at least 4", len(packages))
	}
	for _, file := range packages {
		files = append(files, filepath.Join(filepath.Base(filepath.Dir(file)), "package.json"))
	}
	for _, file := range files {
		fileContent, err := os.ReadFile(filepath.Join("../..", file))
		if err != nil {
			t.Error(err)
			continue
		}
		var got struct{ Version string }
		if err := json.Unmarshal(fileContent, &got); err != nil {
			t.Errorf("%s: %v; want valid JSON", file, err)
		} else if got.Version != Version {
			t.Errorf("%s has version %q, internal/version/VERSION has %q; make them equal", file, got.Version, Version)
		}
	}
}

func TestLockFileHasPinnedVersions(t *testing.T) {
	fileContent, err := os.ReadFile("../../package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	var lockFile struct {
		Version  string
		Packages map[string]struct {
			Version, Resolved    string
			OptionalDependencies map[string]string
		}
	}
	if err := json.Unmarshal(fileContent, &lockFile); err != nil {
		t.Fatal(err)
	}
	if lockFile.Version != Version || lockFile.Packages[""].Version != Version {
		t.Errorf("package-lock.json has version %q, VERSION has %q; run npm install", lockFile.Version, Version)
	}
	for name, p := range lockFile.Packages {
		if regexp.MustCompile(`^[a-z+]+://`).MatchString(p.Resolved) {
			t.Errorf("%s: resolved %q ties the lock file to one registry; run npm install with the .npmrc of this repository", name, p.Resolved)
		}
		// If the registry lacks an optional package, npm install writes a lock file without an entry for the package,
		// and npm ci rejects the lock file.
		for optionalPackage := range p.OptionalDependencies {
			if lockFile.Packages["node_modules/"+optionalPackage].Version == "" {
				t.Errorf("package-lock.json lacks %s, an optional dependency of %s; choose a version whose packages the registry has", optionalPackage, name)
			}
		}
	}
}
