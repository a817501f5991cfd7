package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/wire"
)

func TestJobCancel(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: time.Second}), newCountingTool(90, `1`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("x", "1")
		job := jobFromMessages(t, c.requestAndRead(callText(`1`, `{}`, `{}`)))
		cancel := newToolCallMessage("job_cancel", `{"job":"`+job.JobID+`"}`, `{}`)
		if got := jobFromMessages(t, c.requestAndRead(cancel)); got.Status != wire.StatusCancelled || !strings.Contains(got.Hint, "was stopped") {
			t.Errorf("answer of job_cancel = %+v; want a cancelled job with the hint \"was stopped\"", got)
		}
		if why := <-s.stopReasons; why != "cancelled by an agent (x)" {
			t.Error(why)
		}
		if got := jobFromMessages(t, c.requestAndRead(cancel)); got.Status != wire.StatusCancelled || !strings.Contains(got.Hint, "job_result") {
			t.Errorf("second answer of job_cancel = %+v; want a cancelled job with a hint to job_result", got)
		}
		r := c.call(newToolCallMessage("job_result", `{"job":"`+job.JobID+`"}`, `{}`)).toolResultOf(t)
		if !r.IsError || !strings.Contains(string(r.Meta[metaError]), `"cancelled"`) {
			t.Errorf("answer of job_result = %+v; want the error cancelled", r)
		}
	})
}

// TestJobCancelBeforeItBegan checks that a job that is waiting for approval can be cancelled.
func TestJobCancelBeforeItBegan(t *testing.T) {
	o := dispatch.Options{Gates: []dispatch.Gate{alwaysAskGate{}}}
	runWithJobs(t, o, fixedDetachPolicy(DetachPolicy{After: time.Second}), newCountingTool(90, `1`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("x", "1")
		job := jobFromMessages(t, c.requestAndRead(callText(`1`, `{}`, `{}`)))
		got := jobFromMessages(t, c.requestAndRead(newToolCallMessage("job_cancel", `{"job":"`+job.JobID+`"}`, `{}`)))
		if got.Status != wire.StatusCancelled || got.Hint != "It had not started, so nothing was run." {
			t.Errorf("answer of job_cancel = %+v; want a cancelled job with the hint that nothing was run", got)
		}
	})
}

func TestUnknownJobIDs(t *testing.T) {
	runWithJobs(t, dispatch.Options{}, fixedDetachPolicy(DetachPolicy{After: time.Second}), newCountingTool(2, `1`), func(t *testing.T, s *jobServer) {
		c := s.connectAs("x", "1")
		var jobs []string
		for range 3 { // the server keeps two results
			jobs = append(jobs, jobFromMessages(t, c.requestAndRead(callText(`1`, `{}`, `{}`))).JobID)
			<-time.After(2 * time.Second)
		}
		for _, testCase := range []struct{ name, args, want string }{
			{"job_result", `{"job":"` + jobs[0] + `"}`, "is gone: it was dropped"},
			{"job_wait", `{"job":"` + jobs[0] + `"}`, "is gone"},
			{"job_wait", `{"job":"call_x"}`, `There is no job \"call_x\"`},
			{"job_cancel", `{"job":"call_x"}`, "There is no job"},
			{"job_result", `{}`, `The argument \"job\" is missing`},
			{"job_result", `{"job":7}`, "The arguments of job_result do not match its schema"},
			{"job_wait", `{"job":"` + jobs[2] + `","seconds":-1}`, "from 0 to 3600"},
			{"messages__echo", `{"_detach":"soon"}`, `The argument \"_detach\" is \"soon\", but it must be \"auto\", \"never\" or a number of seconds up to 3600.`},
			{"messages__echo", `{"_detach":-1}`, "-1"},
		} {
			m := c.call(newToolCallMessage(testCase.name, testCase.args, `{}`))
			if r := m.toolResultOf(t); !r.IsError || !strings.Contains(string(r.Meta[metaError]), "invalid_arguments") ||
				!strings.Contains(r.Content[0].Text, strings.ReplaceAll(testCase.want, `\"`, `"`)) {
				t.Errorf("%s with the arguments %s: answer %s; want the error invalid_arguments with the text %q", testCase.name, testCase.args, m.messageJSON, testCase.want)
			}
		}
		if m := c.call(newToolCallMessage("job_list", `{}`, `{}`)); !strings.Contains(m.messageJSON, `"result":"gone"`) || !strings.Contains(m.messageJSON, `"result":"kept"`) {
			t.Error(m.messageJSON)
		}
	})
}

func TestJobToolsAreListedPerClient(t *testing.T) {
	detach := func(client string) DetachPolicy {
		if client == "new" || client == "some" {
			return DetachPolicy{After: time.Minute}
		}
		return DetachPolicy{}
	}
	runWithJobs(t, dispatch.Options{}, detach, newCountingTool(1, `1`), func(t *testing.T, s *jobServer) {
		listRequest := `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":` + modernMeta + `}}`
		modernClient := &client{t: t, url: s.url, http: s.http, headers: http.Header{}, version: "2026-07-28"}
		modernClient.headers.Set("Mcp-Method", "tools/list")
		for name, response := range map[string]receivedMessage{
			"some":   s.connectAs("some", "1").call(strings.Replace(listRequest, modernMeta, `{}`, 1)),
			"modern": modernClient.call(listRequest),
			"other":  s.connectAs("other", "1").call(strings.Replace(listRequest, modernMeta, `{}`, 1)),
		} {
			var got struct {
				Tools []struct {
					Name   string `json:"name"`
					Schema struct {
						Properties map[string]any `json:"properties"`
					} `json:"inputSchema"`
				} `json:"tools"`
			}
			if err := json.Unmarshal(response.Result, &got); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range got.Tools {
				names = append(names, tool.Name)
				_, has := tool.Schema.Properties["_detach"]
				if has != (tool.Name == "messages__echo" && name != "other") {
					t.Errorf("client %s: tool %s has the argument _detach: %t; want it only for messages__echo and known clients", name, tool.Name, has)
				}
			}
			want := []string{"job_cancel", "job_list", "job_result", "job_wait", "messages__echo"}
			if name == "other" {
				want = want[4:]
			}
			if !slices.Equal(names, want) {
				t.Errorf("tools that the client %s lists = %v; want %v", name, names, want)
			}
		}
		if m := s.connectAs("other", "1").call(newToolCallMessage("job_list", `{}`, `{}`)); m.Error == nil || !strings.Contains(m.messageJSON, `no tool \"job_list\"`) {
			t.Error(m.messageJSON)
		}
	})
}

// TestDetachableTool checks that a tool with the argument _detach has no output schema, because the tool can return a
// job.
func TestDetachableTool(t *testing.T) {
	shownTool := mcp.NewToolWithRawSchema("a__b", "", json.RawMessage(`{"type":"object","properties":{"_detach":{"type":"number"}}}`))
	shownTool.RawOutputSchema = json.RawMessage(`{"type":"object"}`)
	for _, own := range []bool{true, false} {
		l := listedTool{definition: shownTool, definedByTool: definedArguments{definesDetach: own}}
		got := l.withDetachArgument()
		if got.RawOutputSchema != nil || (string(got.RawInputSchema) == string(shownTool.RawInputSchema)) != own || l.definition.RawOutputSchema == nil {
			t.Errorf("own argument _detach %t: input schema %s, output schema %s; want _detach once and no output schema", own, got.RawInputSchema, got.RawOutputSchema)
		}
	}
}

func TestAddSchemaProperty(t *testing.T) {
	for input, want := range map[string]string{
		`{"type":"object"}`:                                    `{"type":"object","properties":{"_detach":{}}}`,
		`{"properties":{},"type":"object"}`:                    `{"properties":{"_detach":{}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"const":1.0}}}`:   `{"type":"object","properties":{"a":{"const":1.0},"_detach":{}}}`,
		`{"type":"object","properties":true,"required":["a"]}`: `{"type":"object","properties":true,"required":["a"]}`,
		`true`: `true`,
	} {
		if got := addSchemaProperty(json.RawMessage(input), "_detach", json.RawMessage(`{}`)); string(got) != want {
			t.Errorf("addSchemaProperty(%s) = %s\nwant %s", input, got, want)
		}
	}
}
