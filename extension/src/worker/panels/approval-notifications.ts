// Asks the user about waiting calls by notifications of the desktop while no side panel is open. Only the call that has
// waited longest has a notification. Notifications outlive the worker, so the ID of a notification contains all that a
// new worker needs to handle a click.

import type { CallDecideParams, CallDecideResult, CallView } from '../../../../wire/wire.gen.ts';
import type { NotificationContent, NotificationListeners } from '../../chrome-notifications.ts';
import { decisionOutcome } from '../../panel/tickets.ts';
import { removeHidden, toolText } from '../../panel/wording.ts';
import { within } from '../../within.ts';
import type { Link } from '../link/link.ts';
import { approvalNotice } from './approval-text.ts';

/**
 * MinShownMs is how long a notification must be shown before its buttons decide, in milliseconds. Otherwise the user
 * could click a notification that has just replaced another.
 */
const MinShownMs = 700;
/** OutcomeShownMs is how long the outcome of a late decision is shown, in milliseconds. */
const OutcomeShownMs = 6000;
/** LostLinkMs is how long a notification stays without a connection to the server, in milliseconds. */
const LostLinkMs = 10_000;
/** PanelOpeningMs is the time in which a side panel opens after a click, in milliseconds. */
const PanelOpeningMs = 3000;
/** DismissedKey is the key of the dismissed tickets in the session storage. */
const DismissedKey = 'dismissedTickets';
/** MaxDismissed limits the stored dismissed tickets. */
const MaxDismissed = 100;

export interface ApprovalNotificationsOptions {
  show(id: string, content: NotificationContent): Promise<void>;
  close(id: string): Promise<void>;
  listOpen(): Promise<string[]>;
  /** isPanelOpen reports whether a side panel of this browser is open. */
  isPanelOpen(): boolean;
  /** openPanel opens the side panel. The caller handles a click of the user. */
  openPanel(): Promise<void>;
  /** setWatching turns the list of calls on while a call waits or a notification is shown. */
  setWatching(isWatching: boolean): void;
  decide(params: CallDecideParams): Promise<CallDecideResult>;
  /** readSessionValue and writeSessionValue store a text until the browser restarts. */
  readSessionValue(key: string): Promise<string | undefined>;
  writeSessionValue(key: string, value: string): Promise<void>;
}

/** ShownApproval is a notification that Chrome shows for a ticket. */
interface ShownApproval {
  readonly id: string;
  readonly callId: string;
  readonly ticketId: string;
  readonly shownAtMs: number;
  /** canDecide is false if the first button opens the side panel. */
  readonly canDecide: boolean;
}

/** ApprovalNotifications shows and closes the notifications of waiting calls, and handles their clicks. */
export class ApprovalNotifications {
  readonly #options: ApprovalNotificationsOptions;
  /** #calls are the waiting calls in the order of arrival; undefined while they are unknown. */
  #calls: readonly CallView[] | undefined;
  #waitingCount = 0;
  #shown: ShownApproval | undefined;
  #shownText = '';
  /** #dismissed are the tickets whose notification the user has closed. */
  readonly #dismissed = new Set<string>();
  /** #decided are the tickets that the user has decided in a notification. */
  readonly #decided = new Set<string>();
  #lostTimer: ReturnType<typeof setTimeout> | undefined;
  /** #work runs one update of the notification after the other. */
  #work: Promise<void>;

  /** listeners receive what the user does with the notifications. */
  readonly listeners: NotificationListeners = {
    onClick: (id) => this.handleClick(id),
    onButtonClick: (id, button) => this.handleButtonClick(id, button),
    onClose: (id, isByUser) => this.handleClose(id, isByUser),
  };

  constructor(options: ApprovalNotificationsOptions) {
    this.#options = options;
    this.#work = this.#restore();
    this.linkLost();
  }

  /** #restore finds the notification that an earlier worker has shown. */
  async #restore(): Promise<void> {
    for (const ticketId of (await this.#options.readSessionValue(DismissedKey))?.split(' ') ?? [])
      this.#dismissed.add(ticketId);
    const open = await this.#options.listOpen();
    const approvals = open.map(parseId).filter((shown) => shown !== undefined);
    this.#shown = approvals.pop();
    for (const { id } of approvals) await this.#options.close(id);
    for (const id of open.filter(isOutcomeId)) await this.#options.close(id);
    this.#updateWatching();
  }

  /** setWaitingCount handles the server's number of waiting calls. */
  setWaitingCount(count: number): void {
    this.#waitingCount = count;
    if (count === 0) this.setCalls([]);
    this.#updateWatching();
  }

  /** setCalls handles the server's list of calls. */
  setCalls(calls: readonly CallView[]): void {
    this.#calls = calls.filter((call) => call.waiting !== undefined);
    clearTimeout(this.#lostTimer);
    this.scheduleUpdate();
  }

  /** linkLost closes the notification later, unless the connection returns. */
  linkLost(): void {
    this.#calls = undefined;
    this.#waitingCount = 0;
    clearTimeout(this.#lostTimer);
    this.#lostTimer = setTimeout(() => this.setCalls([]), LostLinkMs);
  }

  /** scheduleUpdate shows and closes notifications as the calls and the panels need it. */
  scheduleUpdate(): void {
    this.#work = this.#work
      .then(() => this.#update())
      .catch((error: unknown) => console.warn(`opentabs: the notification can't be shown: ${String(error)}`));
  }

  async #update(): Promise<void> {
    if (!this.#calls) return;
    const call = this.#options.isPanelOpen() ? undefined : this.#calls.find((one) => this.#needsNotification(one));
    if (this.#shown && this.#shown.ticketId !== call?.waiting?.ticketId) await this.#closeShown();
    if (call?.waiting) {
      const { content, canDecide } = approvalNotice(call, this.#calls.length - 1);
      const text = JSON.stringify(content);
      if (!this.#shown || this.#shownText !== text) {
        const { callId } = call;
        const { ticketId } = call.waiting;
        const shownAtMs = this.#shown?.shownAtMs ?? Date.now();
        // An update keeps the ID, so that the system does not alert the user again.
        const id =
          this.#shown?.canDecide === canDecide ? this.#shown.id : makeId(callId, ticketId, shownAtMs, canDecide);
        if (this.#shown && this.#shown.id !== id) await this.#closeShown();
        this.#shown = { id, callId, ticketId, shownAtMs, canDecide };
        this.#shownText = text;
        await this.#options.show(id, content);
      }
    }
    this.#updateWatching();
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

  /** handleClick opens the side panel after a click on the text of a notification. */
  handleClick(id: string): void {
    const approval = parseId(id);
    if (!approval) return;
    // Chrome allows openPanel only before the handler of the click returns.
    const opening = this.#options.openPanel();
    if (this.#shown?.id === id) this.#forgetShown();
    void this.#options.close(id);
    void opening
      .catch((error: unknown) => console.warn(`opentabs: the side panel can't be opened: ${String(error)}`))
      .then(() => setTimeout(() => this.scheduleUpdate(), PanelOpeningMs));
  }

  /** handleButtonClick sends the user's decision. */
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
    else this.scheduleUpdate(); // the user has not read the notification, so it is shown again
  }

  async #decide({ callId, ticketId }: ShownApproval, allow: boolean): Promise<void> {
    const call = this.#calls?.find((one) => one.waiting?.ticketId === ticketId);
    const params = { callId, ticketId, allow, surface: 'notification' } as const;
    this.#decided.add(ticketId);
    this.scheduleUpdate();
    try {
      const decided = await this.#options.decide(allow ? { ...params, scope: 'once' } : params);
      if (decided.outcome === 'decided') return;
      await this.#showOutcome(ticketId, decisionOutcome(call?.waiting?.kind ?? 'permission', params, decided), call);
    } catch (error) {
      this.#decided.delete(ticketId);
      const reason = removeHidden(error instanceof Error ? error.message : String(error));
      await this.#showOutcome(ticketId, `Not decided: ${reason}`, call);
      this.scheduleUpdate();
    }
  }

  /** #showOutcome shows for a short time that a decision had no effect. */
  async #showOutcome(ticketId: string, title: string, call: CallView | undefined): Promise<void> {
    const id = outcomeId(ticketId);
    const message = call
      ? removeHidden(call.waiting?.toolTitle || toolText(call))
      : 'The call no longer waits for you.';
    await this.#options.show(id, { title, message, context: '', buttons: [] });
    setTimeout(() => void this.#options.close(id), OutcomeShownMs);
  }

  /** handleClose handles that a notification was closed. A notification that the user closed is not shown again. */
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

/** makeId returns the ID of a notification. */
function makeId(callId: string, ticketId: string, shownAtMs: number, canDecide: boolean): string {
  return ['approval', canDecide ? 'decide' : 'review', shownAtMs, callId, ticketId].join(':');
}

/** parseId returns the notification with an ID, or undefined for a notification that asks nothing. */
function parseId(id: string): ShownApproval | undefined {
  const [kind, buttons, shownAtMs, callId, ticketId, ...rest] = id.split(':');
  if (kind !== 'approval' || callId === undefined || ticketId === undefined || rest.length > 0) return undefined;
  return { id, callId, ticketId, shownAtMs: Number(shownAtMs), canDecide: buttons === 'decide' };
}

function outcomeId(ticketId: string): string {
  return `outcome:${ticketId}`;
}

function isOutcomeId(id: string): boolean {
  return id.startsWith('outcome:');
}

/** DecisionLinkMs is how long a decision waits for the link to the server, in milliseconds. */
const DecisionLinkMs = 8000;

/**
 * makeLinkedDecide returns a function that sends a decision to the server. If a click has started the worker, the
 * decision waits for the link to the server.
 */
export function makeLinkedDecide(
  link: Pick<Link, 'state' | 'opened' | 'request'>,
): ApprovalNotificationsOptions['decide'] {
  return async (params) => {
    if (link.state.kind !== 'open')
      await within(new Promise<void>((resolve) => link.opened.addListener(resolve)), DecisionLinkMs);
    return await link.request('call.decide', params);
  };
}
