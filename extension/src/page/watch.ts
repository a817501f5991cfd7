// Watches what an act changes: nodes, addresses, navigations and loaded resources.
import { animatesContent, finishAnimations } from './animations.ts';
import { expandForms, flatParent, shadowRootOf, watchableRoots } from './flat-tree.ts';
import { pause } from './pace.ts';
import { isClobbered, unclobbered } from './unclobbered.ts';

/** QuietMs is how long the page must not change until an act counts as finished. */
const QuietMs = 40;
/** MaxSettleMs limits the wait for a page that never stops changing. */
const MaxSettleMs = 2_000;
/** FirstChangeMs is how long an act without any effect waits for one, such as the answer of a server. */
const FirstChangeMs = 1_000;
/**
 * HiddenFirstChangeMs replaces FirstChangeMs in a hidden tab, where Chrome runs the timers of a page once a second.
 */
const HiddenFirstChangeMs = 1_100;
/** PendingMs is how much longer the wait takes while the page shows that it is loading. */
const PendingMs = 1_000;
/**
 * SlowTimerMs is how long the next step of a timer-driven animation may take in a hidden tab, in milliseconds.
 * QuickTimerMs applies in a visible tab.
 */
const SlowTimerMs = 1_200;
const QuickTimerMs = 150;
const MaxAnimated = 200;
const StepMs = 10;
/** MinQuietChecks is how often no change must be seen in a row: on a busy machine, time passes while no task runs. */
const MinQuietChecks = 3;
/** MaxAnimationRounds limits how often an act in a hidden tab ends animations, which may begin others. */
const MaxAnimationRounds = 5;
const MaxRecorded = 2_000;

const observed: MutationObserverInit = { childList: true, subtree: true, attributes: true, characterData: true };
const LoadingSelector = `[aria-busy=true],[role=progressbar],progress,[class*=spinner i],[class*=loading i],[class*=skeleton i]`;

/** ChangeWatch records the changes of the page from its creation to close. */
export class ChangeWatch {
  /** The elements that the page added, without those inside of them. */
  readonly added = new Set<Element>();
  /** The elements whose attributes, text or children changed. */
  readonly changed = new Set<Element>();
  /** The address of a navigation to another document that began. */
  navigating: string | undefined;
  /** The file name of a download that began, or its address. */
  download: string | undefined;
  /** The number of changes, also of those that were not recorded. */
  changes = 0;
  readonly url = location.href;
  readonly title = unclobbered.title;
  readonly #startMs = performance.now();
  #lastChangeMs = this.#startMs;
  readonly #mutations = new MutationObserver((records) => this.#record(records));
  readonly #resources = new PerformanceObserver((list) => this.#recordResources(list.getEntries()));
  readonly #onNavigate = (event: NavigateEvent) => this.#recordNavigation(event);
  readonly #onNavigateError = () => {
    this.navigating = undefined;
  };

  constructor() {
    for (const root of watchableRoots()) this.#mutations.observe(root, observed);
    this.#resources.observe({ type: 'resource' });
    navigation.addEventListener('navigate', this.#onNavigate);
    navigation.addEventListener('navigateerror', this.#onNavigateError);
  }

  close(): void {
    this.#record(this.#mutations.takeRecords());
    this.#mutations.disconnect();
    this.#resources.disconnect();
    navigation.removeEventListener('navigate', this.#onNavigate);
    navigation.removeEventListener('navigateerror', this.#onNavigateError);
  }

  get hasMoved(): boolean {
    return location.href !== this.url || unclobbered.title !== this.title;
  }

  /** isFresh reports whether the page added an element, or an element around it. */
  isFresh(element: Element): boolean {
    for (let at: Element | null = element; at; at = flatParent(at)) if (this.added.has(at)) return true;
    return false;
  }

  /** affectedElements returns the changed elements and those around them. */
  affectedElements(): Set<Element> {
    const affected = new Set<Element>();
    for (const element of [...this.added, ...this.changed]) {
      for (let at: Element | null = element; at && !affected.has(at); at = flatParent(at)) affected.add(at);
    }
    return affected;
  }

  #record(records: readonly MutationRecord[]): void {
    if (records.length === 0) return;
    this.changes += records.length;
    this.#lastChangeMs = performance.now();
    for (const { target, type, addedNodes } of records) {
      if (this.changed.size + this.added.size > MaxRecorded) return;
      const element = elementOf(target);
      if (element && !isClobbered(element)) this.changed.add(element);
      if (type !== 'childList') continue;
      for (const node of expandForms(addedNodes)) if (node instanceof Element) this.#recordAdded(node);
    }
  }

  #recordAdded(element: Element): void {
    this.added.add(element);
    const root = shadowRootOf(element);
    if (root) this.#mutations.observe(root, observed);
  }

  #recordResources(entries: readonly PerformanceEntry[]): void {
    const isNew = entries.some((entry) => entry.startTime >= this.#startMs);
    if (isNew) this.#lastChangeMs = performance.now();
  }

  #recordNavigation(event: NavigateEvent): void {
    this.changes++;
    this.#lastChangeMs = performance.now();
    if (event.downloadRequest !== null) this.download = event.downloadRequest || event.destination.url;
    else if (!event.destination.sameDocument) this.navigating = event.destination.url;
  }

  /**
   * settle waits until the page has not changed for 40 ms, and returns whether the page is still changing after the
   * limit. hasEffect reports whether the act changed something that is no change of a node, such as a value.
   */
  async settle(signal: AbortSignal, hasEffect: () => boolean): Promise<boolean> {
    const end = performance.now() + MaxSettleMs;
    const firstEnd = performance.now() + (unclobbered.hidden ? HiddenFirstChangeMs : FirstChangeMs);
    const pendingEnd = performance.now() + PendingMs;
    let rounds = 0;
    let quietChecks = 0;
    let seenChanges = -1;
    for (;;) {
      await pause(StepMs, signal);
      this.#record(this.#mutations.takeRecords());
      const now = performance.now();
      if (this.navigating !== undefined) return false;
      if (unclobbered.hidden && rounds < MaxAnimationRounds && finishAnimations() > 0) {
        rounds++;
        this.#lastChangeMs = now;
        continue;
      }
      if (now > end) return true;
      quietChecks = this.changes === seenChanges ? quietChecks + 1 : 0;
      seenChanges = this.changes;
      if (now - this.#lastChangeMs < QuietMs || quietChecks < MinQuietChecks) continue;
      if (this.changes === 0 && !this.hasMoved && !hasEffect() && now < firstEnd) continue;
      if (!unclobbered.hidden && animatesContent()) {
        this.#lastChangeMs = now; // the page changes again when the animation has ended
        continue;
      }
      const stepMs = unclobbered.hidden ? SlowTimerMs : QuickTimerMs;
      if (now - this.#lastChangeMs < stepMs && this.#isAnimatedByScript()) continue;
      const isLoading = now < pendingEnd && this.#showsLoading();
      if (!isLoading) return now >= pendingEnd && this.#showsLoading();
    }
  }

  /** #isAnimatedByScript reports whether a script is gradually opening or fading a part of the page. */
  #isAnimatedByScript(): boolean {
    for (const element of [...this.changed].slice(0, MaxAnimated)) {
      if (!(element instanceof HTMLElement) || !element.isConnected) continue;
      const { overflow, height, width, opacity } = element.style;
      const isSized = height !== '' || width !== '';
      if (isSized && (overflow || getComputedStyle(element).overflowY) === 'hidden') return true;
      if (opacity !== '' && Number(opacity) > 0 && Number(opacity) < 1) return true;
    }
    return false;
  }

  /** #showsLoading reports whether the page shows that it is loading. */
  #showsLoading(): boolean {
    let checked = 0;
    for (const set of [this.added, this.changed]) {
      for (const element of set) {
        if (++checked > 200) return false;
        if (!element.isConnected) continue;
        if (element.matches(LoadingSelector) && element.checkVisibility()) return true;
        if (this.added.has(element) && element.querySelector(LoadingSelector)?.checkVisibility()) return true;
      }
    }
    return false;
  }
}

function elementOf(target: Node): Element | null {
  if (target instanceof Element) return target;
  return target instanceof ShadowRoot ? target.host : target.parentElement;
}
