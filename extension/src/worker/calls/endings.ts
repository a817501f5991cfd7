import { checkType } from '../../../../wire/frame.ts';
import type { CallError } from '../../../../wire/wire.gen.ts';
import type { TabState } from '../../chrome.ts';

/**
 * errorsByTabState maps the state of a tab to the error of a call whose document ended while the call was running.
 */
export const errorsByTabState: Readonly<Record<TabState, CallError>> = {
  open: { code: 'navigated', message: 'the page was reloaded or left while the tool ran in it' },
  closed: { code: 'tab_closed', message: 'the tab was closed while the tool ran in it' },
  crashed: { code: 'page_crashed', message: 'the page crashed while the tool ran in it' },
  discarded: { code: 'tab_discarded', message: 'the browser unloaded the tab to save memory while the tool ran in it' },
};

/**
 * notStartedErrors maps the state of a tab to the error of a call whose document ended before the call began to run.
 */
export const notStartedErrors: Readonly<Record<TabState, CallError>> = {
  open: { code: 'navigated', message: 'the tab navigated to another document' },
  closed: { code: 'tab_closed', message: 'the tab was closed before the tool began' },
  crashed: { code: 'page_crashed', message: 'the page crashed before the tool began' },
  discarded: { code: 'tab_discarded', message: 'the browser unloaded the tab before the tool began' },
};

/** frozenTabError is the error of a call that did not start because Chrome has frozen the tab. */
export const frozenTabError: CallError = {
  code: 'tab_frozen',
  message: 'the browser has suspended the tab to save resources, so nothing runs in it',
  notStarted: true,
};

export function readError(errorText: string): CallError {
  try {
    const checkedError = checkType('CallError', JSON.parse(errorText));
    if (checkedError.ok) return checkedError.value;
  } catch {
    // If the text is not valid JSON, readError returns an error with the code internal.
  }
  return { code: 'internal', message: "the page's error can't be read" };
}
