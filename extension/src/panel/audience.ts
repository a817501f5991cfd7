// Selects the messages, results and activities that the panel shows. A tool marks its result and each of its progress
// reports as meant for the user or not. The panel always shows calls, their endings, their progress numbers and pending
// approvals, even if their content is not meant for the user.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/** UserAudience is the audience of content that is meant for the user. */
const UserAudience = 'user';

export interface VisibleProgress {
  /** progressShare is the completed fraction of the call, from 0 to 1, or undefined if unknown. */
  readonly progressShare: number | undefined;
  readonly reportMessage: string;
  /** statusWord is the tool's status word for the call, such as "indexing", or empty if the tool reported none. */
  readonly statusWord: string;
}

export function readVisibleProgress(call: CallView, showsEverything: boolean): VisibleProgress {
  const reportMessage = (showsEverything ? call.message : call.userMessage) ?? '';
  return {
    progressShare: call.progress,
    reportMessage,
    statusWord: (showsEverything ? call.statusWord : call.userStatusWord) ?? '',
  };
}

export function listVisibleActivities(call: CallView, showsEverything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => showsEverything || activity.audience === UserAudience);
}

export function hasNotEnded(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

export function readVisibleResult(call: CallView, showsEverything: boolean): string {
  return showsEverything || call.endAudience === UserAudience ? (call.result ?? '') : '';
}
