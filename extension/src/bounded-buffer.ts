/** MaxWaitingChars limits the waiting progress of one call, in UTF-16 units. */
const MaxWaitingChars = 256 * 1024;

/**
 * ReportBatch contains reports of one call as the JSON text of an array. seq is the number of reports of the call
 * before the batch. skipped is the number of reports that the page dropped.
 */
export interface ReportBatch {
  readonly seq: number;
  skipped: number;
  readonly reports: string;
}

/**
 * addBounded adds a batch to the waiting batches, and drops the oldest batches if the limit is exceeded. The server
 * detects dropped batches by a gap in seq.
 */
export function addBounded<BatchType extends ReportBatch>(waiting: BatchType[], newBatch: BatchType): void {
  waiting.push(newBatch);
  let chars = waiting.reduce((sum, batch) => sum + batch.reports.length, 0);
  while (chars > MaxWaitingChars) {
    const [oldest, next] = waiting;
    if (!oldest || !next) return;
    next.skipped += oldest.skipped;
    chars -= oldest.reports.length;
    waiting.shift();
  }
}
