package author

import (
	"slices"
	"strings"
	"unicode/utf8"

	"opentabs/plugin"
)

const (
	minToolChars = 30
	// maxToolChars limits the length of a tool's description, because agents read all
	// descriptions in each session.
	maxToolChars     = 600
	maxToolNameChars = 40
)

var toolRules = []rule{
	{Rule{"tool-name", "Agents infer what a tool does from its name, which begins with a verb, as in list_channels."}, levelWarning, checkToolNames},
	{Rule{"tool-description", "An agent chooses a tool by this text alone: what the tool does, what it returns, when to use it."}, levelWarning, checkToolDescriptions},
	{Rule{"tool-annotations", "Clients ask the user less often for a tool that only reads, and warn of a tool that deletes data."}, levelWarning, checkAnnotations},
	{Rule{"tool-annotations-contradict", "A client that trusts a wrong hint can run a harmful call without asking the user."}, levelWarning, checkContradictions},
	{Rule{"tool-undo", "A user who presses Undo expects that another tool takes a change back."}, levelWarning, checkUndos},
}

var toolNameVerbs = strings.Fields(`
	accept activate add analyze apply approve archive ask assign attach authorize block book buy call cancel change check clear click clone
	close collect combine comment compare complete compute configure confirm connect convert copy count create deactivate decline delete deploy
	describe detach disable disconnect discover dismiss download draft draw duplicate edit enable end evaluate execute expand explain
	export extract favorite fetch fill filter find finish follow force format forward generate get give go grant group hide highlight import
	insert inspect install invite join kick leave like link list load lock log look lookup make mark measure merge move mute navigate
	notify open order organize parse paste patch pause pay pin place play poll post prepare preview print publish pull purchase push put
	query queue quote rank rate react read rearrange rebuild recall receive record redo refresh refund register reject release reload
	remove rename render reopen reorder replace reply report request reschedule reserve reset resize resolve respond restart restore
	resume retrieve retry return revert review revoke rotate run save scan schedule scroll search select send set share shop show shuffle
	sign skip snooze solve sort split star start stop submit subscribe suggest summarize summarise switch sync tag take test toggle
	track transfer transform translate trigger turn type unarchive unassign unblock undo unfollow unlike unlink unlock unmark unmute
	unpin unpublish unsubscribe update upload upsert use validate verify view visit vote wait watch withdraw write`)

func checkToolNames(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		verb, noun, hasNoun := strings.Cut(t.Name, "_")
		switch {
		case strings.HasPrefix(t.Name, strings.ReplaceAll(b.Name, "-", "_")+"_"):
			report(t.Name, "agents see the tool as %s, with the plugin's name twice; remove the plugin's name from the name of the tool", t.FullName())
		case len(t.Name) > maxToolNameChars:
			report(t.Name, "the name has %d characters; shorten it to %d", len(t.Name), maxToolNameChars)
		case !slices.Contains(toolNameVerbs, verb) && slices.Contains(toolNameVerbs, lastWord(noun)):
			report(t.Name, "the verb comes last; begin with it, as in list_channels")
		case !slices.Contains(toolNameVerbs, verb):
			report(t.Name, "the name does not begin with a verb; name the tool after its action, as in list_channels")
		case !hasNoun && !slices.Contains(verbsWithoutNoun, verb):
			report(t.Name, "the name has no noun; add one, as in %s_messages", verb)
		}
	}
}

var verbsWithoutNoun = []string{"search", "describe", "query", "navigate", "download", "upload", "translate"}

func lastWord(name string) string { return name[strings.LastIndexByte(name, '_')+1:] }

func checkToolDescriptions(b *tempBuild, report reportFunc) {
	firstTool := map[string]string{} // firstTool maps descriptions in lower case to tool names
	for _, t := range b.Tools {
		description := joinLines(t.Description)
		n := utf8.RuneCountInString(description)
		switch {
		case n < minToolChars:
			report(t.Name, "its description has %d characters (%q); describe what the tool does, what it returns, and when to use it", n, description)
		case n > maxToolChars:
			report(t.Name, "its description has %d characters, which agents read in each session; shorten it to %d, and move details to the descriptions of the fields", n, maxToolChars)
		case strings.HasPrefix(strings.ToLower(description), "this tool"), strings.HasPrefix(strings.ToLower(description), "a tool"):
			report(t.Name, "its description begins with %q; begin with the action, as in %q", strings.Join(strings.Fields(description)[:2], " "), "Returns the channels ...")
		}
		if otherTool, hasSameDescription := firstTool[strings.ToLower(description)]; hasSameDescription {
			report(t.Name, "its description is the same as that of %s; describe the difference, or merge both tools", otherTool)
		} else {
			firstTool[strings.ToLower(description)] = t.Name
		}
	}
}

func checkAnnotations(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		if a := t.Annotations; a.ReadOnly == nil && a.Destructive == nil {
			hint := "annotations: { readOnlyHint: true } if it changes nothing, { destructiveHint: false } if it only adds data, { destructiveHint: true } if data can be lost"
			if isReadOnly(t) {
				hint = "annotations: { readOnlyHint: true } if its name is right"
			}
			report(t.Name, "the tool has no annotation for its effect; add %s", hint)
		}
	}
}

var (
	readOnlyVerbs = []string{"get", "list", "read", "search", "find", "describe", "count", "view", "show", "fetch", "query", "check", "inspect", "export", "lookup", "preview"}
	changeVerbs   = []string{"delete", "remove", "create", "send", "update", "edit", "post", "add", "buy", "pay", "order", "purchase", "publish", "archive", "cancel", "rename", "move", "invite", "submit", "upload", "write", "set", "transfer"}
)

// isReadOnly guesses from a tool's name whether the tool only reads data.
func isReadOnly(t *plugin.Tool) bool {
	verb, _, _ := strings.Cut(t.Name, "_")
	return slices.Contains(readOnlyVerbs, verb)
}

func checkContradictions(b *tempBuild, report reportFunc) {
	for _, t := range b.Tools {
		verb, _, _ := strings.Cut(t.Name, "_")
		a := t.Annotations
		isMarkedReadOnly := a.ReadOnly != nil && *a.ReadOnly
		isMarkedDestructive := a.Destructive != nil && *a.Destructive
		switch {
		case isMarkedReadOnly && isMarkedDestructive:
			report(t.Name, "the tool has readOnlyHint and destructiveHint, but a tool that only reads destroys nothing; remove one of them")
		case isMarkedReadOnly && slices.Contains(changeVerbs, verb):
			report(t.Name, "the tool has readOnlyHint, but by its name it changes something; remove the hint or rename the tool")
		case isMarkedDestructive && slices.Contains(readOnlyVerbs, verb):
			report(t.Name, "the tool has destructiveHint, but by its name it only reads; set readOnlyHint or rename the tool")
		case (verb == "delete" || verb == "remove") && a.Destructive != nil && !*a.Destructive:
			report(t.Name, "the tool has destructiveHint: false, but by its name it deletes something; set it to true")
		}
	}
}
