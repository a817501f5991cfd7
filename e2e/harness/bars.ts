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
  readonly #out: WriteStream;
  readonly #rows: BarRow[];
  readonly #startedAt = Date.now();
  readonly #timer: NodeJS.Timeout | undefined;
  #drawnLineCount = 0;

  constructor(outputStream: WriteStream, names: readonly string[]) {
    this.#out = outputStream;
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
    const barRow = this.#rows[rowIndex];
    if (!barRow) return;
    Object.assign(barRow, { progress, total: totalProgress, message: rowMessage || barRow.message });
    this.#writePlainLine(
      barRow,
      `${progress}${totalProgress === undefined ? '' : ` of ${totalProgress}`} ${rowMessage}`,
    );
  }

  endRow(rowIndex: number, isOk: boolean, rowMessage: string): void {
    const barRow = this.#rows[rowIndex];
    if (!barRow) return;
    Object.assign(barRow, { state: isOk ? 'ok' : 'ended', message: rowMessage, endedAt: Date.now() });
    this.#writePlainLine(barRow, `${isOk ? 'ok' : 'ended'}: ${rowMessage}`);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#draw();
  }

  #writePlainLine(barRow: BarRow, plainText: string): void {
    if (!this.#out.isTTY) this.#out.write(`${this.#formatElapsed(barRow)}  ${barRow.name.padEnd(18)}  ${plainText}\n`);
  }

  #formatElapsed(barRow: BarRow): string {
    const endMs = barRow.state === 'running' ? Date.now() : barRow.endedAt;
    return `${((endMs - this.#startedAt) / 1000).toFixed(1).padStart(5)} s`;
  }

  #draw(): void {
    const lines = this.#rows.map((rowIndex) => this.#formatLine(rowIndex).slice(0, (this.#out.columns || 100) - 1));
    const cursorUp = this.#drawnLineCount > 0 ? `\x1b[${this.#drawnLineCount}A` : '';
    this.#out.write(cursorUp + lines.map((line) => `\x1b[2K${line}\n`).join(''));
    this.#drawnLineCount = lines.length;
  }

  #formatLine(barRow: BarRow): string {
    const hasTotal = barRow.total !== undefined && barRow.total > 0;
    const doneShare = barRow.state === 'ok' ? 1 : hasTotal ? Math.min(barRow.progress / (barRow.total ?? 1), 1) : 0;
    const filledWidth = Math.round(doneShare * barWidth);
    const bar = '#'.repeat(filledWidth) + '-'.repeat(barWidth - filledWidth);
    const mark = { running: ' ', ok: '+', ended: 'x' }[barRow.state];
    const percent = hasTotal || barRow.state === 'ok' ? `${Math.round(doneShare * 100)}%`.padStart(4) : '   ?';
    return `${mark} ${barRow.name.padEnd(18)} [${bar}] ${percent} ${this.#formatElapsed(barRow)}  ${barRow.message}`;
  }
}
