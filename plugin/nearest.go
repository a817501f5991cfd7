package plugin

import "strings"

// nearest returns the name that was most likely meant by wrong; empty if none
// is near.
func nearest(wrong string, names []string) string {
	const maxName = 64 // longer ones are not compared
	best, bestDistance := "", 3
	for _, name := range names {
		if plain(name) == plain(wrong) {
			return name
		}
		if len(wrong) > maxName || len(name) > maxName {
			continue
		}
		// A short name is near to almost anything.
		if d := distance(wrong, name); d < bestDistance && d*3 <= len(name) {
			best, bestDistance = name, d
		}
	}
	return best
}

// plain strips what the ways of writing a name differ in: channelId,
// channel_id, channel-id.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(name))
}

// distance is how many bytes have to be inserted, deleted or replaced to make b
// of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
