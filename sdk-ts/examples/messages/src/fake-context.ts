import type { ProgressOptions, ToolHandlerContext } from '@opentabs/sdk';

/** A context for tests: it keeps the reports, and stops the call when the test says so. */
export class FakeContext implements ToolHandlerContext {
  readonly reports: ProgressOptions[] = [];
  readonly #controller = new AbortController();

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  reportProgress(options: ProgressOptions): void {
    this.reports.push(options);
  }

  reportPercent(percent: number, message?: string): void {
    this.reports.push({ percent, message });
  }

  reportCount(done: number, total: number, message?: string): void {
    this.reports.push({ progress: done, total, message });
  }

  stop(reason: string): void {
    this.#controller.abort(new DOMException(reason, 'AbortError'));
  }
}
