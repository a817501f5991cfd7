/** Prints progress bars for several calls. */
import type { WriteStream } from 'node:tty';

interface BarRow {
  readonly name: string;
  progress: number;
  total: number | undefined;
  message: string;
  state: 'running' | 'ok' | 'ended';
  endedAt: number;
}

const barWidth = 24;

export class ProgressBars {
  readonly #outputStream: WriteStream;
  readonly #rows: BarRow[];
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #drawnLineCount = 0;

  constructor(outputStream: WriteStream, names: readonly string[]) {
    this.#outputStream = outputStream;
    this.#rows = names.map((name) => ({
      name,
      progress: 0,
      total: undefined,
      message: '',
      state: 'running',
      endedAt: 0,
    }));
    if (outputStream.isTTY) this.#timer = setInterval(() => this.#draw(), 100);
  }

  updateProgress(rowIndex: number, progress: number, totalProgress: number | undefined, rowMessage: string): void {
    const rowState = this.#rows[rowIndex];
    if (!rowState) return;
    Object.assign(rowState, { progress, total: totalProgress, message: rowMessage || rowState.message });
    this.#writePlainLine(
      rowState,
      `${progress}${totalProgress === undefined ? '' : ` of ${totalProgress}`} ${rowMessage}`,
    );
  }

  endRow(rowIndex: number, hasSucceeded: boolean, rowMessage: string): void {
    const rowState = this.#rows[rowIndex];
    if (!rowState) return;
    Object.assign(rowState, { state: hasSucceeded ? 'ok' : 'ended', message: rowMessage, endedAt: Date.now() });
    this.#writePlainLine(rowState, `${hasSucceeded ? 'ok' : 'ended'}: ${rowMessage}`);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#outputStream.isTTY) this.#draw();
  }

  #writePlainLine(rowState: BarRow, plainText: string): void {
    if (!this.#outputStream.isTTY)
      this.#outputStream.write(`${this.#formatElapsed(rowState)}  ${rowState.name.padEnd(18)}  ${plainText}\n`);
  }

  #formatElapsed(rowState: BarRow): string {
    const endMs = rowState.state === 'running' ? Date.now() : rowState.endedAt;
    return `${((endMs - this.#startedAt) / 1000).toFixed(1).padStart(5)} s`;
  }

  #draw(): void {
    const lines = this.#rows.map((rowIndex) =>
      this.#formatLine(rowIndex).slice(0, (this.#outputStream.columns || 100) - 1),
    );
    const cursorUpSequence = this.#drawnLineCount > 0 ? `\x1b[${this.#drawnLineCount}A` : '';
    this.#outputStream.write(cursorUpSequence + lines.map((line) => `\x1b[2K${line}\n`).join(''));
    this.#drawnLineCount = lines.length;
  }

  #formatLine(rowState: BarRow): string {
    const hasTotal = rowState.total !== undefined && rowState.total > 0;
    const progressFraction =
      rowState.state === 'ok' ? 1 : hasTotal ? Math.min(rowState.progress / (rowState.total ?? 1), 1) : 0;
    const filledWidth = Math.round(progressFraction * barWidth);
    const bar = '#'.repeat(filledWidth) + '-'.repeat(barWidth - filledWidth);
    const statusMark = { running: ' ', ok: '+', ended: 'x' }[rowState.state];
    const percent = hasTotal || rowState.state === 'ok' ? `${Math.round(progressFraction * 100)}%`.padStart(4) : '   ?';
    return `${statusMark} ${rowState.name.padEnd(18)} [${bar}] ${percent} ${this.#formatElapsed(rowState)}  ${rowState.message}`;
  }
}
