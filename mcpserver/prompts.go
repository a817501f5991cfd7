package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/mcpserver/content"
	"opentabs/mcpserver/transport"
	"opentabs/wire"
)

// The result of prompts/get has no member isError, so every failure of a prompt is a JSON-RPC error.
func (s *Server) getPrompt(ctx context.Context, q request) reply {
	prompt, ok := s.plugins.Set().Prompt(q.Params.Name)
	if brokenErr := s.catalog.brokenPluginError(q.Params.Name); !ok && brokenErr != nil {
		return toProtocolErrorReply(s.newErrorReply(brokenErr))
	}
	if !ok {
		return newProtocolErrorReply(wire.CodeInvalidParams, "There is no prompt %q. List the prompts (prompts/list), then get one of those.", q.Params.Name)
	}
	promptArguments := findDefinedArguments(prompt.InputSchema, prompt.Plugin)
	promptArguments.definesDetach = true // a prompt cannot become a job
	args, err := splitArguments(q.Params.Arguments, promptArguments, true)
	if err == nil {
		args.toolArgs, err = prompt.Validate(args.toolArgs)
	}
	if err != nil {
		if refusalErr := s.catalog.refusedError(prompt.Plugin, prompt.Dispatch()); refusalErr != nil {
			err = refusalErr
		}
		return toProtocolErrorReply(s.newErrorReply(err))
	}
	callResult, err := s.calls.Call(ctx, q.newCall(prompt.Dispatch(), args))
	if err != nil {
		return toProtocolErrorReply(s.newErrorReply(err))
	}
	r := reply{callID: callResult.CallID, audience: callResult.Audience}
	if r.members, err = promptResult(content.RemoveLineBreaks(callResult.Output), prompt.Description); err != nil {
		return toProtocolErrorReply(s.newErrorReply(&dispatch.Error{
			Code: wire.ErrInvalidResult, CallID: callResult.CallID, RunTime: callResult.RunTime, ReportCount: callResult.ReportCount,
			Message: fmt.Sprintf("The prompt %s of plugin %s failed: %v. Report this to the plugin's author.", prompt.Name, prompt.Plugin.Name, err),
		}))
	}
	return r
}

func toProtocolErrorReply(r reply) reply {
	code := wire.CodeInternal
	var m struct {
		Code wire.ErrorCode `json:"code"`
	}
	if json.Unmarshal(r.errorMeta, &m) == nil && m.Code == wire.ErrInvalidArguments {
		code = wire.CodeInvalidParams
	}
	f := reply{Fault: transport.Fault{Code: code, Message: r.replyText}, callID: r.callID}
	if r.errorMeta != nil {
		f.Details = map[string]json.RawMessage{metaError: r.errorMeta}
	}
	return f
}

// The output of a prompt is a text (one user message), a list of messages, or an object {description?, messages}.
func promptResult(toolOutput json.RawMessage, toolDescription string) ([]byte, error) {
	messages := toolOutput
	switch {
	case len(toolOutput) == 0:
		return nil, errors.New("it returned nothing instead of a text or messages")
	case toolOutput[0] == '"':
		messages = rawjson.JoinElements([][]byte{promptMessage{role: `"user"`, content: newTextBlock(toolOutput)}.encodeJSON()})
	case toolOutput[0] == '{':
		var promptOutput struct {
			Description *string         `json:"description"`
			Messages    json.RawMessage `json:"messages"`
		}
		if json.Unmarshal(toolOutput, &promptOutput) != nil || promptOutput.Messages == nil {
			return nil, errors.New("it returned an object that is not {description?, messages}")
		}
		if messages = promptOutput.Messages; promptOutput.Description != nil {
			toolDescription = *promptOutput.Description
		}
	}
	if toolOutput[0] != '"' {
		contentBlocks, err := promptMessages(messages)
		if err != nil {
			return nil, err
		}
		messages = rawjson.JoinElements(contentBlocks)
	}
	var b []byte
	if toolDescription != "" {
		b = append(rawjson.AppendString(append(b, `"description":`...), toolDescription), ',')
	}
	return append(append(b, `"messages":`...), messages...), nil
}

// promptMessage is one message of a prompt. The role and the content of a prompt message are JSON.
type promptMessage struct {
	role    string
	content []byte
}

func (m promptMessage) encodeJSON() []byte {
	return fmt.Appendf(nil, `{"role":%s,"content":%s}`, m.role, m.content)
}

// If one message of a prompt is invalid in MCP, clients reject the whole prompt.
func promptMessages(messagesJSON json.RawMessage) ([][]byte, error) {
	var rawMessages []json.RawMessage
	if messagesJSON[0] != '[' || json.Unmarshal(messagesJSON, &rawMessages) != nil {
		return nil, errors.New("its messages are not an array")
	}
	messages := make([][]byte, 0, len(rawMessages))
	for i, rawJSON := range rawMessages {
		m, err := parsePromptMessage(rawJSON)
		if err != nil {
			return nil, fmt.Errorf("its message %d %w", i+1, err)
		}
		messages = append(messages, m.encodeJSON())
	}
	return messages, nil
}

func parsePromptMessage(rawJSON json.RawMessage) (promptMessage, error) {
	var m struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	switch {
	case rawJSON[0] != '{' || json.Unmarshal(rawJSON, &m) != nil || m.Content == nil:
		return promptMessage{}, errors.New("is not {role, content}")
	case m.Role != string(mcp.RoleUser) && m.Role != string(mcp.RoleAssistant):
		return promptMessage{}, errors.New(`has a role that is neither "user" nor "assistant"`)
	}
	contentBlock, ok := parseContent(m.Content)
	if !ok {
		return promptMessage{}, errors.New("has content that is neither a text nor a block of MCP content (text, image, audio, resource, resource_link)")
	}
	return promptMessage{role: `"` + m.Role + `"`, content: contentBlock}, nil
}

func parseContent(rawJSON json.RawMessage) ([]byte, bool) {
	if rawJSON[0] == '"' {
		return newTextBlock(rawJSON), true
	}
	return rawJSON, content.IsBlock(rawJSON)
}

func newTextBlock(quotedJSON []byte) []byte {
	return fmt.Appendf(nil, `{"type":"text","text":%s}`, quotedJSON)
}
