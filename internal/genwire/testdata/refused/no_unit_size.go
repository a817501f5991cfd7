// want: A.Size: say the unit: sizeMs, sizeBytes
package wire

type A struct {
	Size int `json:"size"`
}
