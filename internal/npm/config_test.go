package npm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In the value of each variable, writeSettings replaces the text HOME with the path of the home directory.
func writeSettings(t *testing.T, files map[string]string, variables ...string) (Environment, string) {
	t.Helper()
	home := t.TempDir()
	for name, fileContent := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(fileContent), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	getenv := func(name string) string {
		for _, v := range variables {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return strings.ReplaceAll(value, "HOME", home)
			}
		}
		return ""
	}
	environ := func() []string {
		var fileNames []string
		for _, v := range variables {
			fileNames = append(fileNames, strings.ReplaceAll(v, "HOME", home))
		}
		// The test's environment must not contain the npm settings of the machine on
		// which the test runs.
		return append(fileNames, "npm_config_globalconfig="+filepath.Join(home, "etc", "npmrc"))
	}
	return Environment{Getenv: getenv, Environ: environ, Home: home, Dir: filepath.Join(home, "project", "below"), GOOS: "linux"}, home
}

func loadSettings(t *testing.T, files map[string]string, variables ...string) (*Config, string) {
	t.Helper()
	env, home := writeSettings(t, files, variables...)
	c, err := LoadConfig(env)
	if err != nil {
		t.Fatal(err)
	}
	return c, home
}

func TestChooseRegistryOfPackage(t *testing.T) {
	const name, scopedPackage = "opentabs-plugin-a", "@acme/opentabs-plugin-a"
	for _, c := range []struct {
		description       string
		files             map[string]string
		variables         []string
		packageName, want string
		wantSource        string
	}{
		{"no registry is configured", nil, nil, name, defaultRegistry, ""},
		{"a registry in the user's .npmrc", map[string]string{".npmrc": "; mine\nregistry = https://r.example.com/npm \n"}, nil, name, "https://r.example.com/npm/", "HOME/.npmrc"},
		{"a registry in the project's .npmrc", map[string]string{".npmrc": "registry=https://a.com", "project/.npmrc": "registry=https://b.com/", "project/package.json": "{}"},
			nil, name, "https://b.com/", "HOME/project/.npmrc"},
		{"a registry in the machine's npmrc", map[string]string{"etc/npmrc": "registry=https://m.com"}, nil, name, "https://m.com/", "HOME/etc/npmrc"},
		{"a registry in a variable", map[string]string{".npmrc": "registry=https://a.com"}, []string{"npm_config_registry=https://v.com"}, name, "https://v.com/", "the environment variable npm_config_registry"},
		{"a registry in an upper-case variable", nil, []string{"NPM_CONFIG_REGISTRY=https://v.com"}, name, "https://v.com/", "the environment variable NPM_CONFIG_REGISTRY"},
		{"a variable names the user's .npmrc", map[string]string{".npmrc": "registry=https://a.com", "other": "registry=https://o.com"},
			[]string{"NPM_CONFIG_USERCONFIG=HOME/other"}, name, "https://o.com/", "HOME/other"},
		{"for the package's scope", map[string]string{".npmrc": "@acme:registry=https://acme.com/\nregistry=https://a.com"}, nil, scopedPackage, "https://acme.com/", "HOME/.npmrc"},
		{"for another scope", map[string]string{".npmrc": "@other:registry=https://other.com/"}, nil, scopedPackage, defaultRegistry, ""},
		{"a variable in the value", map[string]string{".npmrc": `registry="https://${WHERE}/"`}, []string{"WHERE=w.com"}, name, "https://w.com/", "HOME/.npmrc"},
		{"the last line wins", map[string]string{".npmrc": "registry=https://a.com\nregistry=https://b.com"}, nil, name, "https://b.com/", "HOME/.npmrc"},
	} {
		config, home := loadSettings(t, c.files, c.variables...)
		got, keyName, err := config.Registry(c.packageName)
		if want := strings.Replace(c.wantSource, "HOME", home, 1); err != nil || got != c.want || keyName != want {
			t.Errorf("%s: registry %q from %q, error %v; want %q from %q", c.description, got, keyName, err, c.want, want)
		}
	}
}

func TestInvalidRegistries(t *testing.T) {
	for registryURL, want := range map[string]string{
		"ftp://a.com":            "is not an http or https URL",
		"a.com":                  "is not an http or https URL",
		"https://user:pw@a.com/": "contains a user and a password; set them as //a.com/:_auth instead",
		"https://${UNSET}/":      "names a variable that is not set",
		"https://a.com/?x=1":     "has a query",
	} {
		config, home := loadSettings(t, map[string]string{".npmrc": "registry=" + registryURL})
		_, _, err := config.Registry("opentabs-plugin-a")
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), home) || strings.Contains(err.Error(), "pw@") {
			t.Errorf("registry %s: error %v, want an error that contains %q and the path of .npmrc, but no password", registryURL, err, want)
		}
	}
}

func TestHostsWithoutProxy(t *testing.T) {
	c, _ := loadSettings(t, map[string]string{".npmrc": "noproxy=a.com, .b.com"})
	for host, bypassesProxy := range map[string]bool{"a.com": true, "x.A.com": true, "b.com": true, "notb.com": false, "c.com": false, "127.0.0.1": true, "localhost": true} {
		if c.bypassesProxy(host) != bypassesProxy {
			t.Errorf("bypassesProxy(%s) = %t, want %t", host, !bypassesProxy, bypassesProxy)
		}
	}
}

func TestHugeSettingsAreRejected(t *testing.T) {
	env, _ := writeSettings(t, map[string]string{".npmrc": strings.Repeat("#", maxNpmrcBytes+1)})
	if _, err := LoadConfig(env); err == nil || !strings.Contains(err.Error(), "make it smaller") {
		t.Errorf("error of a huge .npmrc = %v; want an error that contains %q", err, "make it smaller")
	}
}

func TestGlobalFolders(t *testing.T) {
	t.Setenv("PATH", "/nowhere")
	files := map[string]string{}
	for _, dir := range []string{
		"prefix/lib/node_modules", ".nvm/versions/node/v9.1.0/lib/node_modules", ".nvm/versions/node/v20.1.0/lib/node_modules",
		".volta/tools/image/packages/a/lib/node_modules", ".npm-global/lib/node_modules",
	} {
		files[dir+"/x"] = ""
	}
	files[".npmrc"] = "prefix=${HOME}/prefix"
	// The .npmrc of a project must not change the folder of global packages.
	files["project/package.json"], files["project/.npmrc"] = "{}", "prefix=${HOME}/project\n"
	files["project/lib/node_modules/x"] = ""
	config, home := loadSettings(t, files, "HOME=HOME")
	var got []string
	for _, folder := range config.GlobalFolders() {
		if rel, err := filepath.Rel(home, folder); err == nil && !strings.HasPrefix(rel, "..") {
			got = append(got, filepath.ToSlash(rel))
		}
	}
	want := []string{
		"prefix/lib/node_modules", ".npm-global/lib/node_modules", ".volta/tools/image/packages/a/lib/node_modules",
		".nvm/versions/node/v20.1.0/lib/node_modules", ".nvm/versions/node/v9.1.0/lib/node_modules",
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("folders of global packages =\n%q\nwant\n%q", got, want)
	}
}

func TestGlobalFoldersBesideNode(t *testing.T) {
	env, home := writeSettings(t, map[string]string{"node/bin/node": "", "node/lib/node_modules/x": "", "win/npm/node_modules/x": ""}, "APPDATA=HOME/win")
	if err := os.Chmod(filepath.Join(home, "node/bin/node"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Join(home, "node", "bin"))
	for goos, want := range map[string]string{"linux": "node/lib/node_modules", "windows": "win/npm/node_modules"} {
		env.GOOS = goos
		config, err := LoadConfig(env)
		if err != nil {
			t.Fatal(err)
		}
		resolvedPath, err := filepath.EvalSymlinks(filepath.Join(home, want))
		if err != nil {
			t.Fatal(err)
		}
		if got := config.GlobalFolders(); len(got) == 0 || got[0] != resolvedPath {
			t.Errorf("folders of global packages on %s = %q, want %q first", goos, got, resolvedPath)
		}
	}
}
