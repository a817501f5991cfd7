// Selects the messages, results and activities that the panel shows. A tool marks each report and its result as meant
// for the user or not. The panel always shows calls, their endings, numbers, and decisions that the user has to make.

import type { ActivityView, CallView } from '../../../wire/wire.gen.ts';

/**
 * UserAudience marks content for the user. Content without the mark UserAudience is shown only with "Show everything".
 */
const UserAudience = 'user';

/** Report is the progress of a call as the panel shows it. */
export interface Report {
  /** share is the completed part of the call, from 0 to 1; undefined while unknown. */
  readonly share: number | undefined;
  readonly message: string;
  /** word is the tool's own status word, such as "indexing", or empty. */
  readonly word: string;
}

/** reportOf returns the progress of a call with its last visible message and status word. */
export function reportOf(call: CallView, showsEverything: boolean): Report {
  const message = (showsEverything ? call.message : call.userMessage) ?? '';
  return { share: call.progress, message, word: (showsEverything ? call.statusWord : call.userStatusWord) ?? '' };
}

/** activitiesOf returns the visible activities of a call. */
export function activitiesOf(call: CallView, showsEverything: boolean): readonly ActivityView[] {
  return (call.activities ?? []).filter((activity) => showsEverything || activity.audience === UserAudience);
}

/** isOpen reports whether a call has not ended yet. */
export function isOpen(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

/** resultOf returns the beginning of a call's result, or an empty string if the result is not for the user. */
export function resultOf(call: CallView, showsEverything: boolean): string {
  return showsEverything || call.endAudience === UserAudience ? (call.result ?? '') : '';
}
