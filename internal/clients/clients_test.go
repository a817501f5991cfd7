package clients

import (
	"net/url"
	"testing"
	"time"
)

func TestClientsOfStructuredContentOnly(t *testing.T) {
	for _, c := range []struct {
		name, version string
		want          bool
	}{{"claude-code", "2.1.280", true}, {"claude-code", "2.1.76", true}, {"claude-code", "2.0.10", false}, {"claude-code", "", false},
		{"claude-code (via mcp-remote 0.1)", "2.1.280", false}, {"opentabs call", "1.0.0", true}, {"claude-ai", "0.1.0", false}, {"", "", false}} {
		if got := Of(c.name, c.version).ReadsOnlyStructuredContent; got != c.want {
			t.Errorf("ReadsOnlyStructuredContent of the client %s %s = %v, want %v", c.name, c.version, got, c.want)
		}
	}
}

func TestFindProfile(t *testing.T) {
	for _, tt := range []struct {
		name, version, client string
		http                  bool
		timeout               time.Duration
		progressRestarts      bool
	}{
		{"claude-code", "2.1.222", "Claude Code", false, 30 * time.Minute, true},
		{"claude-code", "2.1.187", "Claude Code", true, 5 * time.Minute, true},
		{"claude-code", "2.1.186", "Claude Code", true, 5 * time.Minute, false},
		{"claude-code", "3", "Claude Code", false, 30 * time.Minute, true},
		{"claude-code", "", "Claude Code", false, time.Minute, false},
		{"CODEX-mcp-client", "0.146.0", "Codex", false, 5 * time.Minute, false},
		{"codex-mcp-client", "0.92.0", "Codex", false, time.Minute, false},
		{"codex-mcp-client", "v0.147.0-alpha.3", "Codex", false, 5 * time.Minute, false},
		{"gemini-cli-mcp-client-work", "0.33.1", "Gemini CLI", false, 10 * time.Minute, false},
		{"Visual Studio Code - Insiders", "1.110.0", "VS Code", false, 5 * time.Minute, false},
		{"VSCodium", "1.110.0", "VS Code", false, 5 * time.Minute, false},
		{"local-agent-mode-opentabs", "1.0.0", "Claude Desktop, Code tab and Cowork", false, time.Minute, false},
		{"opentabs call", "0.4.0", "opentabs call", true, 0, false},
		{"Zed", "1", "Zed", false, time.Minute, false},
		{"Zedd", "1", "", false, time.Minute, false},
		{"", "", "", true, time.Minute, false},
	} {
		p := Of(tt.name, tt.version)
		if p.Client != tt.client || p.TransportTimeout(tt.http) != (Timeout{tt.timeout, tt.progressRestarts}) {
			t.Errorf("client %q %q: profile %q, timeout %+v; want profile %q, timeout %+v", tt.name, tt.version, p.Client, p.TransportTimeout(tt.http), tt.client, Timeout{tt.timeout, tt.progressRestarts})
		}
	}
}

func TestMaxListedToolsOfClients(t *testing.T) {
	for name, want := range map[string]int{
		"Visual Studio Code": 100, "cursor-vscode": 60, "windsurf-client": 60, "github-copilot-developer": 300, "claude-code": 300,
		"opentabs call": UnlimitedTools, "": 128, "another-client": 128, "Zed": 128,
	} {
		p := Of(name, "1")
		if p.MaxListedTools != want || p.Defers != (want == 300) {
			t.Errorf("client %q: tool cap %d, defers descriptions = %t; want the tool cap %d", name, p.MaxListedTools, p.Defers, want)
		}
	}
	if Of("claude-code", "3").UsesOutputSchemas() || !Of("", "").UsesOutputSchemas() || !Of("cursor-vscode", "1").UsesOutputSchemas() {
		t.Error("UsesOutputSchemas is wrong for a client; want false for claude-code, and true for cursor-vscode and unknown clients")
	}
}

// TestTableProfilesAreConsistent checks that each profile names its sources, and that [Of] finds the profile by the
// client's name.
func TestTableProfilesAreConsistent(t *testing.T) {
	table := Table()
	if lastProfile := table[len(table)-1]; lastProfile.Client != "" || lastProfile.Timeout != defaultTimeout || lastProfile.ProgressRestartsTimeout {
		t.Errorf("last profile of the table = %+v; want the profile of unknown clients", lastProfile)
	}
	for _, p := range table {
		version := p.FromVersion
		if version == "" {
			version = "0"
		}
		for _, name := range p.Names {
			if got := Of(name, version); got.Client != p.Client || got.FromVersion != p.FromVersion {
				t.Errorf("Of(%s, %s) returned the profile %s; want %s", name, version, got.Client, p.Client)
			}
		}
		if p.Client != "" && len(p.Names) == 0 || p.Client != "opentabs call" && len(p.Sources) == 0 {
			t.Errorf("profile %q has %d names and %d sources; want at least one of each", p.Client, len(p.Names), len(p.Sources))
		}
		for _, s := range p.Sources {
			if u, err := url.Parse(s.URL); err != nil || u.Scheme != "https" || u.Host == "" {
				t.Errorf("source of the profile %s = %q; want an https URL", p.Client, s.URL)
			}
			if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
				t.Errorf("profile %s: the date of a source is invalid: %v", p.Client, err)
			}
		}
		for _, s := range []SupportLevel{p.ShowsProgress, p.Images, p.ListChanged, p.Elicitation, p.OutputSchemas} {
			if s != supported && s != unsupported && s != unverified {
				t.Errorf("profile %s: support of a feature = %q; want yes, no or unknown", p.Client, s)
			}
		}
	}
}
