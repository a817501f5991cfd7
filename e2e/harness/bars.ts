/** Prints progress bars for several calls. */
import type { WriteStream } from 'node:tty';

interface Row {
  readonly name: string;
  progress: number;
  total: number | undefined;
  message: string;
  state: 'running' | 'ok' | 'ended';
  endedAt: number;
}

const barWidth = 24;

export class Bars {
  readonly #out: WriteStream;
  readonly #rows: Row[];
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

  updateProgress(rowIndex: number, progress: number, total: number | undefined, message: string): void {
    const r = this.#rows[rowIndex];
    if (!r) return;
    Object.assign(r, { progress, total, message: message || r.message });
    this.#writePlainLine(r, `${progress}${total === undefined ? '' : ` of ${total}`} ${message}`);
  }

  endRow(rowIndex: number, isOk: boolean, message: string): void {
    const r = this.#rows[rowIndex];
    if (!r) return;
    Object.assign(r, { state: isOk ? 'ok' : 'ended', message, endedAt: Date.now() });
    this.#writePlainLine(r, `${isOk ? 'ok' : 'ended'}: ${message}`);
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#out.isTTY) this.#draw();
  }

  #writePlainLine(r: Row, text: string): void {
    if (!this.#out.isTTY) this.#out.write(`${this.#formatElapsed(r)}  ${r.name.padEnd(18)}  ${text}\n`);
  }

  #formatElapsed(r: Row): string {
    const endMs = r.state === 'running' ? Date.now() : r.endedAt;
    return `${((endMs - this.#startedAt) / 1000).toFixed(1).padStart(5)} s`;
  }

  #draw(): void {
    const lines = this.#rows.map((rowIndex) => this.#formatLine(rowIndex).slice(0, (this.#out.columns || 100) - 1));
    const cursorUp = this.#drawnLineCount > 0 ? `\x1b[${this.#drawnLineCount}A` : '';
    this.#out.write(cursorUp + lines.map((line) => `\x1b[2K${line}\n`).join(''));
    this.#drawnLineCount = lines.length;
  }

  #formatLine(r: Row): string {
    const hasTotal = r.total !== undefined && r.total > 0;
    const doneShare = r.state === 'ok' ? 1 : hasTotal ? Math.min(r.progress / (r.total ?? 1), 1) : 0;
    const filledWidth = Math.round(doneShare * barWidth);
    const bar = '#'.repeat(filledWidth) + '-'.repeat(barWidth - filledWidth);
    const mark = { running: ' ', ok: '+', ended: 'x' }[r.state];
    const percent = hasTotal || r.state === 'ok' ? `${Math.round(doneShare * 100)}%`.padStart(4) : '   ?';
    return `${mark} ${r.name.padEnd(18)} [${bar}] ${percent} ${this.#formatElapsed(r)}  ${r.message}`;
  }
}
