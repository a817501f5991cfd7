package npm

import (
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
)

// integrityHashes contains the sha512 hashes that the registry lists for a file. A
// downloaded file is rejected unless its hash equals one of its integrityHashes.
type integrityHashes [][]byte

// parseIntegrity ignores hashes weaker than sha512, because an attacker can make another file with the same hash.
func parseIntegrity(d Dist) (integrityHashes, error) {
	var parsedHashes integrityHashes
	var unsupportedAlgorithms []string
	for field := range strings.FieldsSeq(d.Integrity) {
		algorithm, checksum, ok := strings.Cut(field, "-")
		checksum, _, _ = strings.Cut(checksum, "?")
		if !ok || algorithm != "sha512" {
			unsupportedAlgorithms = append(unsupportedAlgorithms, algorithm)
			continue
		}
		digest, err := base64.StdEncoding.DecodeString(checksum)
		if err != nil || len(digest) != sha512.Size {
			return nil, fmt.Errorf("its integrity hash in the registry is malformed (%q); report this to the registry", d.Integrity)
		}
		parsedHashes = append(parsedHashes, digest)
	}
	switch {
	case len(parsedHashes) > 0:
		return parsedHashes, nil
	case len(unsupportedAlgorithms) > 0:
		return nil, fmt.Errorf("the registry has only a %s hash for it, which is too weak; ask its author to republish it with a sha512 integrity", strings.Join(unsupportedAlgorithms, ", "))
	case d.Shasum != "":
		return nil, fmt.Errorf("the registry has only a sha1 hash for it, which is too weak; ask its author to republish it with a sha512 integrity")
	}
	return nil, fmt.Errorf("the registry returned no integrity hash, so the download cannot be verified; ask its author to republish it")
}

func (i integrityHashes) contains(checksum []byte) bool {
	for _, acceptedHash := range i {
		if subtle.ConstantTimeCompare(acceptedHash, checksum) == 1 {
			return true
		}
	}
	return false
}

// integrityText formats a sha512 hash in npm's notation, such as "sha512-" and base64.
func integrityText(checksum []byte) string {
	return "sha512-" + base64.StdEncoding.EncodeToString(checksum)
}
