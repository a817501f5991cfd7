// Watches what an action changes on the page: DOM nodes, URLs, navigations and loaded resources.
import { animatesContent, finishAnimations, isFadingOut } from './animations.ts';
import { expandForms, getFlatParent, getShadowRoot, listKnownRoots } from './flat-tree.ts';
import { pause, waitForNextFrame } from './pace.ts';
import { isClobbered, unclobberedDocument } from './unclobbered.ts';

/** QuietPeriodMs is how long the page must stay unchanged until an action counts as finished, in milliseconds. */
const QuietPeriodMs = 40;
/** MaxSettleMs limits the wait for a page that never stops changing, in milliseconds. */
const MaxSettleMs = 2_000;
/**
 * FirstChangeTimeoutMs is how long an action waits for the page's first change, such as the display of a server's
 * response, in milliseconds.
 */
const FirstChangeTimeoutMs = 1_000;
/**
 * In a hidden tab, HiddenFirstChangeTimeoutMs replaces FirstChangeTimeoutMs, because Chrome runs the page's timers only
 * once per second.
 */
const HiddenFirstChangeTimeoutMs = 1_100;
/** ExtraLoadingWaitMs is the additional wait while the page indicates that it is loading, in milliseconds. */
const ExtraLoadingWaitMs = 1_000;
/**
 * HiddenAnimationStepMs limits the wait for the next step of a timer-driven animation in a hidden tab, in milliseconds.
 */
const HiddenAnimationStepMs = 1_200;
const AnimationStepMs = 150;
const MaxCheckedAnimations = 200;
const CheckIntervalMs = 10;
/**
 * MinUnchangedChecks is how many checks must find no change, because on a busy machine time can pass in which no task
 * of the page runs.
 */
const MinUnchangedChecks = 3;
/**
 * MaxAnimationRounds limits how often an action in a hidden tab finishes animations, because a finished animation can
 * start new ones.
 */
const MaxAnimationRounds = 5;
/** On a busy machine, Chrome draws the next frame late, and sends the events of ended animations late. */
const AnimationEndTimeoutMs = 500;
const MaxRecordedElements = 2_000;

/** SuggestionsTimeoutMs is longer than the pause after which most fields request suggestions. */
const SuggestionsTimeoutMs = 350;
/** In a hidden tab, Chrome runs timers once a second, so a pause of 300 ms can take 1,300 ms. */
const HiddenSuggestionsTimeoutMs = 1_400;

function getSuggestionsTimeoutMs(): number {
  return unclobberedDocument.hidden ? HiddenSuggestionsTimeoutMs : SuggestionsTimeoutMs;
}

const mutationOptions: MutationObserverInit = { childList: true, subtree: true, attributes: true, characterData: true };
const LoadingSelector = `[aria-busy=true],[role=progressbar],progress,[class*=spinner i],[class*=loading i],[class*=skeleton i]`;

const scrollListenerOptions: AddEventListenerOptions = { capture: true, passive: true };
/** An action may scroll its element into view before the input, but only a scroll after the input is an effect. */
const InputEvents = ['pointermove', 'pointerdown', 'keydown'] as const;

/** In a hidden tab, the scroll event of an earlier action can arrive during a later action. */
const lastPositions = new WeakMap<Element, string>();

const ListSelector = '[role=listbox],[role=option],[role=menu],[role=grid],[role=tree]';

export class ChangeWatch {
  /** The field `addedElements` contains the elements that the page added, without their descendants. */
  readonly addedElements = new Set<Element>();
  /** The field `changed` contains the elements whose attributes, text or children have changed. */
  readonly changed = new Set<Element>();
  navigating: string | undefined;
  download: string | undefined;
  changes = 0;
  readonly url = location.href;
  readonly title = unclobberedDocument.title;
  /** #observedRoots contains the document and the shadow roots, because scroll events do not leave a shadow root. */
  readonly #observedRoots = [...listKnownRoots()];
  #hasScrollEvent = false;
  #scrollPosition = readScrollPosition();
  /** #finishedElements contains the elements whose animations the method `waitUntilSettled` has finished. */
  readonly #finishedElements = new Set<Element>();
  readonly #startMs = performance.now();
  #lastChangeMs = this.#startMs;
  readonly #mutationObserver = new MutationObserver((records) => this.#recordMutations(records));
  readonly #resourceObserver = new PerformanceObserver((list) => this.#recordResources(list.getEntries()));
  readonly #onNavigate = (event: NavigateEvent) => this.#recordNavigation(event);
  readonly #onScroll = ({ target }: Event) => {
    if (!(target instanceof Element)) return; // the getter hasScrolled checks the scroll position of the page itself
    const position = formatPosition(target);
    if (lastPositions.get(target) === position) return;
    lastPositions.set(target, position);
    this.#hasScrollEvent = true;
    this.#lastChangeMs = performance.now();
  };
  readonly #onInput = (event: Event) => {
    for (const pathElement of event.composedPath())
      if (pathElement instanceof Element) lastPositions.set(pathElement, formatPosition(pathElement));
    this.#hasScrollEvent = false;
    this.#scrollPosition = readScrollPosition();
  };
  readonly #onNavigateError = () => {
    this.navigating = undefined;
  };

  constructor() {
    for (const root of this.#observedRoots) {
      this.#mutationObserver.observe(root, mutationOptions);
      root.addEventListener('scroll', this.#onScroll, scrollListenerOptions);
    }
    for (const type of InputEvents) addEventListener(type, this.#onInput, scrollListenerOptions);
    this.#resourceObserver.observe({ type: 'resource' });
    navigation.addEventListener('navigate', this.#onNavigate);
    navigation.addEventListener('navigateerror', this.#onNavigateError);
  }

  close(): void {
    this.#recordMutations(this.#mutationObserver.takeRecords());
    this.#mutationObserver.disconnect();
    this.#resourceObserver.disconnect();
    for (const root of this.#observedRoots) root.removeEventListener('scroll', this.#onScroll, scrollListenerOptions);
    for (const type of InputEvents) removeEventListener(type, this.#onInput, scrollListenerOptions);
    navigation.removeEventListener('navigate', this.#onNavigate);
    navigation.removeEventListener('navigateerror', this.#onNavigateError);
  }

  /** hasScrolled is true if the page or a scrollable element has scrolled since the last input. */
  get hasScrolled(): boolean {
    return this.#hasScrollEvent || readScrollPosition() !== this.#scrollPosition;
  }

  get hasUrlOrTitleChanged(): boolean {
    return location.href !== this.url || unclobberedDocument.title !== this.title;
  }

  isAddedElement(element: Element): boolean {
    for (let at: Element | null = element; at; at = getFlatParent(at)) if (this.addedElements.has(at)) return true;
    return false;
  }

  affectedElements(): Set<Element> {
    const elementSet = new Set<Element>();
    for (const element of [...this.addedElements, ...this.changed]) {
      for (let at: Element | null = element; at && !elementSet.has(at); at = getFlatParent(at)) elementSet.add(at);
    }
    return elementSet;
  }

  #recordMutations(records: readonly MutationRecord[]): void {
    if (records.length === 0) return;
    this.changes += records.length;
    this.#lastChangeMs = performance.now();
    for (const { target, type, addedNodes } of records) {
      if (this.changed.size + this.addedElements.size > MaxRecordedElements) return;
      const element = toElement(target);
      if (element && !isClobbered(element)) this.changed.add(element);
      if (type !== 'childList') continue;
      for (const node of expandForms([...addedNodes])) if (node instanceof Element) this.#recordAdded(node);
    }
  }

  #recordAdded(element: Element): void {
    this.addedElements.add(element);
    const root = getShadowRoot(element);
    if (root) this.#mutationObserver.observe(root, mutationOptions);
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
   * The method `waitUntilSettled` waits until the page has not changed for QuietPeriodMs, and returns true if the page
   * is still changing at the time limit. If showsSuggestions is true, `waitUntilSettled` also waits a short time for a
   * change of a list: many fields update their list of suggestions only when the user pauses.
   */
  async waitUntilSettled(signal: AbortSignal, hasEffect: () => boolean, showsSuggestions = false): Promise<boolean> {
    const suggestionsEndMs = performance.now() + (showsSuggestions ? getSuggestionsTimeoutMs() : 0);
    const end = performance.now() + MaxSettleMs;
    const firstChangeDeadlineMs =
      performance.now() + (unclobberedDocument.hidden ? HiddenFirstChangeTimeoutMs : FirstChangeTimeoutMs);
    const loadingEndMs = performance.now() + ExtraLoadingWaitMs;
    let animationRounds = 0;
    let quietCheckCount = 0;
    let wasAnimated = false;
    let lastChangeCount = -1;
    for (;;) {
      await pause(CheckIntervalMs, signal);
      this.#recordMutations(this.#mutationObserver.takeRecords());
      const now = performance.now();
      if (this.navigating !== undefined) return false;
      if (unclobberedDocument.hidden && animationRounds < MaxAnimationRounds && this.#finishAnimations() > 0) {
        animationRounds++;
        this.#lastChangeMs = now;
        continue;
      }
      if (now > end) return true;
      if (!unclobberedDocument.hidden && animatesContent()) {
        wasAnimated = true;
        this.#lastChangeMs = now; // the page may change again after the animation
        continue;
      }
      if (wasAnimated) {
        wasAnimated = false;
        await waitForNextFrame(signal, AnimationEndTimeoutMs);
        this.#lastChangeMs = performance.now();
        continue;
      }
      quietCheckCount = this.changes === lastChangeCount ? quietCheckCount + 1 : 0;
      lastChangeCount = this.changes;
      if (now - this.#lastChangeMs < QuietPeriodMs || quietCheckCount < MinUnchangedChecks) continue;
      // A page can scroll before it shows the response of its server, so a scroll does not end the wait for a change.
      if (this.changes === 0 && !this.hasUrlOrTitleChanged && !hasEffect() && now < firstChangeDeadlineMs) continue;
      if (now < suggestionsEndMs && !this.#hasChangedList()) continue;
      const animationWaitMs = unclobberedDocument.hidden ? HiddenAnimationStepMs : AnimationStepMs;
      if (now - this.#lastChangeMs < animationWaitMs && (this.#isAnimatedByScript() || this.#hidesContent())) continue;
      const isLoading = now < loadingEndMs && this.#showsLoadingIndicator();
      if (!isLoading) return now >= loadingEndMs && this.#showsLoadingIndicator();
    }
  }

  #isAnimatedByScript(): boolean {
    for (const element of [...this.changed].slice(0, MaxCheckedAnimations)) {
      if (!(element instanceof HTMLElement) || !element.isConnected) continue;
      const { overflow, height, width, opacity } = element.style;
      const hasInlineSize = height !== '' || width !== '';
      if (hasInlineSize && (overflow || getComputedStyle(element).overflowY) === 'hidden') return true;
      if (opacity !== '' && Number(opacity) > 0 && Number(opacity) < 1) return true;
    }
    return false;
  }

  #finishAnimations(): number {
    return finishAnimations((target) => this.#finishedElements.add(target));
  }

  #hidesContent(): boolean {
    return [...this.#finishedElements].slice(0, MaxCheckedAnimations).some(isFadingOut);
  }

  #hasChangedList(): boolean {
    const isInList = (element: Element) => element.closest(ListSelector) !== null;
    const containsOrIsInList = (element: Element) => isInList(element) || element.querySelector(ListSelector) !== null;
    return [...this.addedElements].some(containsOrIsInList) || [...this.changed].some(isInList);
  }

  #showsLoadingIndicator(): boolean {
    let checkedCount = 0;
    for (const set of [this.addedElements, this.changed]) {
      for (const element of set) {
        if (++checkedCount > 200) return false;
        if (!element.isConnected) continue;
        if (element.matches(LoadingSelector) && element.checkVisibility()) return true;
        if (this.addedElements.has(element) && element.querySelector(LoadingSelector)?.checkVisibility()) return true;
      }
    }
    return false;
  }
}

function readScrollPosition(): string {
  return `${Math.round(scrollX)}, ${Math.round(scrollY)}`;
}

function formatPosition({ scrollLeft, scrollTop }: Element): string {
  return `${scrollLeft}, ${scrollTop}`;
}

function toElement(target: Node): Element | null {
  if (target instanceof Element) return target;
  return target instanceof ShadowRoot ? target.host : target.parentElement;
}
