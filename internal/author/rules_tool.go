package author

import (
	"slices"
	"strings"
	"unicode/utf8"

	"opentabs/plugin"
)

const (
	// minToolChars is a description that can hardly say what a tool does and when
	// to use it; longToolChars one that costs an agent much, at every start.
	minToolChars  = 30
	longToolChars = 600
	maxToolName   = 40
)

// toolRules are those about a tool as a whole.
var toolRules = []rule{
	{Rule{"tool-name", "Agents guess what a tool does by its name, verb first, as in list_channels."}, levelWarning, checkToolNames},
	{Rule{"tool-description", "It is all that an agent knows when it chooses: what the tool does, what it returns, when to use it."}, levelWarning, checkToolDescriptions},
	{Rule{"tool-annotations", "Clients ask the person less often for a tool that only reads, and warn of one that destroys."}, levelWarning, checkAnnotations},
	{Rule{"tool-annotations-contradict", "A client that believes a wrong hint lets something happen that nobody wanted."}, levelWarning, checkContradictions},
}

// verbs are words that names of tools begin with.
var verbs = strings.Fields(`
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

func checkToolNames(b *built, found foundFunc) {
	for _, t := range b.Tools {
		first, rest, several := strings.Cut(t.Name, "_")
		switch {
		case strings.HasPrefix(t.Name, strings.ReplaceAll(b.Name, "-", "_")+"_"):
			found(t.Name, "agents see it as %s, with the plugin's name twice; take the name of the plugin out of the tool's", t.FullName())
		case len(t.Name) > maxToolName:
			found(t.Name, "the name has %d characters; shorten it to %d", len(t.Name), maxToolName)
		case !slices.Contains(verbs, first) && slices.Contains(verbs, lastWord(rest)):
			found(t.Name, "the verb comes last; begin with it, as in list_channels")
		case !slices.Contains(verbs, first):
			found(t.Name, "the name does not begin with a verb; call it by what it does, as in list_channels")
		case !several && !slices.Contains(alone, first):
			found(t.Name, "the name does not say what the tool works on; add a noun, as in %s_messages", first)
		}
	}
}

// alone are verbs that say enough without a noun.
var alone = []string{"search", "describe", "query", "navigate", "download", "upload", "translate"}

func lastWord(name string) string { return name[strings.LastIndexByte(name, '_')+1:] }

func checkToolDescriptions(b *built, found foundFunc) {
	first := map[string]string{}
	for _, t := range b.Tools {
		text := oneLine(t.Description)
		n := utf8.RuneCountInString(text)
		switch {
		case n < minToolChars:
			found(t.Name, "its description has %d characters (%q); say what it does, what it returns, and when to use it", n, text)
		case n > longToolChars:
			found(t.Name, "its description has %d characters, which every agent reads at every start; shorten it to %d, and describe fields at the fields", n, longToolChars)
		case strings.HasPrefix(strings.ToLower(text), "this tool"), strings.HasPrefix(strings.ToLower(text), "a tool"):
			found(t.Name, "its description begins with %q; begin with what it does, as in %q", strings.Join(strings.Fields(text)[:2], " "), "Returns the channels ...")
		}
		if other, twice := first[strings.ToLower(text)]; twice {
			found(t.Name, "it is described with the same words as %s; say how they differ, or make one tool of both", other)
		} else {
			first[strings.ToLower(text)] = t.Name
		}
	}
}

func checkAnnotations(b *built, found foundFunc) {
	for _, t := range b.Tools {
		if a := t.Annotations; a.ReadOnly == nil && a.Destructive == nil {
			hint := "annotations: { readOnlyHint: true } if it changes nothing, { destructiveHint: false } if it only adds, { destructiveHint: true } if something can be lost"
			if readsOnly(t) {
				hint = "annotations: { readOnlyHint: true }, if its name says the truth"
			}
			found(t.Name, "it does not say whether it changes anything; add %s", hint)
		}
	}
}

// reading are verbs of tools that change nothing, changing those of tools that
// do.
var (
	reading  = []string{"get", "list", "read", "search", "find", "describe", "count", "view", "show", "fetch", "query", "check", "inspect", "export", "lookup", "preview"}
	changing = []string{"delete", "remove", "create", "send", "update", "edit", "post", "add", "buy", "pay", "order", "purchase", "publish", "archive", "cancel", "rename", "move", "invite", "submit", "upload", "write", "set", "transfer"}
)

func readsOnly(t *plugin.Tool) bool {
	verb, _, _ := strings.Cut(t.Name, "_")
	return slices.Contains(reading, verb)
}

func checkContradictions(b *built, found foundFunc) {
	for _, t := range b.Tools {
		verb, _, _ := strings.Cut(t.Name, "_")
		a := t.Annotations
		reads := a.ReadOnly != nil && *a.ReadOnly
		destroys := a.Destructive != nil && *a.Destructive
		switch {
		case reads && destroys:
			found(t.Name, "it has readOnlyHint and destructiveHint; a tool that only reads destroys nothing: take one of them out")
		case reads && slices.Contains(changing, verb):
			found(t.Name, "it has readOnlyHint, but its name says that it changes something; take the hint out, or give it another name")
		case destroys && slices.Contains(reading, verb):
			found(t.Name, "it has destructiveHint, but its name says that it only reads; give it readOnlyHint, or another name")
		case (verb == "delete" || verb == "remove") && a.Destructive != nil && !*a.Destructive:
			found(t.Name, "it has destructiveHint: false, but its name says that something goes; make it true")
		}
	}
}
