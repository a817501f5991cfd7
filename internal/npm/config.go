package npm

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

const defaultRegistry = "https://registry.npmjs.org/"

const maxNpmrcBytes = 1 << 20

// Environment contains the places in which [LoadConfig] searches for settings.
type Environment struct {
	// Getenv and Environ are the functions os.Getenv and os.Environ, or fake functions in
	// a test.
	Getenv  func(string) string
	Environ func() []string
	// Home is the user's home directory; Home may be empty.
	Home string
	// Dir is the project directory whose .npmrc is read, or a directory below the
	// project. If Dir is empty, no .npmrc of a project is read.
	Dir string
	// GOOS is the name of the operating system; the default is runtime.GOOS.
	GOOS string
}

// Config contains the settings of npm. A Config is immutable.
type Config struct {
	values map[string]setting
	logins []registryLogin // the logins are sorted by path length, longest first
	env    Environment
}

// setting contains the value of one npm setting as text, and the file or variable that
// sets it.
type setting struct{ value, source string }

// LoadConfig reads npm's settings. As in npm, environment variables override .npmrc
// files, the project's .npmrc overrides the user's, and the user's .npmrc overrides the
// machine's. LoadConfig skips .npmrc files that do not exist. If a file cannot be read,
// the error names the file.
func LoadConfig(env Environment) (*Config, error) {
	if env.GOOS == "" {
		env.GOOS = runtime.GOOS
	}
	c := &Config{values: map[string]setting{}, env: env}
	c.readEnvironment()
	userConfigFile := c.settingText("userconfig")
	if userConfigFile == "" && env.Home != "" {
		userConfigFile = filepath.Join(env.Home, ".npmrc")
	}
	if projectConfigFile := projectFile(env.Dir); env.Dir != "" && projectConfigFile != userConfigFile {
		if err := c.readFile(projectConfigFile, isProjectKey); err != nil {
			return nil, err
		}
	}
	if err := c.readFile(userConfigFile, allowAnyKey); err != nil {
		return nil, err
	}
	if err := c.readFile(c.globalFile(), allowAnyKey); err != nil {
		return nil, err
	}
	c.findLogins()
	return c, nil
}

// projectFile returns the path of .npmrc beside the nearest package.json in dir or above.
func projectFile(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for ancestor := abs; ; ancestor = filepath.Dir(ancestor) {
		if _, err := os.Stat(filepath.Join(ancestor, "package.json")); err == nil {
			return filepath.Join(ancestor, ".npmrc")
		}
		if filepath.Dir(ancestor) == ancestor {
			return filepath.Join(abs, ".npmrc")
		}
	}
}

// globalFile returns the path of the npm settings file for all users of the machine; ""
// if unknown.
func (c *Config) globalFile() string {
	if file := c.settingText("globalconfig"); file != "" {
		return file
	}
	if prefix := c.settingText("prefix"); prefix != "" {
		return filepath.Join(prefix, "etc", "npmrc")
	}
	if c.env.GOOS == "windows" {
		return ""
	}
	return "/usr/local/etc/npmrc"
}

func (c *Config) readEnvironment() {
	const prefix = "npm_config_"
	for _, variable := range c.env.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if len(name) <= len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) || value == "" {
			continue
		}
		key := name[len(prefix):]
		if !strings.HasPrefix(key, "//") && !strings.HasPrefix(key, "@") {
			key = key[:1] + strings.ReplaceAll(key[1:], "_", "-")
			key = strings.ToLower(key)
		}
		c.add(key, value, "the environment variable "+name)
	}
}

func allowAnyKey(string) bool { return true }

// npm ignores settings of a project that change the paths of global packages and of other settings files.
func isProjectKey(key string) bool {
	return !slices.Contains([]string{"prefix", "globalconfig", "userconfig"}, key)
}

func (c *Config) readFile(file string, isAllowed func(key string) bool) error {
	if file == "" {
		return nil
	}
	fileInfo, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !fileInfo.Mode().IsRegular() {
		return nil
	}
	if err == nil && fileInfo.Size() > maxNpmrcBytes {
		return fmt.Errorf("%s has %d bytes, more than the %d allowed; make it smaller", file, fileInfo.Size(), maxNpmrcBytes)
	}
	fileContent, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read npm's settings: %w", err)
	}
	fileValues := map[string]string{} // within a file, the last line for a key takes precedence
	var orderedKeys []string
	for line := range strings.Lines(strings.TrimPrefix(string(fileContent), "\ufeff")) {
		key, value, ok := c.parseLine(line)
		if !ok || !isAllowed(key) {
			continue
		}
		if _, isSet := fileValues[key]; !isSet {
			orderedKeys = append(orderedKeys, key)
		}
		fileValues[key] = value
	}
	for _, key := range orderedKeys {
		c.add(key, fileValues[key], file)
	}
	return nil
}

func (c *Config) add(key, value, source string) {
	if _, isSet := c.values[key]; !isSet {
		c.values[key] = setting{value, source}
	}
}

// parseLine skips comments, sections and lists, because package npm does not use them.
func (c *Config) parseLine(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || strings.ContainsRune("#;[", rune(line[0])) {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, "=")
	key, value = unquoteValue(strings.TrimSpace(key)), unquoteValue(strings.TrimSpace(value))
	if !ok || key == "" || strings.HasSuffix(key, "[]") {
		return "", "", false
	}
	return c.expandVariables(key), c.expandVariables(value), true
}

func unquoteValue(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// If the environment variable NAME is not set, expandVariables removes ${NAME?} and leaves ${NAME} unchanged.
func (c *Config) expandVariables(s string) string {
	var b strings.Builder
	for {
		textBefore, textAfter, ok := strings.Cut(s, "${")
		name, contentAfter, hasEnd := strings.Cut(textAfter, "}")
		if !ok || !hasEnd {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(textBefore)
		variableName, isOptional := strings.CutSuffix(name, "?")
		envValue := c.env.Getenv(variableName)
		if envValue == "" && !isOptional {
			envValue = "${" + name + "}"
		}
		b.WriteString(envValue)
		s = contentAfter
	}
}

func hasUnsetVariable(value string) bool { return strings.Contains(value, "${") }

func (c *Config) settingText(key string) string { return c.values[key].value }

// Registry returns the address of the registry for a package name, with a slash at the
// end. The result source is the file or variable that sets the address, or "" for the
// default. If the address is invalid, Registry returns an error.
func (c *Config) Registry(name string) (address, source string, err error) {
	key, s := "registry", setting{defaultRegistry, ""}
	if value, ok := c.values[key]; ok {
		s = value
	}
	if scope, _, isScoped := strings.Cut(name, "/"); isScoped && strings.HasPrefix(scope, "@") {
		if value, ok := c.values[scope+":registry"]; ok {
			key, s = scope+":registry", value
		}
	}
	u, err := url.Parse(s.value)
	switch {
	case hasUnsetVariable(s.value):
		err = errors.New("names a variable that is not set; set it")
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		err = errors.New("is not an http or https URL; use one such as " + defaultRegistry)
	case u.User != nil:
		// A password in the address would appear in messages and logs.
		return "", "", fmt.Errorf("%s in %s contains a user and a password; set them as //%s/:_auth instead", key, s.source, u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		err = errors.New("has a query or a fragment; remove it")
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is %q in %s, which %w", key, s.value, s.source, err)
	}
	return strings.TrimSuffix(u.String(), "/") + "/", s.source, nil
}
