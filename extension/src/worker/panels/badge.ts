// The badge on the toolbar icon shows the most urgent state: no link, calls
// waiting for approval, a tab that an agent uses, or running calls.
import type { PanelHold } from '../../panel-message.ts';

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

/** BadgeContent is the badge of the toolbar icon: a text of at most four characters, and a title for the tooltip. */
export interface BadgeContent {
  readonly text: string;
  readonly color: string;
  readonly title: string;
}

export interface BadgeOptions {
  state(): Omit<BadgeState, 'waiting'>;
  /** holds are the tabs in which agents act, or have acted in the last minute. */
  holds(): readonly PanelHold[];
  /** draw shows a badge in all tabs that have no separate badge. */
  draw(content: BadgeContent): void;
  /**
   * drawTab shows a badge text and a tooltip while a tab is active. Without a text, the tab shows the badge text of
   * all tabs. Chrome cannot remove the tooltip of a single tab.
   */
  drawTab(tabId: number, text: string | undefined, title: string): void;
}

/** Badge redraws the toolbar badge when the state of the badge has changed. */
export class Badge {
  readonly #options: BadgeOptions;
  #waiting = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #endTimer: ReturnType<typeof setTimeout> | undefined;
  #shownTitle: string | undefined;
  /** #tabTitles are the tooltips of tabs with a separate tooltip. */
  readonly #tabTitles = new Map<number, string>();

  constructor(options: BadgeOptions) {
    this.#options = options;
  }

  /**
   * setWaiting sets the number of calls that wait for approval, and redraws the badge at once. After hello, the
   * server sends this number only if it is not 0.
   */
  setWaiting(count: number): void {
    if (count === this.#waiting) return;
    this.#waiting = count;
    clearTimeout(this.#timer);
    this.#redraw();
  }

  /** scheduleRedraw redraws the badge at most once per BadgeIntervalMs. */
  scheduleRedraw(): void {
    this.#timer ??= setTimeout(() => this.#redraw(), BadgeIntervalMs);
  }

  /** forgetTab redraws the badge of a tab, because Chrome drops the badge of a tab that shows another document. */
  forgetTab(tabId: number): void {
    if (this.#tabTitles.delete(tabId)) this.scheduleRedraw();
  }

  #redraw(): void {
    this.#timer = undefined;
    const state = { ...this.#options.state(), waiting: this.#waiting };
    const content = badgeContent(state);
    if (content.title !== this.#shownTitle) this.#options.draw(content);
    this.#shownTitle = content.title;
    // Calls that wait for approval take precedence over the use of a single tab, because the user must see them in
    // every tab.
    const holds = state.isLinked && state.waiting === 0 ? this.#options.holds() : [];
    this.#redrawTabs(
      holds.filter(({ taken }) => taken !== true),
      content.title,
    );
  }

  #redrawTabs(used: readonly PanelHold[], commonTitle: string): void {
    const titles = new Map([...this.#tabTitles.keys()].map((tabId) => [tabId, commonTitle]));
    for (const { tabId, client } of used) titles.set(tabId, `opentabs: ${client} uses this tab`);
    for (const [tabId, title] of titles) {
      if (this.#tabTitles.get(tabId) === title) continue;
      this.#tabTitles.set(tabId, title);
      this.#options.drawTab(tabId, title === commonTitle ? undefined : '●', title);
    }
    clearTimeout(this.#endTimer);
    if (used.length === 0) return;
    const restMs = Math.min(...used.map(({ endMs }) => endMs)) - Date.now();
    this.#endTimer = setTimeout(() => this.scheduleRedraw(), Math.max(restMs, BadgeIntervalMs));
  }
}

export function badgeContent({ isLinked, waiting, running }: BadgeState): BadgeContent {
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
