// The badge on the toolbar icon shows the most urgent state: no link, calls
// waiting for approval, or running calls.

/** BadgeMs is the minimum time between two updates, so that short calls do not make the badge flicker. */
const BadgeMs = 300;

const colors = { bad: '#b3261e', asks: '#8a5a00', runs: '#1a6b54' } as const;

/** BadgeState is the state that the badge shows. */
export interface BadgeState {
  readonly linked: boolean;
  /** waiting counts the calls that wait for approval. running counts the calls that run in this browser. */
  readonly waiting: number;
  readonly running: number;
}

export interface BadgeOptions {
  state(): Omit<BadgeState, 'waiting'>;
  /** draw shows a text of at most four characters. title is the tooltip of the toolbar icon. */
  draw(text: string, color: string, title: string): void;
}

/** Badge redraws the toolbar badge when the state of the badge has changed. */
export class Badge {
  readonly #options: BadgeOptions;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shown: string | undefined;

  constructor(options: BadgeOptions) {
    this.#options = options;
  }

  /**
   * setWaiting sets the number of calls that wait for approval. The server sends this number after hello if the number
   * is not 0.
   */
  setWaiting(count: number): void {
    this.#waiting = count;
    this.scheduleRedraw();
  }

  /** scheduleRedraw redraws the badge soon. */
  scheduleRedraw(): void {
    this.#timer ??= setTimeout(() => this.#redraw(), BadgeMs);
  }

  #redraw(): void {
    this.#timer = undefined;
    const { text, color, title } = badgeOf({ ...this.#options.state(), waiting: this.#waiting });
    if (title === this.#shown) return;
    this.#shown = title;
    this.#options.draw(text, color, title);
  }
}

/** badgeOf returns the content of the badge. */
export function badgeOf({ linked, waiting, running }: BadgeState): { text: string; color: string; title: string } {
  if (!linked) return { text: '!', color: colors.bad, title: 'opentabs: not connected' };
  if (waiting > 0) {
    const title =
      waiting === 1 ? 'opentabs: 1 call waiting for approval' : `opentabs: ${waiting} calls waiting for approval`;
    return { text: `${shortCount(waiting)}?`, color: colors.asks, title };
  }
  if (running > 0) return { text: shortCount(running), color: colors.runs, title: `opentabs: running ${running}` };
  return { text: '', color: colors.runs, title: 'opentabs' };
}

function shortCount(n: number): string {
  return n > 99 ? '99' : String(n);
}
