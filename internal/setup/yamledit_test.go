package setup

import (
	"path/filepath"
	"testing"
)

func TestYAMLServerIsEditedInPlace(t *testing.T) {
	for name, c := range map[string]struct{ textBefore, textAfter string }{
		"block": {
			"a: 1\nextensions:\n  other: {x: 1} # y\n  opentabs: # header\n    # above\n    timeout: 900 # keep\n    cmd: '/old' # program\n    description: \"mine\" # text\n    enabled: true\n    args: [mcp] # words\n    type: stdio\n    name: opentabs\n    envs:\n      # port\n      OPENTABS_PORT: \"9000\" # nine\n      OPENTABS_HOME: /old\n      OPENTABS_CLIENT_TOKEN: otc_0 # token\n  # the next\n  last:\n    x: 1\nb: 2 # end\n",
			"a: 1\nextensions:\n  other: {x: 1} # y\n  opentabs: # header\n    # above\n    timeout: 900 # keep\n    cmd: /bin/opentabs # program\n    description: \"mine\" # text\n    enabled: true\n    args: [mcp] # words\n    type: stdio\n    name: opentabs\n    envs:\n      # port\n      OPENTABS_PORT: \"9000\" # nine\n      OPENTABS_CLIENT_TOKEN: otc_1 # token\n  # the next\n  last:\n    x: 1\nb: 2 # end\n",
		},
		"wide indentation": {
			"extensions:\n    opentabs:\n        cmd: /old # program\n        timeout: 900\n    # end\n\n\nb: 2\n",
			"extensions:\n    opentabs:\n        cmd: /bin/opentabs # program\n        timeout: 900\n        args:\n            - mcp\n        enabled: true\n        envs:\n            OPENTABS_CLIENT_TOKEN: otc_1\n        name: opentabs\n        type: stdio\n    # end\n\n\nb: 2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkCommentsAreKept(t, "goose", c.textBefore, c.textAfter)
		})
	}
}

func TestYAMLEditKeepsComments(t *testing.T) {
	m := newMachine(t)
	client := clientOf(t, m, "goose")
	writer := Writer{Dir: filepath.Join(m.Home, "state")}
	setUpClient(t, writer, client, testCommand)
	writeConfig(t, client, "extensions:\n  opentabs:\n    cmd: /old\n    envs: {OPENTABS_CLIENT_TOKEN: otc_1}\n    # own\n\n  # the next\n  last:\n    x: 1\n")
	const want = "extensions:\n\n  # the next\n  last:\n    x: 1\n"
	if _, err := writer.Undo(client); err != nil || readText(t, client.File) != want {
		t.Errorf("Undo returned %v, content = %q, want %q", err, readText(t, client.File), want)
	}
}
