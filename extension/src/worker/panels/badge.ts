// The badge on the toolbar icon shows the most urgent state: no link, calls
// waiting for approval, or running calls.

/**
 * BadgeIntervalMs is the minimum time between two updates, in milliseconds, so that short calls do not make the badge
 * flicker.
 */
const BadgeIntervalMs = 300;

const badgeColors = { bad: '#b3261e', asks: '#8a5a00', runs: '#1a6b54' } as const;

/** BadgeState is the state that the badge shows. */
export interface BadgeState {
  readonly isLinked: boolean;
  /** waiting is the number of calls that wait for approval. running is the number of calls that run in this browser. */
  readonly waiting: number;
  readonly running: number;
}

export interface BadgeOptions {
  state(): Omit<BadgeState, 'waiting'>;
  /** draw shows a text of at most four characters on the toolbar icon. title is the tooltip of the toolbar icon. */
  draw(text: string, color: string, title: string): void;
}

/** Badge redraws the toolbar badge when the state of the badge has changed. */
export class Badge {
  readonly #options: BadgeOptions;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shownTitle: string | undefined;

  constructor(options: BadgeOptions) {
    this.#options = options;
  }

  /**
   * setWaiting sets the number of calls that wait for approval. After hello, the server sends the number of waiting
   * calls if the number is not 0.
   */
  setWaiting(count: number): void {
    this.#waiting = count;
    this.scheduleRedraw();
  }

  /** scheduleRedraw redraws the badge at most once per BadgeIntervalMs. */
  scheduleRedraw(): void {
    this.#timer ??= setTimeout(() => this.#redraw(), BadgeIntervalMs);
  }

  #redraw(): void {
    this.#timer = undefined;
    const { text, color, title } = badgeContent({ ...this.#options.state(), waiting: this.#waiting });
    if (title === this.#shownTitle) return;
    this.#shownTitle = title;
    this.#options.draw(text, color, title);
  }
}

export function badgeContent({ isLinked, waiting, running }: BadgeState): {
  text: string;
  color: string;
  title: string;
} {
  if (!isLinked) return { text: '!', color: badgeColors.bad, title: 'opentabs: not connected' };
  if (waiting > 0) {
    const title =
      waiting === 1 ? 'opentabs: 1 call waiting for approval' : `opentabs: ${waiting} calls waiting for approval`;
    return { text: `${shortCount(waiting)}?`, color: badgeColors.asks, title };
  }
  if (running > 0) return { text: shortCount(running), color: badgeColors.runs, title: `opentabs: running ${running}` };
  return { text: '', color: badgeColors.runs, title: 'opentabs' };
}

function shortCount(n: number): string {
  return n > 99 ? '99' : String(n);
}
