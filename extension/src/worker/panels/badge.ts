// badge.ts shows the most urgent state, such as a call waiting for approval, as a badge on the toolbar icon. The badge
// shows these states, in order of urgency: no link, calls waiting for approval, a tab that an agent uses, and running
// calls.
import type { PanelTabHold } from '../../panel-message.ts';

/**
 * BadgeIntervalMs is the minimum time between two changes of the badge, because short calls would make the badge
 * flicker.
 */
const BadgeIntervalMs = 300;

const badgeColors = { bad: '#b3261e', needsApproval: '#8a5a00', runs: '#1a6b54' } as const;

export interface BadgeState {
  readonly isLinked: boolean;
  /**
   * waitingCount is the number of calls that wait for approval. runningCount is the number of calls that run in this
   * browser.
   */
  readonly waitingCount: number;
  readonly runningCount: number;
}

/**
 * BadgeContent is the badge of the toolbar icon: at most four characters of text, a background color, and a tooltip.
 */
export interface BadgeContent {
  readonly text: string;
  readonly color: string;
  readonly title: string;
}

export interface BadgeOptions {
  state(): Omit<BadgeState, 'waitingCount'>;
  holds(): readonly PanelTabHold[];
  /** The method `drawBadge` shows a badge in all tabs for which drawTabBadge has set no separate badge. */
  drawBadge(content: BadgeContent): void;
  /**
   * If the active tab has no separate badge text, Chrome shows the badge text of all tabs. Chrome has no function that
   * removes the tooltip of a single tab.
   */
  drawTabBadge(tabId: number, text: string | undefined, title: string): void;
}

export class Badge {
  readonly #options: BadgeOptions;
  #waitingCount = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tabRedrawTimer: ReturnType<typeof setTimeout> | undefined;
  #shownTitle: string | undefined;
  readonly #tabTitles = new Map<number, string>();

  constructor(options: BadgeOptions) {
    this.#options = options;
  }

  /**
   * setWaitingCount sets the number of waiting calls. On a new link, the server sends this number only if a call is
   * waiting.
   */
  setWaitingCount(count: number): void {
    if (count === this.#waitingCount) return;
    this.#waitingCount = count;
    clearTimeout(this.#timer);
    this.#redraw();
  }

  scheduleRedraw(): void {
    this.#timer ??= setTimeout(() => this.#redraw(), BadgeIntervalMs);
  }

  /** forgetTab redraws the badge of a tab that loaded a new document, because Chrome resets the badge of such a tab. */
  forgetTab(tabId: number): void {
    if (this.#tabTitles.delete(tabId)) this.scheduleRedraw();
  }

  #redraw(): void {
    this.#timer = undefined;
    const badgeState = { ...this.#options.state(), waitingCount: this.#waitingCount };
    const content = makeBadgeContent(badgeState);
    if (content.title !== this.#shownTitle) this.#options.drawBadge(content);
    this.#shownTitle = content.title;
    // Show waiting calls in every tab, even in tabs that an agent uses, because the user must notice the waiting calls.
    const tabHolds = badgeState.isLinked && badgeState.waitingCount === 0 ? this.#options.holds() : [];
    this.#redrawTabs(
      tabHolds.filter(({ taken }) => taken !== true),
      content.title,
    );
  }

  #redrawTabs(usedTabs: readonly PanelTabHold[], defaultTitle: string): void {
    const titleByTab = new Map([...this.#tabTitles.keys()].map((tabId) => [tabId, defaultTitle]));
    for (const { tabId, client } of usedTabs) titleByTab.set(tabId, `opentabs: ${client} uses this tab`);
    for (const [tabId, title] of titleByTab) {
      if (this.#tabTitles.get(tabId) === title) continue;
      this.#tabTitles.set(tabId, title);
      this.#options.drawTabBadge(tabId, title === defaultTitle ? undefined : '●', title);
    }
    clearTimeout(this.#tabRedrawTimer);
    if (usedTabs.length === 0) return;
    const remainingMs = Math.min(...usedTabs.map(({ endMs }) => endMs)) - Date.now();
    this.#tabRedrawTimer = setTimeout(() => this.scheduleRedraw(), Math.max(remainingMs, BadgeIntervalMs));
  }
}

export function makeBadgeContent({ isLinked, waitingCount, runningCount }: BadgeState): BadgeContent {
  if (!isLinked) return { text: '!', color: badgeColors.bad, title: 'opentabs: not connected' };
  if (waitingCount > 0) {
    const title =
      waitingCount === 1
        ? 'opentabs: 1 call waiting for approval'
        : `opentabs: ${waitingCount} calls waiting for approval`;
    return { text: `${formatShortCount(waitingCount)}?`, color: badgeColors.needsApproval, title };
  }
  if (runningCount > 0)
    return {
      text: formatShortCount(runningCount),
      color: badgeColors.runs,
      title: `opentabs: running ${runningCount}`,
    };
  return { text: '', color: badgeColors.runs, title: 'opentabs' };
}

function formatShortCount(n: number): string {
  return n > 99 ? '99' : String(n);
}
