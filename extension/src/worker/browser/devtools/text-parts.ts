import type { BrowserCall } from '../browser-tool.ts';
import { toolFailure } from '../tool-failure.ts';

/** TextPartCharacters is the length of one part of a long text, in UTF-16 code units. */
export const TextPartCharacters = 50_000;
/** MaxStoredCharacters limits the total length of all stored texts, in UTF-16 code units. */
const MaxStoredCharacters = 8_000_000;

export interface TextPart {
  readonly text: string;
  /**
   * The field `sentences` contains sentences for the agent: the position of the part in the text, and how to read the
   * next part. `sentences` is empty if the whole text fits into one part.
   */
  readonly sentences: readonly string[];
}

interface StoredText {
  readonly documentId: string;
  readonly text: string;
}

/**
 * TextParts returns long texts of pages in several parts. After the tab has loaded another document, the agent cannot
 * read further parts of the text.
 */
export class TextParts {
  readonly #storedTexts = new Map<string, StoredText>();
  #storedCharacters = 0;

  readFirstPart({ documentId }: Pick<BrowserCall, 'documentId'>, fullText: string): TextPart {
    if (fullText.length <= TextPartCharacters) return { text: fullText, sentences: [] };
    const id = crypto.randomUUID().slice(0, 8);
    this.#storedTexts.set(id, { documentId, text: fullText });
    this.#storedCharacters += fullText.length;
    for (const [oldest, { text: oldText }] of this.#storedTexts) {
      if (this.#storedCharacters <= MaxStoredCharacters || oldest === id) break;
      this.#storedTexts.delete(oldest);
      this.#storedCharacters -= oldText.length;
    }
    return makeTextPart(id, fullText, 0);
  }

  /** A cursor contains the ID of the stored text and the start of the next part. */
  readNextPart({ documentId }: Pick<BrowserCall, 'documentId'>, cursor: string): TextPart {
    const [, id = '', offsetText = ''] = /^([0-9a-f]{8}):(\d{1,9})$/.exec(cursor) ?? [];
    const storedText = this.#storedTexts.get(id);
    if (!storedText || storedText.documentId !== documentId || Number(offsetText) >= storedText.text.length)
      throw toolFailure(
        'not_found',
        'there is no text for this cursor: the tab shows another document, the text was dropped for newer ones, or the ' +
          'cursor is wrong. Call the tool without a cursor',
      );
    return makeTextPart(id, storedText.text, Number(offsetText));
  }
}

function makeTextPart(id: string, fullText: string, partStart: number): TextPart {
  let partEnd = Math.min(partStart + TextPartCharacters, fullText.length);
  // A part of the text must not end between the two halves of a surrogate pair.
  if (partEnd < fullText.length && /[\ud800-\udbff]/.test(fullText.charAt(partEnd - 1))) partEnd--;
  const partRangeText = `Characters ${partStart + 1} to ${partEnd} of ${fullText.length}.`;
  const nextPartNote = partEnd < fullText.length ? `Next part: cursor "${id}:${partEnd}".` : 'This is the last part.';
  return { text: fullText.slice(partStart, partEnd), sentences: [partRangeText, nextPartNote] };
}
