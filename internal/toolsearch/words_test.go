package toolsearch

import (
	"strings"
	"testing"
)

func TestSplitWords(t *testing.T) {
	for indexedText, want := range map[string]string{
		"sendMessage":               "send message",
		"send_message-to.Channel":   "send message to channel",
		"getURL2":                   "get url2",
		"user's files, don't":       "user s files don t",
		"Ångström über":             "ångström über",
		"发送消息 to ch":                "发 送 消 息 to ch",
		"--- …":                     "",
		"list_pull_requests(limit)": "list pull requests limit",
	} {
		if got := strings.Join(splitWords(indexedText), " "); got != want {
			t.Errorf("splitWords(%q) = %q, want %q", indexedText, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, group := range []string{
		"message messages", "create creates created creating", "reply replies replied", "branch branches", "box boxes", "delete deleted deleting deletes",
		"run running runs", "sell selling", "issue issues", "move moved moving", "address addresses", "subscribe subscribed subscribing", "press pressed",
	} {
		searchWords := strings.Fields(group)
		for _, searchWord := range searchWords {
			if stem(searchWord) != stem(searchWords[0]) {
				t.Errorf("%s has the stem %s, but %s has the stem %s; want equal stems", searchWord, stem(searchWord), searchWords[0], stem(searchWords[0]))
			}
		}
	}
	for _, pair := range []string{"status state", "news new", "thing th", "bus bu", "need ne", "file fill", "ring r", "speed spe"} {
		firstTerm, secondTerm, _ := strings.Cut(pair, " ")
		if stem(firstTerm) == stem(secondTerm) {
			t.Errorf("%s and %s both have the stem %s, want different stems", firstTerm, secondTerm, stem(firstTerm))
		}
	}
}

func TestQueryTerms(t *testing.T) {
	for query, want := range map[string]string{
		"How do I send a message to the channel?": "send messag channel",
		"messages message MESSAGE":                "messag",
		"what is this":                            "what is this",
		"":                                        "",
	} {
		if got := strings.Join(queryTerms(query), " "); got != want {
			t.Errorf("queryTerms(%q) = %q, want %q", query, got, want)
		}
	}
}

func TestSynonymsAreWellFormed(t *testing.T) {
	groupCount := 0
	for line := range strings.Lines(synonymText) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		groupCount++
		for entry := range strings.FieldsSeq(strings.Replace(line, ">", " ", 1)) {
			if len(appendTerms(nil, entry)) != strings.Count(entry, "-")+1 || entry != strings.ToLower(entry) {
				t.Errorf("line %q: the entry %q contains a stop word or another character than a letter", line, entry)
			}
		}
		if len(strings.Fields(line)) < 2 {
			t.Errorf("the line %q has fewer than two entries, want a word and a synonym", line)
		}
	}
	if groupCount < 60 {
		t.Errorf("synonyms.txt has %d groups of synonyms, want at least 60", groupCount)
	}
}
