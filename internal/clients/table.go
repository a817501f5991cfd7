package clients

import "time"

// unknownClient is the profile of every MCP client that the variable table does not list.
var unknownClient = Profile{
	Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unverified,
	OutputSchemas: unverified, MaxListedTools: defaultToolCap,
	Note: "the defaults of the official TypeScript SDK; the Python SDK has no default limit",
	Sources: []Source{
		{"https://github.com/modelcontextprotocol/typescript-sdk/issues/2250", "2026-06-03"},
		{"https://github.com/modelcontextprotocol/python-sdk/issues/1374", "2026-11-21"},
	},
}

var capabilities = Source{"https://github.com/apify/mcp-client-capabilities", "2026-02-17"}

// outputSchemasOfClaudeCode is the source for the fact that Claude Code does not pass output
// schemas to its model.
var outputSchemasOfClaudeCode = Source{"https://github.com/anthropics/claude-code/issues/54197", "2026-04-28"}

// If sources name different timeouts, the table lists the shorter one, because an unnecessary job costs less than a
// lost result. If no source mentions a feature, the feature's value is unverified.
var table = []Profile{
	{
		Client: "opentabs call", Names: []string{"opentabs call"},
		ShowsProgress: supported, Images: unsupported, ListChanged: unsupported, Elicitation: unsupported,
		ReadsOnlyStructuredContent: true,
		Note:                       "waits until the call has ended, by the server's limits",
		OutputSchemas:              unsupported, MaxListedTools: UnlimitedTools,
	},
	{
		Client: "Claude Code", Names: []string{"claude-code"}, FromVersion: "2.1.187",
		Timeout: 30 * time.Minute, HTTPTimeout: 5 * time.Minute, ProgressRestartsTimeout: true,
		ShowsProgress: supported, Images: unverified, ListChanged: supported, Elicitation: supported,
		ReadsOnlyStructuredContent: true,
		Note:                       "progress does not restart a timeout that the user set for the server (MCP_TOOL_TIMEOUT)",
		OutputSchemas:              unsupported, MaxListedTools: 300, Defers: true,
		Sources: []Source{
			{"https://github.com/vfarcic/dot-ai/pull/708", "2026-08-05"},
			{"https://github.com/laurigates/claude-plugins/pull/2059", "2026-07-13"},
			{"https://github.com/QwenLM/qwen-code/issues/6047", "2026-06-30"},
			{"https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2398", "2026-03-14"},
			{"https://canimcp.dev/client/claude-code", "2026-11-21"},
			{"https://github.com/anthropics/claude-code/issues/79944", "2026-09-22"},
			outputSchemasOfClaudeCode,
		},
	},
	{
		Client: "Claude Code", Names: []string{"claude-code"}, FromVersion: "2.1.76", BeforeVersion: "2.1.187",
		Timeout: 5 * time.Minute, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: supported,
		ReadsOnlyStructuredContent: true,
		Note:                       "shows progress from 2.1.153 on",
		OutputSchemas:              unsupported, MaxListedTools: 300, Defers: true,
		Sources: []Source{
			{"https://github.com/anthropics/claude-agent-sdk-typescript/issues/118", "2026-01-05"},
			{"https://github.com/anthropics/claude-ai-mcp/issues/804", "2026-08-07"},
			{"https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2398", "2026-03-14"},
			{"https://github.com/anthropics/claude-code/issues/9962", "2025-12-02"},
			{"https://github.com/anthropics/claude-code/issues/55677", "2026-05-02"},
		},
	},
	{
		Client: "Claude Code", Names: []string{"claude-code"}, BeforeVersion: "2.1.76",
		Timeout: defaultTimeout, ShowsProgress: unsupported, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unsupported, MaxListedTools: 300, Defers: true,
		Sources: []Source{
			{"https://github.com/anthropics/claude-code/issues/470", "2025-03-13"},
			{"https://github.com/modelcontextprotocol/modelcontextprotocol/pull/2398", "2026-03-14"},
		},
	},
	{
		Client: "Claude Desktop, Code tab and Cowork", Names: []string{"local-agent-mode-*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Sources: []Source{
			{"https://github.com/anthropics/claude-code/issues/63379", "2026-05-28"},
			{"https://github.com/anthropics/claude-code/issues/58687", "2026-05-13"},
			{"https://github.com/anthropics/claude-code/issues/96043", "2026-09-22"},
		},
	},
	{
		Client: "Claude Desktop and claude.ai", Names: []string{"claude-ai"},
		Timeout: defaultTimeout, ShowsProgress: unsupported, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "newer releases wait 4 minutes, but send the same version",
		Sources: []Source{
			{"https://github.com/anthropics/claude-code/issues/22542", "2026-02-02"},
			{"https://github.com/anthropics/claude-code/issues/65643", "2026-06-05"},
			{"https://github.com/anthropics/claude-ai-mcp/issues/804", "2026-08-07"},
			{"https://github.com/anthropics/claude-ai-mcp/issues/153", "2026-08-12"},
		},
	},
	{
		Client: "Cursor", Names: []string{"cursor-vscode", "cursor*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: supported,
		OutputSchemas: unverified, MaxListedTools: 60,
		Note: "no source for its timeout, so the default of the SDK; used 40 tools of all servers together, later 80",
		Sources: []Source{
			{"https://canimcp.dev/client/cursor-vscode", "2026-11-21"},
			capabilities,
			{"https://github.com/anyproto/anytype-mcp/issues/5", "2025-06-25"},
		},
	},
	{
		Client: "VS Code", Names: []string{"Visual Studio Code*", "Visual-Studio-Code*", "VSCodium*"},
		Timeout: 5 * time.Minute, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: supported,
		OutputSchemas: unverified, MaxListedTools: 100,
		Note: "1.103 timed out after 5 minutes in spite of progress; newer versions reportedly wait until the user stops them",
		Sources: []Source{
			{"https://github.com/microsoft/vscode/issues/261734", "2025-08-15"},
			{"https://github.com/microsoft/vscode/issues/311595", "2026-04-21"},
			{"https://github.com/microsoft/vscode-copilot-release/issues/11653", "2025-06-05"}, // at most 128 tools for all servers together
			capabilities,
		},
	},
	{
		Client: "Windsurf", Names: []string{"windsurf*", "devin-windsurf*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: 60,
		Note:    "no source for its timeout, so the default of the SDK; used 50 tools of all servers together, later 100",
		Sources: []Source{{"https://github.com/Zhwt/go-mcp-mysql/issues/3", "2025-04-16"}, capabilities},
	},
	{
		Client: "Zed", Names: []string{"Zed"},
		Timeout: 60 * time.Second, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "the user can set up to 10 minutes (context_server_timeout)",
		Sources: []Source{
			{"https://github.com/zed-industries/zed/pull/45378", "2025-12-19"},
			{"https://github.com/zed-industries/zed/pull/42453", "2025-11-11"},
			capabilities,
		},
	},
	{
		Client: "Cline", Names: []string{"Cline"},
		Timeout: 60 * time.Second, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note:    "the user can set a longer timeout for each server",
		Sources: []Source{{"https://github.com/cline/cline/pull/8509", "2026-01-10"}, capabilities},
	},
	{
		Client: "Gemini CLI", Names: []string{"gemini-cli*"}, FromVersion: "0.4.0",
		Timeout: 10 * time.Minute, ShowsProgress: supported, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "shows progress since February 2026",
		Sources: []Source{
			{"https://github.com/QwenLM/qwen-code/issues/574", "2025-09-10"},
			{"https://github.com/google-gemini/gemini-cli/pull/19046", "2026-02-14"},
			{"https://github.com/google-gemini/gemini-cli/issues/22249", "2026-03-13"},
		},
	},
	{
		Client: "Gemini CLI", Names: []string{"gemini-cli*"}, BeforeVersion: "0.4.0",
		Timeout: 60 * time.Second, ShowsProgress: unsupported, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note:    "its version is 0.0.1 in many releases; those count as old",
		Sources: []Source{{"https://github.com/google-gemini/gemini-cli/issues/7324", "2025-08-28"}},
	},
	{
		Client: "Codex", Names: []string{"codex*"}, FromVersion: "0.146.0",
		Timeout: 5 * time.Minute, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: supported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "the timeout is paused while the user fills in a form",
		Sources: []Source{
			{"https://github.com/openai/codex/pull/28234", "2026-06-15"},
			{"https://github.com/openai/codex/pull/17566", "2026-04-12"},
			capabilities,
		},
	},
	{
		Client: "Codex", Names: []string{"codex*"}, BeforeVersion: "0.146.0",
		Timeout: 60 * time.Second, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unverified,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "waited 60 s, later 120 s; the version of the change is unknown",
		Sources: []Source{
			{"https://zuplo.com/learn/mcp/compatibility/clients/codex-cli", "2026-07-31"},
			{"https://github.com/openai/codex/pull/28234", "2026-06-15"},
		},
	},
	{
		Client: "goose", Names: []string{"goose*"},
		Timeout: 3 * time.Minute, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unverified,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "5 minutes in most versions (DEFAULT_EXTENSION_TIMEOUT), 3 in some",
		Sources: []Source{
			{"https://github.com/aaif-goose/goose/blob/main/crates/goose/src/config/extensions.rs", "2026-11-21"},
			{"https://github.com/modelcontextprotocol/rust-sdk/issues/834", "2026-05-05"},
		},
	},
	{
		Client: "LibreChat", Names: []string{"@librechat/*", "librechat*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unsupported,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Note: "supports restarting the timeout with progress, but sent no progress token",
		Sources: []Source{
			{"https://github.com/danny-avila/LibreChat/issues/6626", "2025-03-30"},
			{"https://github.com/danny-avila/LibreChat/pull/10855", "2025-12-08"},
			capabilities,
		},
	},
	{
		Client: "MCP Inspector", Names: []string{"inspector*", "mcp-inspector*"},
		Timeout: 60 * time.Second, ShowsProgress: supported, Images: unverified, ListChanged: unverified, Elicitation: supported,
		OutputSchemas: supported, MaxListedTools: UnlimitedTools,
		Note: "waits 5 minutes without progress, but only 60 s in total with progress",
		Sources: []Source{
			{"https://github.com/modelcontextprotocol/inspector/blob/main/client/src/lib/constants.ts", "2026-11-21"},
			{"https://github.com/infobip/infobip-openapi-mcp/pull/41", "2026-05-13"},
		},
	},
	{
		Client: "opencode", Names: []string{"opencode*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: supported, Elicitation: unverified,
		OutputSchemas: unverified, MaxListedTools: defaultToolCap,
		Sources: []Source{
			{"https://github.com/anomalyco/opencode/issues/28186", "2026-05-18"},
			{"https://github.com/anomalyco/opencode/pull/5913", "2025-12-21"},
		},
	},
	{
		Client: "GitHub Copilot CLI", Names: []string{"github-copilot*"},
		Timeout: defaultTimeout, ShowsProgress: unverified, Images: unverified, ListChanged: unverified, Elicitation: unverified,
		OutputSchemas: unverified, MaxListedTools: 300, Defers: true,
		Sources: []Source{{"https://github.com/github/copilot-cli/issues/1535", "2026-02-19"}, capabilities},
	},
}
