package npm

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
)

// integrity holds the sha512 sums that a file may have.
type integrity [][]byte

// parseIntegrity reads what a registry tells of a file. Weaker sums do not count:
// a file can be made for them.
func parseIntegrity(d Dist) (integrity, error) {
	var sums integrity
	var others []string
	for field := range strings.FieldsSeq(d.Integrity) {
		algorithm, sum, ok := strings.Cut(field, "-")
		sum, _, _ = strings.Cut(sum, "?")
		if !ok || algorithm != "sha512" {
			others = append(others, algorithm)
			continue
		}
		decoded, err := base64.StdEncoding.DecodeString(sum)
		if err != nil || len(decoded) != sha512.Size {
			return nil, fmt.Errorf("the registry tells a damaged integrity for it (%q); report this to the registry", d.Integrity)
		}
		sums = append(sums, decoded)
	}
	switch {
	case len(sums) > 0:
		return sums, nil
	case len(others) > 0:
		return nil, fmt.Errorf("the registry tells only a sum by %s for it, which is too weak; ask its author to publish it again, so that there is a sha512 integrity", strings.Join(others, ", "))
	case d.Shasum != "":
		return nil, fmt.Errorf("the registry tells only a sha1 sum for it, which is too weak; ask its author to publish it again, so that there is a sha512 integrity")
	}
	return nil, fmt.Errorf("the registry tells no integrity for it, so nobody knows what it has to be; ask its author to publish it again")
}

// fits reports whether sum is one of them.
func (i integrity) fits(sum []byte) bool {
	for _, one := range i {
		if subtle.ConstantTimeCompare(one, sum) == 1 {
			return true
		}
	}
	return false
}

// text is how an integrity is written.
func integrityText(sum []byte) string { return "sha512-" + base64.StdEncoding.EncodeToString(sum) }
