// Chrome limits a message on a port to 64 MiB. A text that is longer than the limit is sent in several pieces. The
// first character of each piece is '+' if more pieces follow, and '.' if the piece is the last one.

/** One UTF-16 unit needs at most three bytes in UTF-8, so a piece has at most 24 MiB. */
const MaxPieceChars = 8 * 1024 * 1024;

export function splitText(fullText: string, maxChars = MaxPieceChars): string[] {
  const textPieces: string[] = [];
  let pieceStart = 0;
  for (; fullText.length - pieceStart > maxChars; pieceStart += maxChars)
    textPieces.push(`+${fullText.slice(pieceStart, pieceStart + maxChars)}`);
  textPieces.push(`.${fullText.slice(pieceStart)}`);
  return textPieces;
}

export class TextJoiner {
  #textPieces: string[] = [];

  add(piece: unknown): string | undefined {
    if (typeof piece !== 'string') return undefined;
    this.#textPieces.push(piece.slice(1));
    return piece.startsWith('.') ? this.#textPieces.splice(0).join('') : undefined;
  }
}
