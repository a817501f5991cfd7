package daemon

import (
	"cmp"
	"slices"
	"strings"

	"opentabs/dispatch"
	"opentabs/internal/plaintext"
	"opentabs/mcpserver/transport"
)

const maxClientName = 100

// agentNames omits the sessions of the opentabs command.
func agentNames(sessions []transport.ClientInfo) []string {
	var names []string
	for _, c := range sessions {
		name := plaintext.Clean(cmp.Or(c.Name, c.Token), maxClientName)
		if c.Kind != dispatch.CredentialCommandLine && name != "" && !strings.HasPrefix(name, dispatch.CommandNamePrefix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
