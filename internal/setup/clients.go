package setup

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// serverName is the name under which opentabs appears in the configurations of MCP
// clients.
const serverName = "opentabs"

// Machine describes the computer on which setup searches for MCP clients.
type Machine struct {
	// OS is the operating system as in runtime.GOOS, such as "darwin".
	OS string
	// Home is the user's home directory.
	Home string
	// Getenv is os.Getenv, except in tests.
	Getenv func(string) string
	// LookPath is exec.LookPath, except in tests.
	LookPath func(string) (string, error)
}

// ThisMachine describes the computer on which opentabs runs. If the user has no home
// directory, ThisMachine returns an error.
func ThisMachine(goos string, getenv func(string) string) (Machine, error) {
	home, err := os.UserHomeDir()
	return Machine{OS: goos, Home: home, Getenv: getenv, LookPath: exec.LookPath}, err
}

func (m Machine) appData() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	case "windows":
		if dir := m.Getenv("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(m.Home, "AppData", "Roaming")
	}
	return m.configHome()
}

// configHome is the configuration directory of the XDG specification, which some programs use on all operating systems.
func (m Machine) configHome() string {
	if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// Client is an MCP client whose configuration file setup can change.
type Client struct {
	// ID names the MCP client on the command line, such as "claude-code". Title is the
	// display name of the MCP client, such as "Claude Code".
	ID, Title string
	// File is the path of the MCP client's configuration file for the current user. The
	// configuration file need not exist.
	File string
	// RestartNote is a sentence for the user about how to make the MCP client read its
	// new configuration.
	RestartNote string

	format format
	// The field serversPath is the path of the object with all MCP servers in the
	// configuration, such as ["mcpServers"].
	serversPath []string
	entry       func(Command) any
}

// Command is the command with which an MCP client starts an MCP server over stdio.
type Command struct {
	Path string
	Args []string
	Env  map[string]string
}

// standardEntry is the configuration entry of an MCP server in most MCP clients.
type standardEntry struct {
	Type    string            `json:"type,omitempty" toml:"type,omitempty"`
	Command string            `json:"command" toml:"command"`
	Args    []string          `json:"args" toml:"args"`
	Env     map[string]string `json:"env,omitempty" toml:"env,omitempty"`
}

func newStandardEntry(c Command) any {
	return standardEntry{Command: c.Path, Args: c.Args, Env: c.Env}
}

// newTypedEntry returns the configuration entry for an MCP client that requires a field
// with the transport type.
func newTypedEntry(c Command) any {
	return standardEntry{Type: "stdio", Command: c.Path, Args: c.Args, Env: c.Env}
}

// opencodeEntry is the configuration entry of a local MCP server in opencode.
type opencodeEntry struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Enabled     bool              `json:"enabled"`
	Environment map[string]string `json:"environment,omitempty"`
}

func newOpencodeEntry(c Command) any {
	return opencodeEntry{Type: "local", Command: append([]string{c.Path}, c.Args...), Enabled: true, Environment: c.Env}
}

// gooseEntry is the configuration entry of an extension in Goose. Timeout is the timeout
// of a call in seconds.
type gooseEntry struct {
	Enabled bool              `yaml:"enabled"`
	Type    string            `yaml:"type"`
	Name    string            `yaml:"name"`
	Cmd     string            `yaml:"cmd"`
	Args    []string          `yaml:"args"`
	Envs    map[string]string `yaml:"envs,omitempty"`
	Timeout int               `yaml:"timeout"`
}

// gooseTimeoutSeconds equals the hard limit of calls in opentabs, 5 min.
const gooseTimeoutSeconds = 300

func newGooseEntry(c Command) any {
	return gooseEntry{Enabled: true, Type: "stdio", Name: serverName, Cmd: c.Path, Args: c.Args, Envs: c.Env, Timeout: gooseTimeoutSeconds}
}

// knownClient is one row of the table of supported MCP clients. Setup uses the first
// configuration file in the client's list that exists, or the first file in the list if
// none exists.
type knownClient struct {
	id, title string
	files     func(Machine) []string
	// An MCP client counts as installed if PATH contains one of its programs, or if the folder of its configuration
	// file exists.
	programs    []string
	format      format
	serversPath []string
	entry       func(Command) any
	restartNote string
}

var mcpServersPath = []string{"mcpServers"}

func vscodeClient(id, title, folder string) knownClient {
	return knownClient{
		id: id, title: title, format: jsonFormat{}, serversPath: []string{"servers"}, entry: newTypedEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.appData(), folder, "User", "mcp.json")} },
		restartNote: fmt.Sprintf("Start the server in %s with the command \"MCP: List Servers\".", title),
	}
}

// knownClients are the MCP clients that setup supports. The table is based on these
// documentation pages, as of November 2026:
//
//   - Claude Code: code.claude.com/docs/en/mcp (user scope, ~/.claude.json) and
//     code.claude.com/docs/en/claude-directory (CLAUDE_CONFIG_DIR)
//   - Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers
//   - Cursor: cursor.com/docs/context/mcp
//   - VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration
//   - VS Code Insiders and VSCodium: the same file in their own settings folder
//   - Codex: developers.openai.com/codex/mcp
//   - Gemini CLI: geminicli.com/docs/tools/mcp-server
//   - Windsurf: docs.windsurf.com/windsurf/cascade/mcp
//   - Zed: zed.dev/docs/ai/mcp
//   - opencode: opencode.ai/docs/mcp-servers
//   - Goose: block.github.io/goose/docs/guides/config-files
//   - Cline: docs.cline.bot/mcp/configuring-mcp-servers
var knownClients = []knownClient{
	{
		id: "claude-code", title: "Claude Code", programs: []string{"claude"}, format: jsonFormat{}, serversPath: mcpServersPath, entry: newTypedEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(cmp.Or(m.Getenv("CLAUDE_CONFIG_DIR"), m.Home), ".claude.json")}
		},
		restartNote: "Start a new session of Claude Code.",
	},
	{
		id: "claude-desktop", title: "Claude Desktop", format: jsonFormat{}, serversPath: mcpServersPath, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.appData(), "Claude", "claude_desktop_config.json")}
		},
		restartNote: "Quit Claude Desktop and start it again.",
	},
	{
		id: "cursor", title: "Cursor", format: jsonFormat{}, serversPath: mcpServersPath, entry: newStandardEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor", "mcp.json")} },
		restartNote: "Cursor loads the server by itself; switch it on in Settings, MCP, if Cursor asks.",
	},
	vscodeClient("vscode", "VS Code", "Code"),
	vscodeClient("vscode-insiders", "VS Code Insiders", "Code - Insiders"),
	vscodeClient("vscodium", "VSCodium", "VSCodium"),
	{
		id: "codex", title: "Codex", programs: []string{"codex"}, format: tomlFormat{}, serversPath: []string{"mcp_servers"}, entry: newStandardEntry,
		files: func(m Machine) []string {
			if dir := m.Getenv("CODEX_HOME"); dir != "" {
				return []string{filepath.Join(dir, "config.toml")}
			}
			return []string{filepath.Join(m.Home, ".codex", "config.toml")}
		},
		restartNote: "Start a new session of Codex.",
	},
	{
		id: "gemini-cli", title: "Gemini CLI", programs: []string{"gemini"}, format: jsonFormat{}, serversPath: mcpServersPath, entry: newStandardEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.Home, ".gemini", "settings.json")} },
		restartNote: "Start a new session of Gemini CLI.",
	},
	{
		id: "windsurf", title: "Windsurf", format: jsonFormat{}, serversPath: mcpServersPath, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.Home, ".codeium", "windsurf", "mcp_config.json")}
		},
		restartNote: "Press the refresh button of the MCP servers in Windsurf.",
	},
	{
		id: "zed", title: "Zed", programs: []string{"zed", "zeditor"}, format: jsonFormat{}, serversPath: []string{"context_servers"}, entry: newStandardEntry,
		files: func(m Machine) []string {
			if m.OS == "windows" {
				return []string{filepath.Join(m.appData(), "Zed", "settings.json")}
			}
			return []string{filepath.Join(m.configHome(), "zed", "settings.json")}
		},
		restartNote: "Zed loads the server by itself.",
	},
	{
		id: "opencode", title: "opencode", programs: []string{"opencode"}, format: jsonFormat{}, serversPath: []string{"mcp"}, entry: newOpencodeEntry,
		files: func(m Machine) []string {
			dir := filepath.Join(m.configHome(), "opencode")
			return []string{filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc")}
		},
		restartNote: "Start opencode again.",
	},
	{
		id: "goose", title: "Goose", programs: []string{"goose"}, format: yamlFormat{}, serversPath: []string{"extensions"}, entry: newGooseEntry,
		files: func(m Machine) []string {
			if m.OS == "windows" {
				return []string{filepath.Join(m.appData(), "Block", "goose", "config", "config.yaml")}
			}
			return []string{filepath.Join(m.configHome(), "goose", "config.yaml")}
		},
		restartNote: "Start a new session of Goose.",
	},
	{
		id: "cline", title: "Cline", format: jsonFormat{}, serversPath: mcpServersPath, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.appData(), "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")}
		},
		restartNote: "Cline loads the server by itself.",
	},
}

// ClientIDs returns the IDs of all MCP clients that setup supports.
func ClientIDs() []string {
	var ids []string
	for _, knownClient := range knownClients {
		ids = append(ids, knownClient.id)
	}
	return ids
}

// Clients returns all MCP clients that setup supports. The result isInstalled reports whether an MCP client seems to be
// installed on the machine.
func Clients(m Machine) (clients []Client, isInstalled func(Client) bool) {
	installedPrograms := map[string]bool{}
	for _, knownClient := range knownClients {
		files := knownClient.files(m)
		file := files[0]
		for i := len(files) - 1; i >= 0; i-- {
			if fileExists(files[i]) {
				file = files[i]
			}
		}
		clients = append(clients, Client{
			ID: knownClient.id, Title: knownClient.title, File: file, RestartNote: knownClient.restartNote, format: knownClient.format, serversPath: knownClient.serversPath, entry: knownClient.entry,
		})
		installedPrograms[knownClient.id] = fileExists(file) || fileExists(filepath.Dir(file)) && filepath.Dir(file) != m.Home
		for _, program := range knownClient.programs {
			if _, err := m.LookPath(program); err == nil {
				installedPrograms[knownClient.id] = true
			}
		}
	}
	return clients, func(c Client) bool { return installedPrograms[c.ID] }
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
