package toolcall

import (
	"cmp"
	"encoding/json"
	"fmt"
	"opentabs/dispatch"
	"opentabs/internal/callview"
	"opentabs/internal/mcpclient"
	"opentabs/internal/rawjson"
	"opentabs/internal/terminal"
	"opentabs/wire"
	"strings"
)

func toTerminalProgress(p mcpclient.Progress, showAll bool) terminal.Progress {
	progress := terminal.Progress{Progress: p.Progress, Total: p.Total, HasTotal: p.HasTotal}
	if showAll || p.Audience == dispatch.AudienceUser {
		progress.Message = callview.WithStatusWord(p.StatusWord, p.Message)
	}
	return progress
}

func printResult(terminalOut *terminal.Output, r mcpclient.Result, isTextOutput bool) error {
	if isTextOutput {
		if len(r.Content) == 0 && r.StructuredContent != nil { // the server omits the text copy of a large structured result
			terminalOut.PrintText(string(r.StructuredContent))
		}
		for _, c := range r.Content {
			terminalOut.PrintText(contentText(c))
		}
		return nil
	}
	return printJSONResult(terminalOut, r)
}

// A result with several parts, such as an object and an image, becomes an array.
func printJSONResult(terminalOut *terminal.Output, r mcpclient.Result) error {
	var parts [][]byte
	if r.StructuredContent != nil {
		parts = append(parts, r.StructuredContent)
	}
	for _, c := range r.Content {
		if c.Type == "text" && r.StructuredContent != nil {
			continue // the text is a copy of the structured content
		}
		parts = append(parts, contentJSON(c))
	}
	switch len(parts) {
	case 0:
		return terminalOut.PrintJSON([]byte("null"))
	case 1:
		return terminalOut.PrintJSON(parts[0])
	}
	return terminal.PrintJSONList(terminalOut, parts)
}

// A text that is JSON stays unchanged, other text becomes a JSON string, and any other block becomes an object.
func contentJSON(c mcpclient.Content) []byte {
	switch {
	case c.Type != "text":
		return c.Raw
	case json.Valid([]byte(c.Text)):
		return []byte(c.Text)
	}
	return rawjson.Encode(c.Text)
}

func contentText(c mcpclient.Content) string {
	if c.Type == "text" {
		return c.Text
	}
	kind := strings.TrimSpace(c.Type + " " + c.MIMEType)
	return fmt.Sprintf("[%s, %d characters; see --output json]", kind, len(c.Raw))
}

// The error code and the sentence for the user come from the member opentabs/error of _meta, or else from the text
// content.
func readFailure(r mcpclient.Result) error {
	var info struct {
		Code    wire.ErrorCode `json:"code"`
		ForUser string         `json:"for_user"`
	}
	if json.Unmarshal(r.Meta["opentabs/error"], &info) != nil {
		info.Code, info.ForUser = "", ""
	}
	if info.ForUser == "" {
		var shownTexts []string
		for _, c := range r.Content {
			shownTexts = append(shownTexts, contentText(c))
		}
		info.ForUser = cmp.Or(strings.Join(shownTexts, "\n"), "the tool failed without an error message")
	}
	return &Failure{info.Code, info.ForUser}
}
