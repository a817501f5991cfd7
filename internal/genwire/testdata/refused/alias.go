// want: type Kind: only structs and string types have a wire form
package wire

type Kind = string
