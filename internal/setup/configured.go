package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Configured is how the configuration of a client names opentabs.
type Configured struct {
	// Command is what the client runs; its Path is empty for a server over HTTP.
	Command Command
	// URL is the address of a server over HTTP; empty for a command.
	URL string
	// IsDisabled is true if the client does not start the server.
	IsDisabled bool
	// token is the token in the configuration; empty if there is none.
	token string
}

// ErrNotConfigured is the error for a configuration that does not name opentabs.
var ErrNotConfigured = errors.New("opentabs is not in the configuration of the client")

// Token returns the token in the configuration; empty if there is none.
func (c Configured) Token() string { return c.token }

// ReadConfigured reads how a client starts opentabs. prefix is the beginning of each
// token. ReadConfigured returns ErrNotConfigured for a missing file and for a file without
// opentabs. Other errors name the problem of the file.
func ReadConfigured(c Client, prefix string) (Configured, error) {
	data, err := readConfig(c.File)
	if err != nil {
		return Configured{}, err
	}
	if len(strings.TrimSpace(string(data))) == 0 {
		return Configured{}, ErrNotConfigured
	}
	values, err := c.format.decode(data)
	if err != nil {
		return Configured{}, fmt.Errorf("%s is malformed: %w", c.File, err)
	}
	entry := serverIn(values, c.servers)
	if entry == nil {
		return Configured{}, ErrNotConfigured
	}
	fields, ok := entry.(map[string]any)
	if !ok {
		return Configured{}, fmt.Errorf("%s is malformed: the server opentabs is not an object", c.File)
	}
	configured := Configured{
		Command: commandIn(fields), URL: cmp.Or(textIn(fields, "url"), textIn(fields, "httpUrl"), textIn(fields, "serverUrl"), textIn(fields, "uri")),
		token: findText(fields, prefix),
	}
	isEnabled, hasEnabled := fields["enabled"].(bool)
	isDisabled, _ := fields["disabled"].(bool)
	configured.IsDisabled = isDisabled || hasEnabled && !isEnabled
	if configured.Command.Path == "" && configured.URL == "" {
		return Configured{}, fmt.Errorf("%s is malformed: the server opentabs has neither a command nor a URL", c.File)
	}
	return configured, nil
}

// commandIn returns the command in the fields of a server, in the forms of all clients.
func commandIn(fields map[string]any) Command {
	command := Command{Path: cmp.Or(textIn(fields, "command"), textIn(fields, "cmd")), Args: textsIn(fields["args"]), Env: map[string]string{}}
	if words := textsIn(fields["command"]); len(words) > 0 {
		command.Path, command.Args = words[0], words[1:]
	}
	for _, name := range []string{"env", "envs", "environment"} {
		variables, _ := fields[name].(map[string]any)
		for variable, value := range variables {
			command.Env[variable] = fmt.Sprint(value)
		}
	}
	return command
}

func textIn(fields map[string]any, name string) string {
	text, _ := fields[name].(string)
	return text
}

// textsIn returns the texts in a list.
func textsIn(list any) []string {
	items, _ := list.([]any)
	var texts []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// FindProgram returns an error for a command whose program does not exist or cannot be
// run. The error is a sentence for the user.
func (c Command) FindProgram() error {
	path, err := exec.LookPath(c.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist", c.Path)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not in PATH", c.Path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s is not executable", c.Path)
	case err != nil && !errors.Is(err, exec.ErrDot):
		return err
	}
	if info, err := os.Stat(filepath.Clean(path)); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", c.Path)
	}
	return nil
}
