package otlp

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"opentabs/dispatch"
	"opentabs/internal/waterfall"
)

// exportRequest is the JSON body of an OTLP ExportTraceServiceRequest. OTLP encodes IDs
// in hexadecimal, and times as decimal strings in nanoseconds since 1970.
type exportRequest struct {
	ResourceSpans []resourceSpans `json:"resourceSpans"`
}

type resourceSpans struct {
	Resource   resource     `json:"resource"`
	ScopeSpans []scopeSpans `json:"scopeSpans"`
}

type resource struct {
	Attributes []attribute `json:"attributes"`
}

type scopeSpans struct {
	Scope scope  `json:"scope"`
	Spans []span `json:"spans"`
}

type scope struct {
	Name string `json:"name"`
}

type span struct {
	TraceID       string      `json:"traceId"`
	SpanID        string      `json:"spanId"`
	ParentSpanID  string      `json:"parentSpanId,omitempty"`
	Name          string      `json:"name"`
	Kind          int         `json:"kind"`
	StartUnixNano string      `json:"startTimeUnixNano"`
	EndUnixNano   string      `json:"endTimeUnixNano"`
	Attributes    []attribute `json:"attributes,omitempty"`
	Status        *spanStatus `json:"status,omitempty"`
}

type spanStatus struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

type attribute struct {
	Key   string         `json:"key"`
	Value attributeValue `json:"value"`
}

type attributeValue struct {
	Text string `json:"stringValue"`
}

const (
	kindInternal = 1
	kindServer   = 2
	statusError  = 2
)

func (c Config) resourceAttributes() []attribute {
	var attributes []attribute
	for _, name := range slices.Sorted(maps.Keys(c.Resource)) {
		attributes = append(attributes, attribute{name, attributeValue{c.Resource[name]}})
	}
	return attributes
}

// If the client sends no trace ID, the trace ID is a hash of the outermost call's ID.
func spansOf(callInfo dispatch.CallInfo, v *dispatch.View) []span {
	startTime := waterfall.Start(v)
	endTime := startTime
	if v.Ended != nil {
		endTime = *v.Ended
	}
	call := span{
		TraceID: TraceIDOf(callInfo.RootCallID), SpanID: hashID(v.CallID, 8), Name: v.ToolName, Kind: kindServer,
		Attributes: attributesOf(v),
	}
	if textParts := strings.Split(callInfo.TraceParent, "-"); len(textParts) == 4 {
		call.TraceID, call.ParentSpanID = textParts[1], textParts[2]
	}
	if v.ParentCallID != "" {
		call.ParentSpanID, call.Kind = hashID(v.ParentCallID, 8), kindInternal
	}
	if v.Status.IsFailure() {
		call.Status = &spanStatus{statusError, string(v.ErrorCode)}
	}
	spans := []span{call}
	for i, p := range waterfall.Phases(v, endTime) {
		if phaseEnd := startTime.Add(p.End()); phaseEnd.After(endTime) {
			endTime = phaseEnd // the last phase sends the response, and ends after the call
		}
		spans = append(spans, span{
			TraceID: call.TraceID, SpanID: hashID(v.CallID+" "+strconv.Itoa(i), 8), ParentSpanID: call.SpanID,
			Name: p.Name, Kind: kindInternal, StartUnixNano: nanoseconds(startTime.Add(p.Start)), EndUnixNano: nanoseconds(startTime.Add(p.End())),
		})
	}
	spans[0].StartUnixNano, spans[0].EndUnixNano = nanoseconds(startTime), nanoseconds(endTime)
	return spans
}

func attributesOf(v *dispatch.View) []attribute {
	var attributes []attribute
	for _, a := range [][2]string{
		{"opentabs.call_id", v.CallID}, {"opentabs.plugin", v.Plugin}, {"opentabs.client", v.ToClient().String()},
		{"opentabs.browser", v.Browser}, {"opentabs.status", string(v.Status)}, {"error.type", string(v.ErrorCode)},
	} {
		if a[1] != "" {
			attributes = append(attributes, attribute{a[0], attributeValue{a[1]}})
		}
	}
	return attributes
}

// TraceIDOf returns the trace ID for a root call and its nested calls if the client has
// sent no trace ID. The trace ID is a hash of the root call's ID.
func TraceIDOf(rootCallID string) string { return hashID(rootCallID, 16) }

func hashID(hashedText string, n int) string {
	checksum := sha256.Sum256([]byte(hashedText))
	return hex.EncodeToString(checksum[:n])
}

func nanoseconds(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
