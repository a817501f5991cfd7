package setup

import (
	"path/filepath"
	"testing"
)

func TestTOMLServerIsEditedInPlace(t *testing.T) {
	for name, c := range map[string]struct{ textBefore, textAfter string }{
		"tables": {
			"# mine\n[mcp_servers.opentabs] # header\n# above\nstartup_timeout_sec = 20 # keep\ncommand = \"/old\" # program\nargs = [\n  \"mcp\", # the command\n]\n\n[mcp_servers.opentabs.env] # variables\nOPENTABS_PORT = \"9000\" # port\nOPENTABS_HOME = \"/old\"\nOPENTABS_CLIENT_TOKEN = 'otc_0'\n# end\n\n[tui] # last\nx = 1\n",
			"# mine\n[mcp_servers.opentabs] # header\n# above\nstartup_timeout_sec = 20 # keep\ncommand = '/bin/opentabs' # program\nargs = [\n  \"mcp\", # the command\n]\n\n[mcp_servers.opentabs.env] # variables\nOPENTABS_PORT = \"9000\" # port\nOPENTABS_CLIENT_TOKEN = 'otc_1'\n# end\n\n[tui] # last\nx = 1\n",
		},
		"no variables": {
			"[mcp_servers.opentabs] # header\nz = 1\ncommand = '/old' # program\nargs = ['serve'] # words\n# end\n\n[tui]\nx = 1\n",
			"[mcp_servers.opentabs] # header\nz = 1\ncommand = '/bin/opentabs' # program\nargs = ['mcp'] # words\n\n[mcp_servers.opentabs.env]\nOPENTABS_CLIENT_TOKEN = 'otc_1'\n# end\n\n[tui]\nx = 1\n",
		},
		"no end of line": {
			"[mcp_servers.opentabs]\ncommand = '/old' # program",
			"[mcp_servers.opentabs]\ncommand = '/bin/opentabs' # program\nargs = ['mcp']\n\n[mcp_servers.opentabs.env]\nOPENTABS_CLIENT_TOKEN = 'otc_1'\n",
		},
		"variables in braces": {
			"[mcp_servers.opentabs]\nenv = {B = \"#1\", OPENTABS_HOME = '/old', A = 1} # env\ncommand = '/old'\nargs = ['mcp']\n",
			"[mcp_servers.opentabs]\nenv = { B = \"#1\", A = 1, OPENTABS_CLIENT_TOKEN = 'otc_1' } # env\ncommand = '/bin/opentabs'\nargs = ['mcp']\n",
		},
		"server in braces": {
			"[mcp_servers]\n# before\nopentabs = { command = '/old', x = [1, 2], env = { A = '1' } } # own\nother = { command = 'y' }\n",
			"[mcp_servers]\n# before\nopentabs = { command = '/bin/opentabs', x = [1, 2], env = { A = '1', OPENTABS_CLIENT_TOKEN = 'otc_1' }, args = ['mcp'] } # own\nother = { command = 'y' }\n",
		},
		"servers in braces": {
			"mcp_servers = { other = { command = 'y' }, opentabs = { command = '/old' } } # all\n",
			"mcp_servers = { other = { command = 'y' }, opentabs = { command = '/bin/opentabs', args = ['mcp'], env = {OPENTABS_CLIENT_TOKEN = 'otc_1'} } } # all\n",
		},
		"dotted keys": {
			"[mcp_servers]\nopentabs.command = '/old' # program\nopentabs.args = ['mcp']\nopentabs.env.OPENTABS_CLIENT_TOKEN = 'otc_0' # token\n",
			"[mcp_servers]\nopentabs.command = '/bin/opentabs' # program\nopentabs.args = ['mcp']\nopentabs.env.OPENTABS_CLIENT_TOKEN = 'otc_1' # token\n",
		},
		"quoted keys": {
			"[ \"mcp_servers\" . 'opentabs' ]\n\"command\" = '''\n/old''' # program\nargs = ['mcp']\nenv = { \"OPENTABS_CLIENT_TOKEN\" = 'otc_0' }\n",
			"[ \"mcp_servers\" . 'opentabs' ]\n\"command\" = '/bin/opentabs' # program\nargs = ['mcp']\nenv = { \"OPENTABS_CLIENT_TOKEN\" = 'otc_1' }\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			checkCommentsAreKept(t, "codex", c.textBefore, c.textAfter)
		})
	}
}

func TestTOMLServerIsRemoved(t *testing.T) {
	for textBefore, textAfter := range map[string]string{
		"[mcp_servers]\nopentabs.command = '/old'\nopentabs.args = [\n 'mcp',\n]\nopentabs.env.OPENTABS_CLIENT_TOKEN = 'otc_1'\nother.command = 'y' # y\n": "[mcp_servers]\nother.command = 'y' # y\n",
		"mcp_servers.opentabs = { command = '/old', env = { OPENTABS_CLIENT_TOKEN = 'otc_1' } }\na = 1":                                                    "a = 1",
		"[mcp_servers]\nother = {}\n# own\nopentabs = { command = '/old', env = { OPENTABS_CLIENT_TOKEN = 'otc_1' } }\n[tui]\n":                            "[mcp_servers]\nother = {}\n# own\n[tui]\n",
	} {
		m := newMachine(t)
		client := clientOf(t, m, "codex")
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		writeConfig(t, client, textBefore)
		if _, err := writer.Undo(client); err != nil || readText(t, client.File) != textAfter {
			t.Errorf("Undo of %q returned %v, content = %q, want %q", textBefore, err, readText(t, client.File), textAfter)
		}
	}
}

func checkCommentsAreKept(t *testing.T, id, textBefore, textAfter string) {
	t.Helper()
	expectedLayouts := newlineAndBOMVariants(textAfter)
	for i, configText := range newlineAndBOMVariants(textBefore) {
		m := newMachine(t)
		client := clientOf(t, m, id)
		writeConfig(t, client, configText)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		if got := readText(t, client.File); got != expectedLayouts[i] {
			t.Errorf("configuration after setup =\n%q\nwant\n%q", got, expectedLayouts[i])
		}
		if secondChange, err := PlanChange(client, testCommand); err != nil || !secondChange.IsEmpty() {
			t.Errorf("second change = %v\n%s\nwant none", err, secondChange.Diff())
		}
	}
}
