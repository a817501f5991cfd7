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

/** The server detects lost batches of progress reports by gaps in the `seq` numbers of the batches that arrived. */
export function addToBoundedBuffer<BatchType extends ReportBatch>(waiting: BatchType[], newBatch: BatchType): void {
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
