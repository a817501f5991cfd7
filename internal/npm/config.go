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

// defaultRegistry is where packages come from unless a setting says otherwise.
const defaultRegistry = "https://registry.npmjs.org/"

// maxNpmrcBytes is the largest .npmrc that is read.
const maxNpmrcBytes = 1 << 20

// Environment is where the settings are looked for.
type Environment struct {
	// Getenv is os.Getenv and Environ is os.Environ but for tests.
	Getenv  func(string) string
	Environ func() []string
	// Home is the person's home directory; it may be empty.
	Home string
	// Dir is the directory of the project: its .npmrc counts.
	Dir string
	// GOOS is the operating system; default runtime.GOOS.
	GOOS string
}

// Config is what the settings of npm say.
type Config struct {
	values map[string]setting
	// logins are what the registries ask for, by address.
	logins []login
	env    Environment
}

// setting is one value and where it stands.
type setting struct{ text, from string }

// LoadConfig reads the settings as npm does: environment variables first, then
// .npmrc of the project, of the person and of the machine. A file that is not
// there says nothing. The error names a file that cannot be read.
func LoadConfig(env Environment) (*Config, error) {
	if env.GOOS == "" {
		env.GOOS = runtime.GOOS
	}
	c := &Config{values: map[string]setting{}, env: env}
	c.readEnvironment()
	user := c.text("userconfig")
	if user == "" && env.Home != "" {
		user = filepath.Join(env.Home, ".npmrc")
	}
	if project := projectFile(env.Dir); project != user {
		if err := c.readFile(project, isProjects); err != nil {
			return nil, err
		}
	}
	if err := c.readFile(user, anyKey); err != nil {
		return nil, err
	}
	if err := c.readFile(c.globalFile(), anyKey); err != nil {
		return nil, err
	}
	c.findLogins()
	return c, nil
}

// projectFile returns the .npmrc beside the package.json that dir belongs to.
func projectFile(dir string) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "package.json")); err == nil {
			return filepath.Join(at, ".npmrc")
		}
		if filepath.Dir(at) == at {
			return filepath.Join(abs, ".npmrc")
		}
	}
}

// globalFile returns the file for the whole machine.
func (c *Config) globalFile() string {
	if file := c.text("globalconfig"); file != "" {
		return file
	}
	if prefix := c.text("prefix"); prefix != "" {
		return filepath.Join(prefix, "etc", "npmrc")
	}
	if c.env.GOOS == "windows" {
		return ""
	}
	return "/usr/local/etc/npmrc"
}

// readEnvironment takes over npm_config_* variables, in whichever case.
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

func anyKey(string) bool { return true }

// isProjects reports whether the file of a project may say something, as npm has
// it: where packages of the whole machine are is none of its business.
func isProjects(key string) bool {
	return !slices.Contains([]string{"prefix", "globalconfig", "userconfig"}, key)
}

// readFile takes over what is not said yet, as far as the file may say it.
func (c *Config) readFile(file string, may func(key string) bool) error {
	if file == "" {
		return nil
	}
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	if err == nil && info.Size() > maxNpmrcBytes {
		return fmt.Errorf("%s has %d bytes, more than the %d allowed; make it smaller", file, info.Size(), maxNpmrcBytes)
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read npm's settings: %w", err)
	}
	own := map[string]string{} // within a file the last line counts
	var order []string
	for line := range strings.Lines(strings.TrimPrefix(string(text), "\ufeff")) {
		key, value, ok := c.parseLine(line)
		if !ok || !may(key) {
			continue
		}
		if _, twice := own[key]; !twice {
			order = append(order, key)
		}
		own[key] = value
	}
	for _, key := range order {
		c.add(key, own[key], file)
	}
	return nil
}

func (c *Config) add(key, value, from string) {
	if _, said := c.values[key]; !said {
		c.values[key] = setting{value, from}
	}
}

// parseLine reads one line of an .npmrc. Comments, sections and lists say
// nothing that is needed.
func (c *Config) parseLine(line string) (key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if line == "" || strings.ContainsRune("#;[", rune(line[0])) {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, "=")
	key, value = unquote(strings.TrimSpace(key)), unquote(strings.TrimSpace(value))
	if !ok || key == "" || strings.HasSuffix(key, "[]") {
		return "", "", false
	}
	return c.expand(key), c.expand(value), true
}

func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// expand replaces ${NAME} by the environment variable, and ${NAME?} by nothing if
// it is not set. One that is not set stays as it is.
func (c *Config) expand(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(before)
		bare, optional := strings.CutSuffix(name, "?")
		value := c.env.Getenv(bare)
		if value == "" && !optional {
			value = "${" + name + "}"
		}
		b.WriteString(value)
		s = after
	}
}

// unset reports whether a value holds a variable that is not set.
func unset(value string) bool { return strings.Contains(value, "${") }

func (c *Config) text(key string) string { return c.values[key].text }

// Registry returns the address that packages of this name come from, which ends
// with a slash, and where it was set: a file or a variable, empty for the
// default. The error says what is wrong with a setting.
func (c *Config) Registry(name string) (address, from string, err error) {
	key, s := "registry", setting{defaultRegistry, ""}
	if said, ok := c.values[key]; ok {
		s = said
	}
	if scope, _, scoped := strings.Cut(name, "/"); scoped && strings.HasPrefix(scope, "@") {
		if said, ok := c.values[scope+":registry"]; ok {
			key, s = scope+":registry", said
		}
	}
	u, err := url.Parse(s.text)
	switch {
	case unset(s.text):
		err = errors.New("names a variable that is not set; set it")
	case err != nil, u.Host == "", u.Scheme != "http" && u.Scheme != "https":
		err = errors.New("is not an http or https URL; write it as in " + defaultRegistry)
	case u.User != nil:
		// It would stand in messages and in logs.
		return "", "", fmt.Errorf("%s in %s has a user and a password in it; write them as //%s/:_auth instead", key, s.from, u.Host)
	case u.RawQuery != "" || u.Fragment != "":
		err = errors.New("has a query or a fragment; leave it out")
	}
	if err != nil {
		return "", "", fmt.Errorf("%s is %q in %s, which %w", key, s.text, s.from, err)
	}
	return strings.TrimSuffix(u.String(), "/") + "/", s.from, nil
}
