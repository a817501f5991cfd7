package browser

import (
	"context"
	"encoding/json"

	"opentabs/dispatch"
	"opentabs/internal/rawjson"
	"opentabs/plugin/policy"
	"opentabs/wire"
)

// AddTo adds the gates and hooks of the browser tools to the options of a dispatcher.
// rules has the rules of sites; ownAddress is the host:port of the daemon, which no
// browser tool reaches.
func AddTo(o *dispatch.Options, rules *policy.Policy, ownAddress string) {
	tabs := newTabs()
	sites := newSites(rules, tabs, ownAddress)
	o.Gates = append(o.Gates, sites, tabs)
	o.BeforeHooks = append(o.BeforeHooks, tabs)
	o.AfterHooks = append(o.AfterHooks, sites)
	o.CurrentTab = tabs.current
	o.ShapeOutput = shaper{sites, tabs}.shapeOutput
}

// clientArgument is the argument with the name of the client, which the extension shows
// as the title of the client's tab group.
const clientArgument = "_client"

// Bridge passes the runs of browser tools to the browser, with arguments that only the
// server has.
type Bridge struct{ dispatch.Bridge }

// Start implements dispatch.Bridge.
func (b Bridge) Start(ctx context.Context, run dispatch.Run, sink dispatch.Sink) *wire.CallError {
	if run.Plugin == Name && run.Tool == toolTabs {
		run.Args = withMember(run.Args, clientArgument, run.Client)
	}
	return b.Bridge.Start(ctx, run, sink)
}

// withMember returns a JSON object with one more member.
func withMember(object json.RawMessage, key, value string) json.RawMessage {
	members := []rawjson.Member{}
	for m := range rawjson.Members(object) {
		members = append(members, m)
	}
	return rawjson.JoinMembers(append(members, rawjson.Member{Key: key, Quoted: rawjson.Encode(key), Value: rawjson.Encode(value)}))
}
