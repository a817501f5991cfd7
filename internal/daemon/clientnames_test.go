package daemon

import (
	"slices"
	"testing"

	"opentabs/dispatch"
	"opentabs/mcpserver/transport"
)

// TestAgentNamesOmitsCommands checks that the side panel lists each agent once, and lists no opentabs
// command as an agent.
func TestAgentNamesOmitsCommands(t *testing.T) {
	token := transport.Credential{Kind: dispatch.CredentialToken, Token: "laptop"}
	got := agentNames([]transport.ClientInfo{
		{Credential: token, Name: "claude-code"},
		{Credential: token, Name: "claude-code"},
		{Credential: token},
		{Credential: transport.Credential{Kind: dispatch.CredentialStdio}, Name: "cur\u202esor"},
		{Credential: transport.Credential{Kind: dispatch.CredentialStdio}, Name: dispatch.CommandNamePrefix + "call"},
		{Credential: transport.Credential{Kind: dispatch.CredentialCommandLine}, Name: "other"},
	})
	if want := []string{"claude-code", "cursor", "laptop"}; !slices.Equal(got, want) {
		t.Errorf("the names of connected agents are %q, want %q", got, want)
	}
}
