// want: type Kind has no values; declare its constants, or use string
package wire

type Kind string
