// approval-text.ts creates the texts of notifications about calls that wait for the user.

import type { CallView } from '../../../../wire/wire.gen.ts';
import type { NotificationContent } from '../../chrome-notifications.ts';
import { summarizeArguments } from '../../panel/argument-list.ts';
import { formatToolName, readHost, removeHiddenCharacters } from '../../panel/wording.ts';

/**
 * MaxArgumentChars and MaxReasonChars limit the length of texts in a notification, in UTF-16 code units. Operating
 * systems truncate long texts in notifications.
 */
const MaxArgumentChars = 140;
const MaxReasonChars = 160;

export interface ApprovalNotice {
  readonly content: NotificationContent;
  /** canDecide is false if the notification cannot show everything that the user needs for a decision. */
  readonly canDecide: boolean;
}

export function makeApprovalNotice(call: CallView, otherCount: number): ApprovalNotice {
  const { waiting: waitingView } = call;
  const name = removeHiddenCharacters(waitingView?.toolTitle || formatToolName(call));
  const reason = toOneLine(waitingView?.reason ?? '');
  const pageView = waitingView?.page;
  const context = [
    toOneLine(waitingView?.pluginName ?? ''),
    pageView?.site ? removeHiddenCharacters(readHost(pageView.site)) : '',
    otherCount > 0 ? `${otherCount} more waiting` : '',
  ]
    .filter(Boolean)
    .join(' · ');
  if (waitingView?.kind === 'user') {
    const title = toOneLine(waitingView.title ?? '') || `${name} needs your action`;
    return {
      content: { title, message: truncateReason(reason), context, buttonTitles: ['Done', 'Stop'] },
      canDecide: true,
    };
  }
  const args = summarizeArguments(waitingView?.args ?? '', MaxArgumentChars);
  const canDecide = args !== undefined && reason.length <= MaxReasonChars;
  const effectText = waitingView?.readOnly
    ? 'The author declares that the tool only reads.'
    : 'The tool can change data.';
  const argumentLine = canDecide ? args || 'No arguments.' : 'Open the panel to see everything that the call does.';
  return {
    content: {
      title: `Allow ${name}?`,
      message: `${truncateReason(reason)}. ${effectText}\n${argumentLine}`,
      context,
      buttonTitles: [canDecide ? 'Allow once' : 'Review', 'Deny'],
    },
    canDecide,
  };
}

function toOneLine(text: string): string {
  return removeHiddenCharacters(text).replace(/\s+/gu, ' ').trim();
}

function truncateReason(text: string): string {
  return text.length > MaxReasonChars ? `${text.slice(0, MaxReasonChars)}…` : text.replace(/\.$/, '');
}
