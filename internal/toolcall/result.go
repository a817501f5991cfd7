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

// shownProgress converts a progress report for the terminal. The report's message is
// omitted unless it is for the user or showAll is true.
func shownProgress(p mcpclient.Progress, showAll bool) terminal.Progress {
	progress := terminal.Progress{Progress: p.Progress, Total: p.Total, HasTotal: p.HasTotal}
	if showAll || p.Audience == dispatch.AudienceUser {
		progress.Message = callview.WithStatusWord(p.StatusWord, p.Message)
	}
	return progress
}

// printResult writes a tool's result to stdout, as text or as JSON.
func printResult(out *terminal.Output, r mcpclient.Result, asText bool) error {
	if asText {
		if len(r.Content) == 0 && r.StructuredContent != nil { // the server omits the text copy of a large structured result
			out.PrintText(string(r.StructuredContent))
		}
		for _, c := range r.Content {
			out.PrintText(contentText(c))
		}
		return nil
	}
	return printJSONResult(out, r)
}

// printJSONResult writes a tool's result to stdout as one JSON document. A result with
// several parts, such as an object and an image, becomes an array.
func printJSONResult(out *terminal.Output, r mcpclient.Result) error {
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
		return out.PrintJSON([]byte("null"))
	case 1:
		return out.PrintJSON(parts[0])
	}
	return terminal.PrintJSONList(out, parts)
}

// contentJSON returns an MCP content block as JSON. A text that is JSON stays unchanged,
// any other text becomes a JSON string, and an image or another block becomes an object.
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

// readFailure returns the failure that an MCP result with isError describes. The error
// code and the sentence for the user come from the member opentabs/error of _meta. If
// _meta has no sentence for the user, readFailure uses the result's text content.
func readFailure(r mcpclient.Result) error {
	var info struct {
		Code    wire.ErrorCode `json:"code"`
		ForUser string         `json:"for_user"`
	}
	if json.Unmarshal(r.Meta["opentabs/error"], &info) != nil {
		info.Code, info.ForUser = "", ""
	}
	if info.ForUser == "" {
		var texts []string
		for _, c := range r.Content {
			texts = append(texts, contentText(c))
		}
		info.ForUser = cmp.Or(strings.Join(texts, "\n"), "the tool failed without an error message")
	}
	return &Failure{info.Code, info.ForUser}
}
