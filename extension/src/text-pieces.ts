// Chrome limits a message on a port to 64 MiB. A longer text is sent as pieces. Each piece begins with a mark: '+' if
// more pieces follow, and '.' for the last piece.

/** MaxPieceChars limits a piece, in UTF-16 units. One unit has at most three bytes in UTF-8. */
const MaxPieceChars = 8 * 1024 * 1024;

/** splitText returns the pieces of a text. */
export function splitText(text: string, maxChars = MaxPieceChars): string[] {
  const pieces: string[] = [];
  let start = 0;
  for (; text.length - start > maxChars; start += maxChars) pieces.push(`+${text.slice(start, start + maxChars)}`);
  pieces.push(`.${text.slice(start)}`);
  return pieces;
}

/** TextJoiner joins the pieces of texts. */
export class TextJoiner {
  #pieces: string[] = [];

  /** add returns the text that a piece completes; undefined if more pieces follow, and for an invalid piece. */
  add(piece: unknown): string | undefined {
    if (typeof piece !== 'string') return undefined;
    this.#pieces.push(piece.slice(1));
    return piece.startsWith('.') ? this.#pieces.splice(0).join('') : undefined;
  }
}
