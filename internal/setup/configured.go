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

// ConfiguredServer describes how the configuration of an MCP client starts opentabs.
type ConfiguredServer struct {
	// Command is the command that the MCP client runs. The field Path is empty if the
	// client connects over HTTP.
	Command Command
	// URL is the address to which the MCP client connects over HTTP, or empty if the
	// client runs a command.
	URL string
	// IsDisabled is true if opentabs is turned off in the MCP client's configuration.
	IsDisabled bool
	token      string
}

// ErrNotConfigured reports that the configuration of an MCP client does not contain
// opentabs.
var ErrNotConfigured = errors.New("opentabs is not in the configuration of the MCP client")

// Token returns the client token in the configuration, or an empty string if there is
// none.
func (c ConfiguredServer) Token() string { return c.token }

// ReadConfigured reads how the configuration of an MCP client starts opentabs. The
// argument prefix is the prefix by which client tokens are recognized. If the
// configuration file is missing or does not contain opentabs, ReadConfigured returns
// ErrNotConfigured. Any error other than ErrNotConfigured describes a problem in the
// configuration file.
func ReadConfigured(c Client, prefix string) (ConfiguredServer, error) {
	configBytes, err := readConfig(c.File)
	if err != nil {
		return ConfiguredServer{}, err
	}
	if len(strings.TrimSpace(string(configBytes))) == 0 {
		return ConfiguredServer{}, ErrNotConfigured
	}
	configValues, err := c.format.decode(configBytes)
	if err != nil {
		return ConfiguredServer{}, fmt.Errorf("%s is malformed: %w", c.File, err)
	}
	entry := findServer(configValues, c.serversPath)
	if entry == nil {
		return ConfiguredServer{}, ErrNotConfigured
	}
	fields, ok := entry.(map[string]any)
	if !ok {
		return ConfiguredServer{}, fmt.Errorf("%s is malformed: the server opentabs is not an object", c.File)
	}
	configured := ConfiguredServer{
		Command: readCommand(fields), URL: cmp.Or(readString(fields, "url"), readString(fields, "httpUrl"), readString(fields, "serverUrl"), readString(fields, "uri")),
		token: findStringWithPrefix(fields, prefix),
	}
	isEnabled, hasEnabled := fields["enabled"].(bool)
	isDisabled, _ := fields["disabled"].(bool)
	configured.IsDisabled = isDisabled || hasEnabled && !isEnabled
	if configured.Command.Path == "" && configured.URL == "" {
		return ConfiguredServer{}, fmt.Errorf("%s is malformed: the server opentabs has neither a command nor a URL", c.File)
	}
	return configured, nil
}

// Fields of a server's configuration entry have different names in different MCP clients.
func readCommand(fields map[string]any) Command {
	command := Command{Path: cmp.Or(readString(fields, "command"), readString(fields, "cmd")), Args: readStrings(fields["args"]), Env: map[string]string{}}
	if words := readStrings(fields["command"]); len(words) > 0 {
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

func readString(fields map[string]any, name string) string {
	stringValue, _ := fields[name].(string)
	return stringValue
}

func readStrings(rawList any) []string {
	items, _ := rawList.([]any)
	var shownTexts []string
	for _, item := range items {
		if stringValue, ok := item.(string); ok {
			shownTexts = append(shownTexts, stringValue)
		}
	}
	return shownTexts
}

// FindProgram returns an error if the program of the command does not exist or is not
// executable. The error message of FindProgram is a sentence for the user.
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
	if fileInfo, err := os.Stat(filepath.Clean(path)); err == nil && fileInfo.IsDir() {
		return fmt.Errorf("%s is a folder", c.Path)
	}
	return nil
}
