// approval-notifications.ts requests the user's approval of calls with desktop notifications while no side panel is
// open. Only the call that has waited longest has a notification. Notifications outlive the service worker. A service
// worker that Chrome has restarted handles the click on a notification with only the data in the notification's ID.

import type { CallDecideParams, CallDecideResult, CallView } from '../../../../wire/wire.gen.ts';
import type { NotificationContent, NotificationListeners } from '../../chrome-notifications.ts';
import { describeOutcome } from '../../panel/tickets.ts';
import { formatToolName, removeHiddenCharacters } from '../../panel/wording.ts';
import { awaitWithin, sleep } from '../../within.ts';
import { MissingAnswerError, type ServerLink } from '../link/link.ts';
import { makeApprovalNotice } from './approval-text.ts';

/**
 * MinNotificationShownMs protects the user from clicking a notification that has just replaced another notification.
 */
const MinNotificationShownMs = 700;
const NotificationSettleDelayMs = 500;
const OutcomeShownMs = 6000;
const LostLinkDelayMs = 10_000;
/** StaleNotificationDelayMs is how late a notification of a stopped worker can appear, in milliseconds. */
const StaleNotificationDelayMs = 2000;
const PanelOpeningTimeoutMs = 3000;
const DismissedStorageKey = 'dismissedTickets';
const MaxDismissedTickets = 100;

export interface ApprovalNotificationsOptions {
  showNotification(id: string, content: NotificationContent): Promise<void>;
  closeNotification(id: string): Promise<void>;
  listNotifications(): Promise<string[]>;
  isPanelOpen(): boolean;
  /** Chrome allows an extension to open the side panel only while the extension handles a user's click. */
  openPanelFromNotification(): Promise<void>;
  setStateWatching(isWatching: boolean): void;
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
  #shownApproval: ShownApproval | undefined;
  #shownText = '';
  /** #changeableAtMs is the earliest time at which the notification can change again, in milliseconds since 1970. */
  #changeableAtMs = 0;
  readonly #dismissedIds = new Set<string>();
  readonly #decidedTicketIds = new Set<string>();
  #linkLostTimer: ReturnType<typeof setTimeout> | undefined;
  /** #pendingUpdate is the last update of the notification; the next update starts after it has ended. */
  #pendingUpdate: Promise<void>;

  readonly listeners: NotificationListeners = {
    onClick: (id) => this.handleClick(id),
    onButtonClick: (id, button) => this.handleButtonClick(id, button),
    onClose: (id, isClosedByUser) => this.handleClose(id, isClosedByUser),
  };

  constructor(options: ApprovalNotificationsOptions) {
    this.#options = options;
    this.#pendingUpdate = this.#restoreNotification();
    setTimeout(() => this.scheduleUpdate(), StaleNotificationDelayMs);
    this.onLinkLost();
  }

  /** #restoreNotification finds the notification that a previous service worker has shown. */
  async #restoreNotification(): Promise<void> {
    for (const ticketId of (await this.#options.readSessionValue(DismissedStorageKey))?.split(' ') ?? [])
      this.#dismissedIds.add(ticketId);
    const openNotifications = await this.#options.listNotifications();
    this.#shownApproval = openNotifications.map(parseNotificationId).findLast((shown) => shown !== undefined);
    await this.#closeStaleNotifications();
    for (const id of openNotifications.filter(isOutcomeId)) await this.#options.closeNotification(id);
    this.#updateStateWatch();
  }

  /** setWaitingCount updates the number of waiting calls, which the server sends even without a subscription. */
  setWaitingCount(count: number): void {
    this.#waitingCount = count;
    if (count === 0) this.setCalls([]);
    this.#updateStateWatch();
  }

  setCalls(calls: readonly CallView[]): void {
    this.#calls = calls.filter((call) => call.waiting !== undefined);
    clearTimeout(this.#linkLostTimer);
    this.scheduleUpdate();
  }

  /** onLinkLost closes the notification after LostLinkDelayMs, unless the link opens again within LostLinkDelayMs. */
  onLinkLost(): void {
    this.#calls = undefined;
    this.#waitingCount = 0;
    clearTimeout(this.#linkLostTimer);
    this.#linkLostTimer = setTimeout(() => this.setCalls([]), LostLinkDelayMs);
  }

  scheduleUpdate(): void {
    this.#pendingUpdate = this.#pendingUpdate
      .then(() => this.#waitUntilChangeable())
      .then(() => this.#updateNotifications())
      .catch((error: unknown) => console.warn(`opentabs: the notification can't be shown: ${String(error)}`));
  }

  /**
   * If a notification were updated before NotificationSettleDelayMs has passed, Chrome would show a second notification
   * that never closes.
   */
  async #waitUntilChangeable(): Promise<void> {
    const remainingMs = this.#changeableAtMs - Date.now();
    if (remainingMs > 0) await sleep(remainingMs);
  }

  async #updateNotifications(): Promise<void> {
    if (this.#calls) await this.#showOldestApproval(this.#calls);
    await this.#closeStaleNotifications();
  }

  async #showOldestApproval(calls: readonly CallView[]): Promise<void> {
    const call = this.#options.isPanelOpen() ? undefined : calls.find((one) => this.#needsNotification(one));
    if (this.#shownApproval && this.#shownApproval.ticketId !== call?.waiting?.ticketId)
      await this.#closeShownApproval();
    if (call?.waiting) {
      const { content, canDecide } = makeApprovalNotice(call, calls.length - 1);
      const notificationJson = JSON.stringify(content);
      if (!this.#shownApproval || this.#shownText !== notificationJson) {
        const { callId } = call;
        const { ticketId } = call.waiting;
        const shownAtMs = this.#shownApproval?.shownAtMs ?? Date.now();
        // Keep the ID of an updated notification, so that the operating system does not alert the user again.
        const id =
          this.#shownApproval?.canDecide === canDecide
            ? this.#shownApproval.id
            : makeNotificationId(callId, ticketId, shownAtMs, canDecide);
        if (this.#shownApproval && this.#shownApproval.id !== id) await this.#closeShownApproval();
        this.#shownApproval = { id, callId, ticketId, shownAtMs, canDecide };
        this.#shownText = notificationJson;
        await this.#options.showNotification(id, content);
        this.#changeableAtMs = Date.now() + NotificationSettleDelayMs;
      }
    }
    this.#updateStateWatch();
  }

  /**
   * Chrome can create a notification late: after the user's decision, or after the worker that requested the
   * notification has stopped.
   */
  async #closeStaleNotifications(): Promise<void> {
    for (const id of await this.#options.listNotifications())
      if (parseNotificationId(id) && id !== this.#shownApproval?.id) await this.#options.closeNotification(id);
  }

  #needsNotification({ waiting }: CallView): boolean {
    const id = waiting?.ticketId;
    return id !== undefined && !this.#dismissedIds.has(id) && !this.#decidedTicketIds.has(id);
  }

  async #closeShownApproval(): Promise<void> {
    const id = this.#shownApproval?.id;
    this.#forgetShownApproval();
    if (id !== undefined) await this.#options.closeNotification(id);
  }

  #forgetShownApproval(): void {
    this.#shownApproval = undefined;
    this.#shownText = '';
  }

  #updateStateWatch(): void {
    this.#options.setStateWatching(this.#waitingCount > 0 || this.#shownApproval !== undefined);
  }

  handleClick(id: string): void {
    const shownApproval = parseNotificationId(id);
    if (!shownApproval) return;
    // Call openPanelFromNotification synchronously, because Chrome rejects opening the panel after the click handler
    // has returned.
    const panelOpenPromise = this.#options.openPanelFromNotification();
    if (this.#shownApproval?.id === id) this.#forgetShownApproval();
    void this.#options.closeNotification(id);
    void panelOpenPromise
      .catch((error: unknown) => console.warn(`opentabs: the side panel can't be opened: ${String(error)}`))
      .then(() => setTimeout(() => this.scheduleUpdate(), PanelOpeningTimeoutMs));
  }

  handleButtonClick(id: string, button: number): void {
    const shownApproval = parseNotificationId(id);
    if (!shownApproval) return;
    if (button === 0 && !shownApproval.canDecide) {
      this.handleClick(id);
      return;
    }
    if (this.#shownApproval?.id === id) this.#forgetShownApproval();
    void this.#options.closeNotification(id);
    if (Date.now() - shownApproval.shownAtMs >= MinNotificationShownMs) void this.#decide(shownApproval, button === 0);
    else this.scheduleUpdate(); // the user had no time to read the notification
  }

  async #decide({ callId, ticketId }: ShownApproval, isAllowed: boolean): Promise<void> {
    const call = this.#calls?.find((one) => one.waiting?.ticketId === ticketId);
    const params = { callId, ticketId, allow: isAllowed, surface: 'notification' } as const;
    this.#decidedTicketIds.add(ticketId);
    this.scheduleUpdate();
    try {
      const decisionResult = await this.#options.decide(isAllowed ? { ...params, scope: 'once' } : params);
      if (decisionResult.outcome === 'decided') return;
      await this.#showOutcome(
        ticketId,
        describeOutcome(call?.waiting?.kind ?? 'permission', params, decisionResult),
        call,
      );
    } catch (error) {
      this.#decidedTicketIds.delete(ticketId);
      const reason = removeHiddenCharacters(error instanceof Error ? error.message : String(error));
      const effect = error instanceof MissingAnswerError ? 'The decision may have taken effect' : 'Not decided';
      await this.#showOutcome(ticketId, `${effect}: ${reason}`, call);
      this.scheduleUpdate();
    }
  }

  /** #showOutcome shows for a few seconds why the user's decision had no effect. */
  async #showOutcome(ticketId: string, title: string, call: CallView | undefined): Promise<void> {
    const id = makeOutcomeId(ticketId);
    const message = call
      ? removeHiddenCharacters(call.waiting?.toolTitle || formatToolName(call))
      : 'The call no longer waits for you.';
    await this.#options.showNotification(id, { title, message, context: '', buttonTitles: [] });
    setTimeout(() => void this.#options.closeNotification(id), OutcomeShownMs);
  }

  /**
   * handleClose records that the user closed a notification, so that the worker does not show the notification again.
   */
  handleClose(id: string, isClosedByUser: boolean): void {
    if (this.#shownApproval?.id !== id) return;
    const { ticketId } = this.#shownApproval;
    this.#forgetShownApproval();
    if (isClosedByUser) {
      this.#dismissedIds.add(ticketId);
      void this.#options.writeSessionValue(
        DismissedStorageKey,
        [...this.#dismissedIds].slice(-MaxDismissedTickets).join(' '),
      );
    }
    this.scheduleUpdate();
  }
}

/** makeNotificationId returns the ID of a notification, which encodes all data that a later click needs. */
function makeNotificationId(callId: string, ticketId: string, shownAtMs: number, canDecide: boolean): string {
  return ['approval', canDecide ? 'decide' : 'review', shownAtMs, callId, ticketId].join(':');
}

function parseNotificationId(id: string): ShownApproval | undefined {
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

const LinkOpenTimeoutMs = 8000;

/**
 * If the user's click on a notification has just started the service worker, the decision waits until the link is open.
 */
export function makeDecideWhenLinked(
  link: Pick<ServerLink, 'state' | 'opened' | 'request'>,
): ApprovalNotificationsOptions['decide'] {
  return async (params) => {
    if (link.state.kind !== 'open')
      await awaitWithin(new Promise<void>((resolve) => link.opened.addListener(resolve)), LinkOpenTimeoutMs);
    return await link.request('call.decide', params);
  };
}
