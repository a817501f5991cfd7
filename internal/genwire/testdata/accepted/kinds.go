package wire

import "encoding/json"

// Limit is computed,
// and has two lines.
const Limit = 64 << 20

const (
	// Half has its own doc.
	Half  = 0.5
	Third = Limit / 3
	On    = true
	// Quote holds what TypeScript must escape.
	Quote = "it's \"so\" \\ \n <b> \u2028"
	inner = 7
)

// KindA stands before its type and in no group.
const KindA Kind = "a"

// Kind is a union.
type Kind string

const (
	KindB    Kind = "b" // a comment at the end of a line is not taken
	KindC, _      = Kind("c"), inner
)

// Category has an irregular plural, and its comment ends early: */ no.
type Category string

const CategoryX Category = "x"

// Method is the list of methods.
type Method string

const (
	MethodAsk      Method = "ask.now"
	MethodTell     Method = "tell"
	methodInternal Method = "not.exported"
)

// AskNowParams has every kind of field.
type AskNowParams struct {
	S string `json:"s"`
	// N has a doc.
	N    int             `json:"n,omitempty"`
	F    float64         `json:"f"`
	B    bool            `json:"b,omitzero"`
	P    *float64        `json:"p,omitempty"`
	L    []string        `json:"l,omitempty"`
	Raw  json.RawMessage `json:"raw"`
	K    Kind            `json:"k,omitempty"`
	T    TellParams      `json:"t"`
	TP   *TellParams     `json:"tp,omitempty"`
	TL   []TellParams    `json:"tl,omitempty"`
	KL   []Kind          `json:"kl,omitempty"`
	IdMs int             `json:"idleTimeoutMs"`
}

type AskNowResult struct{}

type TellParams struct {
	X string `json:"x"`
}

// Local never crosses the wire.
//
//genwire:skip it is the Go side's own
type Local struct {
	M map[string]any
}

type private struct {
	M map[string]any
}

var Variables = 1

func Functions() { _ = private{}; _ = methodInternal }
