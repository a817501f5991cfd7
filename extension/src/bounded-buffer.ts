/** MaxWaitingChars limits the progress reports that wait for one call, in UTF-16 code units. */
const MaxWaitingChars = 256 * 1024;

/**
 * `seq` is the number of the call's earlier progress reports, which are not in `reports`. `skipped` is the number of
 * reports that the page dropped directly before the first report in `reports`.
 */
export interface ReportBatch {
  readonly seq: number;
  skipped: number;
  readonly reports: string;
}

/** The server detects dropped report batches by gaps in the `seq` numbers of the received batches. */
export function addToBoundedBuffer<BatchType extends ReportBatch>(
  waitingBatches: BatchType[],
  newBatch: BatchType,
): void {
  waitingBatches.push(newBatch);
  let charCount = waitingBatches.reduce((sum, batch) => sum + batch.reports.length, 0);
  while (charCount > MaxWaitingChars) {
    const [oldestBatch, nextBatch] = waitingBatches;
    if (!oldestBatch || !nextBatch) return;
    nextBatch.skipped += oldestBatch.skipped;
    charCount -= oldestBatch.reports.length;
    waitingBatches.shift();
  }
}
