package nearest

import "testing"

func TestName(t *testing.T) {
	names := []string{"channelId", "cursor", "id", "limit"}
	for wrong, want := range map[string]string{
		"channel_id": "channelId", "CHANNELID": "channelId", "chanelId": "channelId", "limits": "limit",
		"cursr": "cursor", "ix": "", "q": "", "entirely": "", "": "",
	} {
		if got := Name(wrong, names); got != want {
			t.Errorf("%q: %q, want %q", wrong, got, want)
		}
	}
}
