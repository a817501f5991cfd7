// want: const KindA: type kind has no wire form
package wire

type kind string

const KindA kind = "a"
