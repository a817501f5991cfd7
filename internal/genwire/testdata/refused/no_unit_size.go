// want: A.Size: add the unit to the name: sizeMs, sizeBytes
package wire

type A struct {
	Size int `json:"size"`
}
