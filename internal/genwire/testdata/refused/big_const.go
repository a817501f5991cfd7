// want: const Big: 9007199254740993 is not exact in JavaScript
package wire

const Big = 1<<53 + 1
