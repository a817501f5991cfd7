/** HeldChars is how much progress of one call is kept while it can't be sent, in UTF-16 units. */
const HeldChars = 256 * 1024;

/** Batch is reports of one call: the JSON text of an array, how many came before them, and how many the page skipped. */
export interface Batch {
  readonly seq: number;
  skipped: number;
  readonly reports: string;
}

/** hold adds a batch to those that wait; of too much it keeps the newest. The server sees by seq how many are missing. */
export function hold<B extends Batch>(waiting: B[], last: B): void {
  waiting.push(last);
  let chars = waiting.reduce((sum, batch) => sum + batch.reports.length, 0);
  while (chars > HeldChars) {
    const [oldest, next] = waiting;
    if (!oldest || !next) return;
    next.skipped += oldest.skipped;
    chars -= oldest.reports.length;
    waiting.shift();
  }
}
