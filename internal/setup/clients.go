package setup

import (
	"os"
	"os/exec"
	"path/filepath"
)

// serverName is the name of opentabs in the configurations of clients.
const serverName = "opentabs"

// Machine is where clients are searched for.
type Machine struct {
	// OS is the operating system, as runtime.GOOS has it.
	OS string
	// Home is the home directory of the user.
	Home string
	// Getenv is os.Getenv except in tests.
	Getenv func(string) string
	// LookPath is exec.LookPath except in tests.
	LookPath func(string) (string, error)
}

// ThisMachine returns the machine that the program runs on. The error names a missing
// home directory.
func ThisMachine(goos string, getenv func(string) string) (Machine, error) {
	home, err := os.UserHomeDir()
	return Machine{OS: goos, Home: home, Getenv: getenv, LookPath: exec.LookPath}, err
}

// appData returns the directory in which desktop programs keep their settings.
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

// configHome returns the directory of the XDG specification, which some programs use on
// each operating system.
func (m Machine) configHome() string {
	if dir := m.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// Client is one MCP client that opentabs can be added to.
type Client struct {
	// ID names the client on the command line, Title for the user.
	ID, Title string
	// File is the path of the configuration of the user; the file need not exist.
	File string
	// RestartNote is what the user does before the client uses the new configuration.
	RestartNote string

	format format
	// servers is the path of the object with the servers in the configuration.
	servers []string
	// entry returns the value for one server.
	entry func(Command) any
}

// Command is what a client runs to start an MCP server over stdio.
type Command struct {
	Path string
	Args []string
	Env  map[string]string
}

// standardEntry is the form of a server that most clients use.
type standardEntry struct {
	Type    string            `json:"type,omitempty" toml:"type,omitempty"`
	Command string            `json:"command" toml:"command"`
	Args    []string          `json:"args" toml:"args"`
	Env     map[string]string `json:"env,omitempty" toml:"env,omitempty"`
}

func newStandardEntry(c Command) any {
	return standardEntry{Command: c.Path, Args: c.Args, Env: c.Env}
}

// newTypedEntry is for clients that require the type of a server.
func newTypedEntry(c Command) any {
	return standardEntry{Type: "stdio", Command: c.Path, Args: c.Args, Env: c.Env}
}

// opencodeEntry is the form of a local server in opencode.
type opencodeEntry struct {
	Type        string            `json:"type"`
	Command     []string          `json:"command"`
	Enabled     bool              `json:"enabled"`
	Environment map[string]string `json:"environment,omitempty"`
}

func newOpencodeEntry(c Command) any {
	return opencodeEntry{Type: "local", Command: append([]string{c.Path}, c.Args...), Enabled: true, Environment: c.Env}
}

// gooseEntry is the form of an extension of Goose. Timeout is in seconds.
type gooseEntry struct {
	Enabled bool              `yaml:"enabled"`
	Type    string            `yaml:"type"`
	Name    string            `yaml:"name"`
	Cmd     string            `yaml:"cmd"`
	Args    []string          `yaml:"args"`
	Envs    map[string]string `yaml:"envs,omitempty"`
	Timeout int               `yaml:"timeout"`
}

// gooseTimeoutSeconds is the hard limit of calls of opentabs.
const gooseTimeoutSeconds = 300

func newGooseEntry(c Command) any {
	return gooseEntry{Enabled: true, Type: "stdio", Name: serverName, Cmd: c.Path, Args: c.Args, Envs: c.Env, Timeout: gooseTimeoutSeconds}
}

// knownClient is one row of the table of clients. Several files are tried in order; the
// first that exists is used, else the first.
type knownClient struct {
	id, title string
	files     func(Machine) []string
	// programs are names in PATH that show that the client is installed. Else the folder
	// of a file must exist.
	programs    []string
	format      format
	servers     []string
	entry       func(Command) any
	restartNote string
}

// standardServers is the path of the servers in the files of most clients.
var standardServers = []string{"mcpServers"}

// knownClients are the clients that setup supports. The sources of each row were read in
// November 2026:
//
//   - Claude Code: code.claude.com/docs/en/mcp (user scope, ~/.claude.json)
//   - Claude Desktop: modelcontextprotocol.io/docs/develop/connect-local-servers
//   - Cursor: cursor.com/docs/context/mcp
//   - VS Code: code.visualstudio.com/docs/agents/reference/mcp-configuration
//   - Codex: developers.openai.com/codex/mcp
//   - Gemini CLI: geminicli.com/docs/tools/mcp-server
//   - Windsurf: docs.windsurf.com/windsurf/cascade/mcp
//   - Zed: zed.dev/docs/ai/mcp
//   - opencode: opencode.ai/docs/mcp-servers
//   - Goose: block.github.io/goose/docs/guides/config-files
//   - Cline: docs.cline.bot/mcp/configuring-mcp-servers
var knownClients = []knownClient{
	{
		id: "claude-code", title: "Claude Code", programs: []string{"claude"}, format: jsonFormat{}, servers: standardServers, entry: newTypedEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.Home, ".claude.json")} },
		restartNote: "Start a new session of Claude Code.",
	},
	{
		id: "claude-desktop", title: "Claude Desktop", format: jsonFormat{}, servers: standardServers, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.appData(), "Claude", "claude_desktop_config.json")}
		},
		restartNote: "Quit Claude Desktop and start it again.",
	},
	{
		id: "cursor", title: "Cursor", format: jsonFormat{}, servers: standardServers, entry: newStandardEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.Home, ".cursor", "mcp.json")} },
		restartNote: "Cursor loads the server by itself; switch it on in Settings, MCP, if Cursor asks.",
	},
	{
		id: "vscode", title: "VS Code", format: jsonFormat{}, servers: []string{"servers"}, entry: newTypedEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.appData(), "Code", "User", "mcp.json")} },
		restartNote: "Start the server in VS Code with the command \"MCP: List Servers\".",
	},
	{
		id: "codex", title: "Codex", programs: []string{"codex"}, format: tomlFormat{}, servers: []string{"mcp_servers"}, entry: newStandardEntry,
		files: func(m Machine) []string {
			if dir := m.Getenv("CODEX_HOME"); dir != "" {
				return []string{filepath.Join(dir, "config.toml")}
			}
			return []string{filepath.Join(m.Home, ".codex", "config.toml")}
		},
		restartNote: "Start a new session of Codex.",
	},
	{
		id: "gemini-cli", title: "Gemini CLI", programs: []string{"gemini"}, format: jsonFormat{}, servers: standardServers, entry: newStandardEntry,
		files:       func(m Machine) []string { return []string{filepath.Join(m.Home, ".gemini", "settings.json")} },
		restartNote: "Start a new session of Gemini CLI.",
	},
	{
		id: "windsurf", title: "Windsurf", format: jsonFormat{}, servers: standardServers, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.Home, ".codeium", "windsurf", "mcp_config.json")}
		},
		restartNote: "Press the refresh button of the MCP servers in Windsurf.",
	},
	{
		id: "zed", title: "Zed", programs: []string{"zed", "zeditor"}, format: jsonFormat{}, servers: []string{"context_servers"}, entry: newStandardEntry,
		files: func(m Machine) []string {
			if m.OS == "windows" {
				return []string{filepath.Join(m.appData(), "Zed", "settings.json")}
			}
			return []string{filepath.Join(m.configHome(), "zed", "settings.json")}
		},
		restartNote: "Zed loads the server by itself.",
	},
	{
		id: "opencode", title: "opencode", programs: []string{"opencode"}, format: jsonFormat{}, servers: []string{"mcp"}, entry: newOpencodeEntry,
		files: func(m Machine) []string {
			dir := filepath.Join(m.configHome(), "opencode")
			return []string{filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc")}
		},
		restartNote: "Start opencode again.",
	},
	{
		id: "goose", title: "Goose", programs: []string{"goose"}, format: yamlFormat{}, servers: []string{"extensions"}, entry: newGooseEntry,
		files: func(m Machine) []string {
			if m.OS == "windows" {
				return []string{filepath.Join(m.appData(), "Block", "goose", "config", "config.yaml")}
			}
			return []string{filepath.Join(m.configHome(), "goose", "config.yaml")}
		},
		restartNote: "Start a new session of Goose.",
	},
	{
		id: "cline", title: "Cline", format: jsonFormat{}, servers: standardServers, entry: newStandardEntry,
		files: func(m Machine) []string {
			return []string{filepath.Join(m.appData(), "Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")}
		},
		restartNote: "Cline loads the server by itself.",
	},
}

// Clients returns all clients that setup supports. isInstalled reports for each whether the
// client seems to be installed on the machine.
func Clients(m Machine) (clients []Client, isInstalled func(Client) bool) {
	installed := map[string]bool{}
	for _, known := range knownClients {
		files := known.files(m)
		file := files[0]
		for i := len(files) - 1; i >= 0; i-- {
			if exists(files[i]) {
				file = files[i]
			}
		}
		clients = append(clients, Client{
			ID: known.id, Title: known.title, File: file, RestartNote: known.restartNote, format: known.format, servers: known.servers, entry: known.entry,
		})
		installed[known.id] = exists(file) || exists(filepath.Dir(file)) && filepath.Dir(file) != m.Home
		for _, program := range known.programs {
			if _, err := m.LookPath(program); err == nil {
				installed[known.id] = true
			}
		}
	}
	return clients, func(c Client) bool { return installed[c.ID] }
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
