// approval-notifications.ts requests the user's approval of calls with desktop notifications while no side panel is
// open. Only the call that has waited longest has a notification. Notifications outlive the service worker. A service
// worker that Chrome has restarted handles the click on a notification with only the data in the notification's ID.

import type { CallDecideParams, CallDecideResult, CallView } from '../../../../wire/wire.gen.ts';
import type { NotificationContent, NotificationListeners } from '../../chrome-notifications.ts';
import { describeOutcome } from '../../panel/tickets.ts';
import { formatToolName, removeHiddenCharacters } from '../../panel/wording.ts';
import { awaitWithin, sleep } from '../../within.ts';
import type { Link } from '../link/link.ts';
import { makeApprovalNotice } from './approval-text.ts';

/** MinShownMs protects the user from clicking a notification that has just replaced another notification. */
const MinShownMs = 700;
const SettleDelayMs = 500;
const OutcomeShownMs = 6000;
const LostLinkDelayMs = 10_000;
/** If Chrome stops a worker, the worker's new notifications can appear late. */
const StrayDelayMs = 2000;
const PanelOpeningTimeoutMs = 3000;
const DismissedKey = 'dismissedTickets';
const MaxDismissed = 100;

export interface ApprovalNotificationsOptions {
  show(id: string, content: NotificationContent): Promise<void>;
  close(id: string): Promise<void>;
  listOpen(): Promise<string[]>;
  isPanelOpen(): boolean;
  /** Chrome allows an extension to open the side panel only while the extension handles a user's click. */
  openPanel(): Promise<void>;
  setWatching(isWatching: boolean): void;
  decide(params: CallDecideParams): Promise<CallDecideResult>;
  /** readSessionValue and writeSessionValue access storage that Chrome clears when the browser restarts. */
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

interface ShownApproval {
  readonly id: string;
  readonly callId: string;
  readonly ticketId: string;
  readonly shownAtMs: number;
  /** If canDecide is false, the notification's first button opens the side panel. */
  readonly canDecide: boolean;
}

/**
 * ApprovalNotifications shows and closes notifications about waiting calls, and handles clicks on the notifications.
 */
export class ApprovalNotifications {
  readonly #options: ApprovalNotificationsOptions;
  #calls: readonly CallView[] | undefined;
  #waitingCount = 0;
  #shown: ShownApproval | undefined;
  #shownText = '';
  /** #settledAtMs is when the notification can change again, in milliseconds since 1970. */
  #settledAtMs = 0;
  readonly #dismissed = new Set<string>();
  readonly #decided = new Set<string>();
  #lostTimer: ReturnType<typeof setTimeout> | undefined;
  /** An update of the notification starts after the previous update has ended. */
  #pendingWork: Promise<void>;

  readonly listeners: NotificationListeners = {
    onClick: (id) => this.handleClick(id),
    onButtonClick: (id, button) => this.handleButtonClick(id, button),
    onClose: (id, isByUser) => this.handleClose(id, isByUser),
  };

  constructor(options: ApprovalNotificationsOptions) {
    this.#options = options;
    this.#pendingWork = this.#restore();
    setTimeout(() => this.scheduleUpdate(), StrayDelayMs);
    this.onLinkLost();
  }

  /** #restore finds the notification that a previous service worker has shown. */
  async #restore(): Promise<void> {
    for (const ticketId of (await this.#options.readSessionValue(DismissedKey))?.split(' ') ?? [])
      this.#dismissed.add(ticketId);
    const open = await this.#options.listOpen();
    this.#shown = open.map(parseId).findLast((shown) => shown !== undefined);
    await this.#closeStrays();
    for (const id of open.filter(isOutcomeId)) await this.#options.close(id);
    this.#updateWatching();
  }

  /** setWaitingCount updates the number of waiting calls, which the server sends even without a subscription. */
  setWaitingCount(count: number): void {
    this.#waitingCount = count;
    if (count === 0) this.setCalls([]);
    this.#updateWatching();
  }

  setCalls(calls: readonly CallView[]): void {
    this.#calls = calls.filter((call) => call.waiting !== undefined);
    clearTimeout(this.#lostTimer);
    this.scheduleUpdate();
  }

  /** onLinkLost closes the notification after LostLinkDelayMs, unless the link opens again within LostLinkDelayMs. */
  onLinkLost(): void {
    this.#calls = undefined;
    this.#waitingCount = 0;
    clearTimeout(this.#lostTimer);
    this.#lostTimer = setTimeout(() => this.setCalls([]), LostLinkDelayMs);
  }

  scheduleUpdate(): void {
    this.#pendingWork = this.#pendingWork
      .then(() => this.#settle())
      .then(() => this.#update())
      .catch((error: unknown) => console.warn(`opentabs: the notification can't be shown: ${String(error)}`));
  }

  /**
   * If a notification were updated before SettleDelayMs has passed, Chrome would show a second notification that never
   * closes.
   */
  async #settle(): Promise<void> {
    const leftMs = this.#settledAtMs - Date.now();
    if (leftMs > 0) await sleep(leftMs);
  }

  async #update(): Promise<void> {
    if (this.#calls) await this.#showOldest(this.#calls);
    await this.#closeStrays();
  }

  async #showOldest(calls: readonly CallView[]): Promise<void> {
    const call = this.#options.isPanelOpen() ? undefined : calls.find((one) => this.#needsNotification(one));
    if (this.#shown && this.#shown.ticketId !== call?.waiting?.ticketId) await this.#closeShown();
    if (call?.waiting) {
      const { content, canDecide } = makeApprovalNotice(call, calls.length - 1);
      const text = JSON.stringify(content);
      if (!this.#shown || this.#shownText !== text) {
        const { callId } = call;
        const { ticketId } = call.waiting;
        const shownAtMs = this.#shown?.shownAtMs ?? Date.now();
        // Keep the ID of an updated notification, so that the operating system does not alert the user again.
        const id =
          this.#shown?.canDecide === canDecide ? this.#shown.id : makeId(callId, ticketId, shownAtMs, canDecide);
        if (this.#shown && this.#shown.id !== id) await this.#closeShown();
        this.#shown = { id, callId, ticketId, shownAtMs, canDecide };
        this.#shownText = text;
        await this.#options.show(id, content);
        this.#settledAtMs = Date.now() + SettleDelayMs;
      }
    }
    this.#updateWatching();
  }

  /**
   * Chrome can create a notification late: after the user's decision, or after the worker that requested the
   * notification has stopped.
   */
  async #closeStrays(): Promise<void> {
    for (const id of await this.#options.listOpen())
      if (parseId(id) && id !== this.#shown?.id) await this.#options.close(id);
  }

  #needsNotification({ waiting }: CallView): boolean {
    const id = waiting?.ticketId;
    return id !== undefined && !this.#dismissed.has(id) && !this.#decided.has(id);
  }

  async #closeShown(): Promise<void> {
    const id = this.#shown?.id;
    this.#forgetShown();
    if (id !== undefined) await this.#options.close(id);
  }

  #forgetShown(): void {
    this.#shown = undefined;
    this.#shownText = '';
  }

  #updateWatching(): void {
    this.#options.setWatching(this.#waitingCount > 0 || this.#shown !== undefined);
  }

  handleClick(id: string): void {
    const approval = parseId(id);
    if (!approval) return;
    // Call openPanel synchronously, because Chrome rejects opening the panel after the click handler has returned.
    const opening = this.#options.openPanel();
    if (this.#shown?.id === id) this.#forgetShown();
    void this.#options.close(id);
    void opening
      .catch((error: unknown) => console.warn(`opentabs: the side panel can't be opened: ${String(error)}`))
      .then(() => setTimeout(() => this.scheduleUpdate(), PanelOpeningTimeoutMs));
  }

  handleButtonClick(id: string, button: number): void {
    const approval = parseId(id);
    if (!approval) return;
    if (button === 0 && !approval.canDecide) {
      this.handleClick(id);
      return;
    }
    if (this.#shown?.id === id) this.#forgetShown();
    void this.#options.close(id);
    if (Date.now() - approval.shownAtMs >= MinShownMs) void this.#decide(approval, button === 0);
    else this.scheduleUpdate(); // The notification was shown so briefly that the user cannot have read it.
  }

  async #decide({ callId, ticketId }: ShownApproval, allow: boolean): Promise<void> {
    const call = this.#calls?.find((one) => one.waiting?.ticketId === ticketId);
    const params = { callId, ticketId, allow, surface: 'notification' } as const;
    this.#decided.add(ticketId);
    this.scheduleUpdate();
    try {
      const decided = await this.#options.decide(allow ? { ...params, scope: 'once' } : params);
      if (decided.outcome === 'decided') return;
      await this.#showOutcome(ticketId, describeOutcome(call?.waiting?.kind ?? 'permission', params, decided), call);
    } catch (error) {
      this.#decided.delete(ticketId);
      const reason = removeHiddenCharacters(error instanceof Error ? error.message : String(error));
      await this.#showOutcome(ticketId, `Not decided: ${reason}`, call);
      this.scheduleUpdate();
    }
  }

  /** #showOutcome shows for a few seconds why the user's decision had no effect. */
  async #showOutcome(ticketId: string, title: string, call: CallView | undefined): Promise<void> {
    const id = makeOutcomeId(ticketId);
    const message = call
      ? removeHiddenCharacters(call.waiting?.toolTitle || formatToolName(call))
      : 'The call no longer waits for you.';
    await this.#options.show(id, { title, message, context: '', buttons: [] });
    setTimeout(() => void this.#options.close(id), OutcomeShownMs);
  }

  /** If the user has closed a notification, the worker does not show the notification again. */
  handleClose(id: string, isByUser: boolean): void {
    if (this.#shown?.id !== id) return;
    const { ticketId } = this.#shown;
    this.#forgetShown();
    if (isByUser) {
      this.#dismissed.add(ticketId);
      void this.#options.writeSessionValue(DismissedKey, [...this.#dismissed].slice(-MaxDismissed).join(' '));
    }
    this.scheduleUpdate();
  }
}

/** makeId encodes the data of a notification in its ID. */
function makeId(callId: string, ticketId: string, shownAtMs: number, canDecide: boolean): string {
  return ['approval', canDecide ? 'decide' : 'review', shownAtMs, callId, ticketId].join(':');
}

function parseId(id: string): ShownApproval | undefined {
  const [kind, buttons, shownAtMs, callId, ticketId, ...rest] = id.split(':');
  if (kind !== 'approval' || callId === undefined || ticketId === undefined || rest.length > 0) return undefined;
  return { id, callId, ticketId, shownAtMs: Number(shownAtMs), canDecide: buttons === 'decide' };
}

function makeOutcomeId(ticketId: string): string {
  return `outcome:${ticketId}`;
}

function isOutcomeId(id: string): boolean {
  return id.startsWith('outcome:');
}

const DecisionLinkMs = 8000;

/**
 * If the user's click on a notification has just started the service worker, the decision waits until the link is open.
 */
export function makeLinkedDecide(
  link: Pick<Link, 'state' | 'opened' | 'request'>,
): ApprovalNotificationsOptions['decide'] {
  return async (params) => {
    if (link.state.kind !== 'open')
      await awaitWithin(new Promise<void>((resolve) => link.opened.addListener(resolve)), DecisionLinkMs);
    return await link.request('call.decide', params);
  };
}
