// want: type Kind: only structs and string types have a wire form, int has none
package wire

type Kind int
