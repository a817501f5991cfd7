package setup

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileErrors(t *testing.T) {
	const correctFileAdvice = ": correct the file and run the command again, or add the server by hand"
	const addByHandAdvice = " cannot be changed, because its layout does not allow a change of only the server opentabs: add the server by hand"
	for _, c := range []struct{ id, configText, want, lines, locationText string }{
		{"gemini-cli", "{broken", " cannot be changed, because it is not valid JSON (line 1, column 2: invalid literal: broken)" + correctFileAdvice, "{\n  \"mcpServers\": {\n    \"opentabs\": {\n", ""},
		{"cursor", `{"mcpServers": []}`, ` cannot be changed, because "mcpServers" is not an object in braces, such as {}` + correctFileAdvice, "{\n  \"mcpServers\": {\n    \"opentabs\": {\n", ""},
		{"cursor", "[]", " cannot be changed, because the file is not an object in braces, such as {}" + correctFileAdvice, "{\n  \"mcpServers\": {\n    \"opentabs\": {\n", ""},
		{"codex", "model = \n", " cannot be changed, because it is not valid TOML (line 1, column ", "[mcp_servers.opentabs]\ncommand = '/bin/opentabs'\n", ""},
		{"codex", "mcp_servers = { other = {command = \"x\"} }\n", addByHandAdvice, "opentabs = {command = '/bin/opentabs', args = ['mcp'], env = {OPENTABS_CLIENT_TOKEN = 'otc_1'}}\n", "between the braces of mcp_servers, separated by a comma"},
		{"goose", "extensions: [a\n", " cannot be changed, because it is not valid YAML (line ", "extensions:\n  opentabs:\n", ""},
		{"goose", "- a\n", " cannot be changed, because the file is not a mapping of names to values" + correctFileAdvice, "extensions:\n  opentabs:\n", ""},
		{"goose", "extensions: {a: {enabled: true}}\n", addByHandAdvice, "opentabs: {enabled: true, type: stdio, ", "between the braces of extensions, separated by a comma"},
		{"goose", "a: 1\n---\nb: 2\n", addByHandAdvice, "extensions:\n  opentabs:\n", ""},
	} {
		m := newMachine(t)
		client := clientOf(t, m, c.id)
		writeConfig(t, client, c.configText)
		_, err := PlanChange(client, testCommand)
		var fileErr *FileError
		if !errors.As(err, &fileErr) {
			t.Errorf("%s with the content %q: error = %v, want a FileError", c.id, c.configText, err)
			continue
		}
		if !strings.HasPrefix(err.Error(), client.File+c.want) || !strings.HasPrefix(fileErr.ManualLines, c.lines) || fileErr.ManualLocation != c.locationText {
			t.Errorf("%s with the content %q: error = %v, lines =\n%s\nplace = %q, want %q, lines\n%s", c.id, c.configText, err, fileErr.ManualLines, fileErr.ManualLocation, c.want, c.lines)
		}
		if c.locationText == "" || !strings.HasPrefix(fileErr.ManualLines, "opentabs") {
			continue
		}
		closingBrace := strings.LastIndex(strings.TrimSpace(c.configText), "}")
		mergedConfig := strings.TrimRight(c.configText[:closingBrace], " ") + ", " + strings.TrimSpace(fileErr.ManualLines) + c.configText[closingBrace:]
		writeConfig(t, client, mergedConfig)
		if FindClientToken(client, "otc_") != "otc_1" {
			t.Errorf("%s: want the token otc_1 in the configuration with ManualLines, got\n%s", c.id, mergedConfig)
		}
	}
}

func TestUndoErrors(t *testing.T) {
	for _, c := range []struct{ id, configText, want string }{
		{"cursor", "[]", " cannot be changed, because the file is not an object in braces, such as {}: correct the file and run the command again, or remove the server opentabs by hand"},
		{"cursor", "{", " cannot be changed, because it is not valid JSON (line 1, column 2: "},
		{"goose", "extensions: {opentabs: {cmd: x, envs: {OPENTABS_CLIENT_TOKEN: otc_1}}}\n", " cannot be changed, because its layout does not allow a change of only the server opentabs: remove the server opentabs by hand"},
	} {
		m := newMachine(t)
		client := clientOf(t, m, c.id)
		writer := Writer{Dir: filepath.Join(m.Home, "state")}
		setUpClient(t, writer, client, testCommand)
		writeConfig(t, client, c.configText)
		undoReport, err := writer.Undo(client)
		if err == nil || !strings.HasPrefix(err.Error(), client.File+c.want) || readText(t, client.File) != c.configText {
			t.Errorf("%s: Undo of %q returned %q, error %v, want %q", c.id, c.configText, undoReport, err, c.want)
		}
	}
}
